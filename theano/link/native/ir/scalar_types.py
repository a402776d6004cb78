"""The types of numbers that the engine has code for."""

from __future__ import annotations

import numpy as np
from pytensor.graph.type import Type
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.type import DenseTensorType

from theano.pytensor_base.operations.named_axes import has_named_axes

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64", "float32", "float64"),
)
FLOATS = ("float32", "float64")
SUFFIX = {"float32": "f32", "float64": "f64"}


def has_c_type(kind: Type) -> bool:
    """Whether the values of a type are numbers, or plain arrays of them, that C knows."""
    plain = isinstance(kind, DenseTensorType | ScalarType) or has_named_axes(kind)
    return plain and kind.dtype in DTYPES  # type: ignore[attr-defined]


def literal(value: object, dtype: str) -> str:
    """A number as a C literal of a type."""
    number = np.asarray(value, dtype=dtype)[()]
    if dtype in FLOATS:
        if np.isnan(number):
            text = '__builtin_nan("")'
        elif np.isinf(number):
            text = "__builtin_inf()" if number > 0 else "(-__builtin_inf())"
        else:
            text = repr(float(number))
            text = f"({text})" if number < 0 or text.startswith("-") else text
            return (
                f"{text[:-1]}f)"
                if dtype == "float32" and text[-1] == ")"
                else (f"{text}f" if dtype == "float32" else text)
            )
        return f"((float){text})" if dtype == "float32" else text
    if dtype == "bool":
        return "1" if number else "0"
    if dtype == "uint64":
        return f"{int(number)}ull"
    if int(number) == -(2**63):
        return "(-9223372036854775807ll - 1)"
    suffix = "ll" if dtype == "int64" else ""
    return f"({int(number)}{suffix})" if number < 0 else f"{int(number)}{suffix}"
