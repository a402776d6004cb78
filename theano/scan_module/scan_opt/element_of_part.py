"""x[part][k]: read from x itself, wherever that reads the same and fails the same.

PyTensor's rewrite supposes that the part has an element k. Where it has none, ``x[3:][-1]`` of two
rows, it gives another element of x instead of an IndexError, and of a loop with fewer than k
steps the initial value for ``h[-k]``.
"""

from __future__ import annotations

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.subtensor import Subtensor

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.tensor import unflatten_index_variables
from theano.scan_module.loop.roles import Roles

Bounds = tuple[int | None, int | None, int | None]


@node_rewriter([Subtensor])
def local_subtensor_merge_element(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Read the elements of parts of an array from the array."""
    taken = node.inputs[0].owner
    if taken is None or not isinstance(taken.op, Subtensor):
        return None
    source = taken.inputs[0]
    parts = list(unflatten_index_variables(taken.inputs[1:], taken.op.idx_list))
    sliced = [axis for axis, part in enumerate(parts) if isinstance(part, slice)]
    left = []
    for place, index in enumerate(unflatten_index_variables(node.inputs[1:], node.op.idx_list)):
        element = None
        if place < len(sliced) and not isinstance(index, slice):
            axis = sliced[place]
            element = _element(source, axis, parts[axis], index)
        if element is None:
            left.append(index)
        else:
            parts[axis] = element
    if len(left) == len(node.op.idx_list):
        return None
    result = source[tuple(parts)]
    if any(index != slice(None) for index in left):
        result = result[tuple(left)]
    copy_stack_trace([node.outputs[0], taken.outputs[0]], result)
    return [result]


def _element(source: Variable, axis: int, part: slice, index: Variable) -> Variable | int | None:
    """Return the index into the source of an element of a part of it; None if they may differ."""
    if part == slice(None):
        return index
    bounds = (part.start, part.stop, part.step)
    if not all(value is None or isinstance(value, Constant) for value in bounds):
        return None
    start, stop, step = (None if value is None else int(value.data) for value in bounds)
    if not isinstance(index, Constant):
        backwards = (start, stop, step) == (None, None, -1)
        return -1 - pt.as_tensor_variable(index).astype("int64") if backwards else None
    k = int(index.data)
    length = source.type.shape[axis]
    if length is not None:
        places = range(length)[start:stop:step]
        return places[k] if -len(places) <= k < len(places) else None
    if axis == 0 and k == -1 and (stop, step) == (None, None) and _are_all_steps(source, start):
        return -1
    return element_of_any_length((start, stop, step), k)


def element_of_any_length(bounds: Bounds, k: int) -> int | None:
    """Return the j for which x[start:stop:step][k] is x[j], or both are out of bounds, for any x.

    Returns
    -------
    int or None
        None if no j is right for all lengths of x.
    """
    start, stop, step = bounds
    if (start, stop, step) == (None, None, -1):
        return -1 - k
    if step not in (None, 1):
        return None
    start = start or 0
    if k >= 0:
        # counted from the start: the part must begin and reach as far in any array
        reaches = stop is None or start + k < stop
        return start + k if start >= 0 and reaches else None
    if stop is not None and stop >= 0:
        return None
    # counted from the end: the part must reach back as far in any array
    end = stop or 0
    return end + k if start == 0 or 0 > start <= end + k else None


def _are_all_steps(source: Variable, start: int | None) -> bool:
    """Return whether the rows of an array from a place on are those of a loop's steps.

    A loop runs a step at least, where its last is read.
    """
    node = source.owner
    if node is None or not isinstance(node.op, Scan):
        return False
    return start == Roles.of(node.op).history(node.outputs.index(source))
