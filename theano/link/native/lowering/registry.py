"""The table of lowerings: operator -> the function that writes its statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano.link.native.ir import CannotLower
from theano.link.native.step import Step

# takes the step that is being built, the node, and the values of its inputs
Lowering = Callable[[Step, Any, list], list]

LOWERINGS: dict[type, Lowering] = {}


def lowers(*operators: type) -> Callable[[Lowering], Lowering]:
    """Register a function as the lowering of these operators and of their subclasses."""

    def register(function: Lowering) -> Lowering:
        for operator in operators:
            LOWERINGS[operator] = function
        return function

    return register


def lowering_of(op: Any) -> Lowering:
    """The lowering of an operator; CannotLower if there is none."""
    for kind in type(op).__mro__:
        if kind in LOWERINGS:
            return LOWERINGS[kind]
    raise CannotLower(f"the operation {type(op).__name__}")
