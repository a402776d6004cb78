"""Inputs that the caller wants to be overwritten, because the graph was written that way."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import applys_between

from theano.pytensor_internals.operations.tensor import view_roots

# On the tag of a variable, as graphs are cloned before they are compiled.
_MARK = "overwritten_by_its_author"


def mark_overwritten(inputs: Collection[Variable], outputs: Iterable[Variable]) -> None:
    """Mark the inputs that operators of a graph overwrite before it is rewritten."""
    for node in applys_between(inputs, outputs):
        for root in _roots(node, node.op.destroy_map):
            if root in inputs:
                setattr(root.tag, _MARK, True)


def overwrites_input(node: Apply) -> bool:
    """Return whether a node overwrites an input that was marked, or gives a view of it."""
    roots = [*_roots(node, node.op.destroy_map), *_roots(node, node.op.view_map)]
    return any(hasattr(root.tag, _MARK) for root in roots)


def _roots(node: Apply, positions: dict[int, list[int]]) -> list[Variable]:
    """Return the variables in whose memory these inputs of a node lie."""
    chosen = [k for listed in positions.values() for k in listed]
    return [root for k in chosen for root in view_roots(node.inputs[k])]
