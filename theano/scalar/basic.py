"""Scalar types and operators, by Theano 1.0's names."""
# ruff: noqa: F401, F403 -- this file re-exports

from pytensor.scalar.basic import *
from pytensor.scalar.basic import Reciprocal as Inv
from pytensor.scalar.basic import ScalarType as Scalar
from pytensor.scalar.basic import Sign as Sgn
from pytensor.scalar.basic import abs as abs_
from pytensor.scalar.basic import get_scalar_type
from pytensor.scalar.basic import reciprocal as inv
from pytensor.scalar.basic import sign as sgn

from theano.scalar.output_types import transfer_type
