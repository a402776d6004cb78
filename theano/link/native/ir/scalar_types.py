"""The types of numbers that the engine has code for."""

from __future__ import annotations

import numpy as np
from pytensor.graph.type import Type
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.type import DenseTensorType

from theano.pytensor_internals.operations.named_axes import has_named_axes

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64", "float32", "float64"),
)
FLOATS = ("float32", "float64")
SUFFIX = {"float32": "f32", "float64": "f64"}


def type_numbers(dtype: str) -> tuple[int, int]:
    """Return NumPy's numbers of a type: integers of one size may have two."""
    numbers = {np.dtype(code).num for code in np.typecodes["All"] if np.dtype(code) == dtype}
    ordered = sorted(numbers)
    return ordered[0], ordered[-1]


def has_c_type(kind: Type) -> bool:
    """Return whether the values of a type are numbers, or plain arrays of them, that C knows."""
    plain = isinstance(kind, DenseTensorType | ScalarType) or has_named_axes(kind)
    return plain and kind.dtype in DTYPES  # type: ignore[attr-defined]
