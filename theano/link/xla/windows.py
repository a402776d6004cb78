"""Slices whose bounds are computed: one program for each length, not for each position.

``x[i * n : (i + 1) * n]`` has one length for all ``i`` but the last. XLA must know the length and
may compute the position; so such a slice becomes a window, whose length is a separate variable
that `static_inputs` has computed before the call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.shape import Shape_i
from pytensor.tensor.subtensor import IncSubtensor, Subtensor, inc_subtensor, set_subtensor
from pytensor.tensor.type import TensorType, lscalar

from theano.link.xla.lowering.indexing import slice_bounds
from theano.link.xla.static_inputs import StaticValues
from theano.pytensor_internals.graphs.graph import ReplaceValidate
from theano.pytensor_internals.graphs.rewriting import GraphRewriter, copy_stack_trace
from theano.pytensor_internals.operations.tensor import indices_from_subtensor
from theano.rewriting.database import register_for_tags

TAG = "theano_xla"


class SliceBounds(Op):
    """The start of a slice of a dimension, and its number of elements.

    Parameters
    ----------
    has_start, has_stop : bool
        Which bounds are given; they are the first inputs, and the dimension's length the last.
    """

    __props__ = ("has_start", "has_stop")

    def __init__(self, has_start: bool, has_stop: bool):
        self.has_start, self.has_stop = has_start, has_stop

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, [as_tensor_variable(x) for x in inputs], [lscalar(), lscalar()])

    def bounds(self, inputs: Any) -> tuple[Any, Any, Any]:
        """Return start or None, stop or None, and the dimension's length."""
        given = list(inputs)
        start = given.pop(0) if self.has_start else None
        stop = given.pop(0) if self.has_stop else None
        return start, stop, given[0]

    def perform(self, node, inputs, output_storage):
        start, stop, length = self.bounds(inputs)
        first, last, _ = slice(start, stop).indices(int(length))
        output_storage[0][0] = np.asarray(first, "int64")
        output_storage[1][0] = np.asarray(max(last - first, 0), "int64")


class Window(Op):
    """So many elements of a dimension from a position on; all of them are there."""

    __props__ = ("axis",)

    def __init__(self, axis: int):
        self.axis = axis

    def make_node(self, *inputs: Any) -> Apply:
        x, first, length = inputs
        shape = list(x.type.shape)
        shape[self.axis] = None
        return Apply(self, [x, first, length], [TensorType(x.type.dtype, shape)()])

    def perform(self, node, inputs, output_storage):
        x, first, length = inputs
        output_storage[0][0] = x[_along(self.axis, slice(int(first), int(first + length)))]


class SetWindow(Op):
    """An array whose elements of a dimension from a position on are others."""

    __props__ = ("axis",)

    def __init__(self, axis: int):
        self.axis = axis

    def make_node(self, *inputs: Any) -> Apply:
        x, window, first = inputs
        return Apply(self, [x, window, first], [x.type()])

    def perform(self, node, inputs, output_storage):
        x, window, first = inputs
        x = x.copy()
        x[_along(self.axis, slice(int(first), int(first) + window.shape[self.axis]))] = window
        output_storage[0][0] = x


def _along(axis: int, index: slice) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, index)


class SlicesToWindows(GraphRewriter):
    """Has slices whose length is not known while tracing read, or write, windows."""

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        fgraph.attach_feature(ReplaceValidate())

    def apply(self, fgraph: FunctionGraph) -> None:
        """Replace such slices in the function's graph; those in loops stay."""
        known = StaticValues(fgraph.inputs)
        for node in fgraph.toposort():
            if not isinstance(node.op, Subtensor | IncSubtensor):
                continue
            bounds = [node.inputs[position] for position in slice_bounds(node)]
            if all(known.is_known_in_trace(bound) for bound in bounds):
                continue
            new = _with_windows(node)
            if new is not None:
                copy_stack_trace(node.outputs, new)
                fgraph.replace(node.outputs[0], new, reason="slices_to_windows")


def _with_windows(node: Apply) -> Variable | None:
    """Return the same result by windows, or None where a slice has another step than 1."""
    writes = isinstance(node.op, IncSubtensor)
    x: Any = node.inputs[0]
    numbers = node.inputs[2 if writes else 1 :]
    indices = list(indices_from_subtensor(numbers, node.op.idx_list))
    windows: list[tuple[Variable, int, Variable]] = []
    for axis, index in enumerate(indices):
        if not isinstance(index, slice) or _is_constant(index):
            continue
        if not _has_step_one(index):
            return None
        given = [bound for bound in (index.start, index.stop) if bound is not None]
        op = SliceBounds(index.start is not None, index.stop is not None)
        first, length = op.make_node(*given, Shape_i(axis)(x)).outputs
        windows.append((x, axis, first))
        x = Window(axis).make_node(x, first, length).outputs[0]
        indices[axis] = slice(None)
    if writes:
        change = set_subtensor if node.op.set_instead_of_inc else inc_subtensor
        x = change(x[tuple(indices)], node.inputs[1])
        for whole, axis, first in reversed(windows):
            x = SetWindow(axis).make_node(whole, x, first).outputs[0]
    elif indices != [slice(None)] * len(indices):
        x = x[tuple(indices)]
    # what the slice was known to be, it still is
    return node.outputs[0].type.filter_variable(x, allow_convert=True)


def _is_constant(index: slice) -> bool:
    parts = (index.start, index.stop, index.step)
    return all(part is None or isinstance(part, Constant) for part in parts)


def _has_step_one(index: slice) -> bool:
    step = index.step
    return step is None or (isinstance(step, Constant) and step.data == 1)


# last, as other engines' rewrites know nothing of windows
register_for_tags("slices_to_windows", SlicesToWindows(), TAG, position=250)
