"""Rules for the output types of scalar operators that PyTensor lacks, or one of its releases."""

from collections.abc import Iterator, Mapping
from typing import Any

from pytensor.scalar.basic import (
    ScalarType,
    complex_types,
    float64,
    get_scalar_type,
    int64,
    upcast,
    upcast_out,
)

from theano.pytensor_internals.graphs.graph import MetaObject

__all__ = [
    "as_common_dtype",
    "float_out_nocomplex",
    "int_out_nocomplex",
    "transfer_type",
    "unary_out_lookup",
]


def as_common_dtype(*variables: Any) -> Iterator[Any]:
    """Each variable, cast to the dtype that holds the values of all of them."""
    dtype = upcast(*(variable.dtype for variable in variables))
    return (variable.astype(dtype) for variable in variables)


def _real(types: tuple[ScalarType, ...], result: ScalarType) -> tuple[ScalarType]:
    if any(kind in complex_types for kind in types):
        raise TypeError(f"expected real numbers, got {', '.join(map(str, types))}")
    return (result,)


def int_out_nocomplex(*types: ScalarType) -> tuple[ScalarType]:
    """Return the rule of one output of int64, of real inputs."""
    return _real(types, int64)


def float_out_nocomplex(*types: ScalarType) -> tuple[ScalarType]:
    """Return the rule of one output of float64, of real inputs."""
    return _real(types, float64)


class unary_out_lookup(MetaObject):
    """The rule that a table says of which type the output is for a type of the input.

    Parameters
    ----------
    type_table : mapping
        From the type of the input to the type of the output, or its dtype.
    """

    def __init__(self, type_table: Mapping[ScalarType, ScalarType | str]):
        self.tbl = type_table

    def __call__(self, kind: ScalarType) -> tuple[ScalarType]:
        if kind not in self.tbl:
            raise TypeError(f"{self}: no output for an input of type {kind}")
        found = self.tbl[kind]
        return (get_scalar_type(found) if isinstance(found, str) else found,)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.tbl == other.tbl  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.tbl)))


class transfer_type(MetaObject):
    """The rule that outputs have the types of certain inputs.

    Parameters
    ----------
    *transfer : int, None or ScalarType
        For each output: the number of the input whose type it has, None for the type to which
        all inputs upcast, or a type.
    """

    __props__ = ("transfer",)

    def __init__(self, *transfer: int | ScalarType | None):
        self.transfer = transfer

    def __call__(self, *types: ScalarType) -> list[ScalarType]:
        (upcast,) = upcast_out(*types)
        return [
            upcast if rule is None else types[rule] if isinstance(rule, int) else rule
            for rule in self.transfer
        ]

    def __str__(self):
        return f"transfer_type{{{self.transfer}}}"
