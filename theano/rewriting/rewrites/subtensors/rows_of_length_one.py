"""A slice of one element whose axis is dropped becomes that element.

PyTensor's rewrite takes the slice's start for the place of the element, and 0 where there is none:
another element of ``x[:2:-1]``, an IndexError of ``x[-9:1]``.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.subtensor import Subtensor

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.operations.tensor import unflatten_index_variables


@node_rewriter([DimShuffle])
def row_of_length_one(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """``x[:, 2:3].dimshuffle(0)`` -> ``x[:, 2]``."""
    taken = node.inputs[0].owner
    if taken is None or not isinstance(taken.op, Subtensor) or not _drops_only(node.op):
        return None
    source: Any = taken.inputs[0]
    indices = list(unflatten_index_variables(taken.inputs[1:], taken.op.idx_list))
    indices += [slice(None)] * (source.type.ndim - len(indices))
    # the axes of the slices are those of what is read
    kept = [axis for axis, index in enumerate(indices) if isinstance(index, slice)]
    for dropped in set(range(len(kept))).difference(node.op.new_order):
        axis = kept[dropped]
        place = _place_of_the_element(indices[axis], source.type.shape[axis])
        if place is None:
            return None
        indices[axis] = place
    element = source[tuple(indices)]
    copy_stack_trace([node.outputs[0], taken.outputs[0]], element)
    return [element]


def _drops_only(op: DimShuffle) -> bool:
    order = op.new_order
    return "x" not in order and list(order) == sorted(order) and len(order) < op.input_ndim


def _place_of_the_element(part: slice, length: int | None) -> int | None:
    """Return the index of the one element of a slice; None where it is not known."""
    bounds = [part.start, part.stop, part.step]
    if not all(bound is None or isinstance(bound, Constant) for bound in bounds):
        return None
    start, stop, step = (None if bound is None else int(bound.data) for bound in bounds)
    if length is not None:
        [*places] = range(length)[start:stop:step]
        return places[0] if len(places) == 1 else None
    first = start or 0
    return first if first >= 0 and (step is None or step > 0) else None
