"""Functions of numbers that are operators of PyTensor 3.0."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.scalar.basic import (
    Angle,
    ComplexFromPolar,
    Deg2Rad,
    Rad2Deg,
    angle,
    complex_from_polar,
    deg2rad,
    rad2deg,
)
from pytensor.scalar.math import GammaL, GammaU, gammal, gammau
