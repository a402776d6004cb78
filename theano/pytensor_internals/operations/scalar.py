"""Internals of PyTensor's numbers."""
# ruff: noqa: F401 -- this file re-exports

import sys

from pytensor.scalar.basic import (
    _scalar_py_operators as ScalarOperators,  # the methods and operators of numbers
)
from pytensor.scalar.loop import ScalarLoop

# what PyTensor 3.3 computes by several others
if sys.version_info >= (3, 12):
    from theano.pytensor_internals.since_3_3.scalars import (
        Angle,
        ComplexFromPolar,
        Deg2Rad,
        GammaL,
        GammaU,
        Rad2Deg,
        angle,
        complex_from_polar,
        deg2rad,
        gammal,
        gammau,
        rad2deg,
    )
else:
    from theano.pytensor_internals.before_3_3.scalars import (
        Angle,
        ComplexFromPolar,
        Deg2Rad,
        GammaL,
        GammaU,
        Rad2Deg,
        angle,
        complex_from_polar,
        deg2rad,
        gammal,
        gammau,
        rad2deg,
    )
