"""Rows taken from, or added to, an array by integer index, in PyTensor's two forms."""

from __future__ import annotations

from pytensor.graph.basic import Apply
from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.operations.tensor import AdvancedIncSubtensor1, AdvancedSubtensor1


def is_gather(node: Apply) -> bool:
    """Return whether a node is ``source[indices]``, with integer indices of the first axis."""
    if is_a(node.op, AdvancedSubtensor1):
        return True
    return (
        is_a(node.op, AdvancedSubtensor)
        and tuple(node.op.idx_list) == (0,)
        and node.inputs[1].type.dtype != "bool"
    )


def is_scatter(node: Apply) -> bool:
    """Return whether a node adds rows to ``base[indices]``, with integer indices of the first axis."""
    if is_a(node.op, AdvancedIncSubtensor1):
        return not node.op.set_instead_of_inc
    return (
        is_a(node.op, AdvancedIncSubtensor)
        and tuple(node.op.idx_list) == (0,)
        and not node.op.set_instead_of_inc
        and not node.op.ignore_duplicates
        and node.inputs[2].type.dtype != "bool"
    )
