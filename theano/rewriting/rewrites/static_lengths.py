"""Lengths that a program declares of an array, and whether it contradicts itself."""

from __future__ import annotations

from pytensor.graph.basic import Apply, Constant
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.shape import SpecifyShape


def agree_with_those_before(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether the static lengths of an array do not contradict those before.

    Where it does, the call is to fail, and not the rewriting.
    """
    before = node.inputs[0].owner
    if before is None or not isinstance(before.op, SpecifyShape):
        return True
    pairs = zip(_static_lengths(before), _static_lengths(node), strict=True)
    return all(len({*old, *new} - {None}) < 2 for old, new in pairs)


def _static_lengths(node: Apply) -> list[tuple[int | None, ...]]:
    """Of each dimension the lengths that a statement of a shape and its type say, None if none."""
    message = [
        int(n.data) if isinstance(n, Constant) and n.data is not None else None
        for n in node.inputs[1:]
    ]
    return list(zip(message, node.outputs[0].type.shape, strict=True))
