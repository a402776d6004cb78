"""Theano 1.0's `theano.scalar`: the operators on single numbers that tensors are made from."""
# ruff: noqa: F401, F403 -- this file re-exports

from theano.scalar import basic, basic_scipy, sharedvar
from theano.scalar.basic import *
from theano.scalar.basic_scipy import *
from theano.scalar.sharedvar import shared
