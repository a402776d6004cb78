"""Special functions on single numbers, by Theano 1.0's names."""
# ruff: noqa: F401, F403 -- this file re-exports

from pytensor.scalar.math import *

from theano.pytensor_internals.operations.scalar import GammaL, GammaU, gammal, gammau
from theano.scalar.old_special import Chi2SF, Iv, chi2sf, iv
