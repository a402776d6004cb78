"""The table of lowerings: operator -> the function that writes its statements."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from pytensor.graph.op import Op
from pytensor.scalar.basic import ScalarOp

from theano.link.native.ir.ir import CannotLower
from theano.link.native.lowering.step import Step

# takes the step that is being built, the node, and the values of its inputs
Lowering = Callable[[Step, Any, list], list]

LOWERINGS: dict[type, Lowering] = {}

# takes the name of an operator's class, and imports what registers its lowering
_import_lowering: list[Callable[[str], None]] = []


def import_lowerings_by(function: Callable[[str], None]) -> None:
    """Register what imports the lowering of an operator that is used for the first time."""
    _import_lowering[:] = [function]


def lowers(*operators: type) -> Callable[[Lowering], Lowering]:
    """Register a function as the lowering of these operators.

    It is that of their subclasses, too, unless they define again what they compute.
    """

    def register(function: Lowering) -> Lowering:
        for operator in operators:
            LOWERINGS[operator] = function
        return function

    return register


# What says what an operator computes
_COMPUTATIONS = ("perform", "c_code", "make_thunk")


def computing_class(op: Op, known: Container[type]) -> type | None:
    """Return the class of these that says what an operator computes, its own or one it derives from."""
    for kind in type(op).__mro__:
        if kind in known:
            return kind
        if any(name in vars(kind) for name in _COMPUTATIONS):
            return None
    return None


def lowering_of(op: Op) -> Lowering:
    """Return the lowering of an operator; CannotLower if there is none."""
    redefines_computation = False
    for kind in type(op).__mro__:
        if kind not in LOWERINGS:
            _import_lowering[0](kind.__name__)
        # operators on numbers are distinguished by their lowering
        if kind in LOWERINGS and (kind is ScalarOp or not redefines_computation):
            return LOWERINGS[kind]
        redefines_computation |= any(name in vars(kind) for name in _COMPUTATIONS)
    raise CannotLower(f"the operation {type(op).__name__}")
