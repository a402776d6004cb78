"""Scalar types and operators, by Theano 1.0's names."""
# ruff: noqa: F401, F403 -- this file re-exports

from typing import Any

from pytensor.scalar.basic import *
from pytensor.scalar.basic import Reciprocal as Inv
from pytensor.scalar.basic import (
    ScalarOp,
    as_scalar,
    discrete_types,
    get_scalar_type,
    int_div,
    true_div,
)
from pytensor.scalar.basic import ScalarType as Scalar
from pytensor.scalar.basic import Sign as Sgn
from pytensor.scalar.basic import abs as abs_
from pytensor.scalar.basic import reciprocal as inv
from pytensor.scalar.basic import sign as sgn

from theano.pytensor_internals.operations.scalar import (
    Angle,
    ComplexFromPolar,
    Deg2Rad,
    Rad2Deg,
    angle,
    complex_from_polar,
    deg2rad,
    rad2deg,
)
from theano.scalar.composite import Composite
from theano.scalar.output_types import (  # type: ignore[assignment]
    as_common_dtype,
    float_out_nocomplex,
    int_out_nocomplex,
    transfer_type,
    unary_out_lookup,
)
from theano.scalar.ranges import InRange, inclosedrange, inopenrange


def int_or_true_div(x_discrete: object, y_discrete: object) -> ScalarOp:
    """Return the division for two integers, or for numbers of which one is not whole."""
    return int_div if x_discrete and y_discrete else true_div


def div_proxy(x: object, y: object) -> Any:
    """Divide: integers without a rest, other numbers exactly."""
    x, y = as_scalar(x), as_scalar(y)
    return int_or_true_div(x.type in discrete_types, y.type in discrete_types)(x, y)
