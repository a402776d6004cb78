"""Loops in batches: a ``Blockwise`` of a loop becomes one loop whose steps have batch dimensions.

``pytensor.graph.replace.vectorize_graph`` puts an operation without a batched form into a
``Blockwise``, which calls it for each element of a batch, in Python. A loop has a batched form if
all elements run as many steps, as has what cuts and fills the arrays around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.compile.ops import ViewOp
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import io_toposort
from pytensor.tensor.basic import Alloc, AllocEmpty, alloc
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.subtensor import IncSubtensor, Subtensor, inc_subtensor
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from theano.compile.rebroadcast import Rebroadcast
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.pytensor_internals.operations.tensor import indices_from_subtensor
from theano.scan_module.loop.arguments import Loop, State, Tap, Trace, unpack
from theano.scan_module.loop.state_types import with_states_typed_by_both
from theano.scan_module.loop.step_copy import copied
from theano.scan_module.scan_op import Scan


def batched(node: Apply) -> list[Variable] | None:
    """Return the outputs of a ``Blockwise`` node computed by operations with batch dimensions.

    Parameters
    ----------
    node
        Any node.

    Returns
    -------
    list of Variable or None
        None where the operation is none of those that surround loops, or the elements of the batch
        may differ in how many steps they run, or in where they are cut.
    """
    if not isinstance(node.op, Blockwise):
        return None
    count = node.op.batch_ndim(node)
    form = _FORMS.get(Scan if isinstance(node.op.core_op, PyTensorScan) else type(node.op.core_op))
    if form is not None and not count:
        return node.op.core_op.make_node(*node.inputs).outputs
    found = form(node, count) if form is not None else None
    if found is None:
        return None
    return [
        old.type.filter_variable(_filled(new, old, node, count))
        for old, new in zip(node.outputs, found, strict=True)
    ]


# ---- what is the same for all of a batch ----


def same_for_all(variable: Any, count: int) -> Any:
    """Return one element of a batch of equal ones; None where they may differ.

    Parameters
    ----------
    variable
        A tensor, whose first dimensions are those of a batch.
    count
        How many they are.
    """
    if all(variable.type.broadcastable[:count]):
        return variable.dimshuffle(*range(count, variable.type.ndim))
    if variable.owner is None:
        return None
    rule = _SAME.get(type(variable.owner.op))
    return None if rule is None else rule(variable.owner, count)


def _all_the_same(variables: Sequence[Variable], count: int) -> list[Any] | None:
    found = [same_for_all(variable, count) for variable in variables]
    return None if any(one is None for one in found) else found


def _same_filled(node: Apply, count: int) -> Any:
    value, *lengths = node.inputs
    own = value.type.ndim - (len(lengths) - count)
    element = same_for_all(value, own) if own > 0 else value
    return None if element is None else alloc(element, *lengths[count:])


def _same_elementwise(node: Apply, count: int) -> Any:
    operands = _all_the_same(node.inputs, count)
    if operands is None or len(node.outputs) > 1:
        return None
    return node.op.make_node(*operands).outputs[0]


def _same_part(node: Apply, count: int) -> Any:
    indices = list(indices_from_subtensor(node.inputs[1:], node.op.idx_list))
    element = same_for_all(node.inputs[0], count)
    if element is None or indices[:count] != [slice(None)] * count:
        return None
    return element[tuple(indices[count:])]


def _same_reordered(node: Apply, count: int) -> Any:
    order = node.op.new_order
    if order[:count] != tuple(range(count)):
        return None
    element = same_for_all(node.inputs[0], count)
    if element is None:
        return None
    return element.dimshuffle(*(axis if axis == "x" else axis - count for axis in order[count:]))


def _same_core(node: Apply, count: int) -> Any:
    own = node.op.batch_ndim(node)
    # what is the batch here may be a part of what the operation computes
    operands = _all_the_same(node.inputs, count) if count <= own else None
    if operands is None or len(node.outputs) > 1:
        return None
    op = node.op.core_op if count == own else node.op
    return op.make_node(*operands).outputs[0]


_SAME: dict[type, Callable[[Apply, int], Any]] = {
    Alloc: _same_filled,
    Blockwise: _same_core,
    DimShuffle: _same_reordered,
    Elemwise: _same_elementwise,
    Subtensor: _same_part,
}


# ---- operations with batch dimensions ----


def _lengths_of_batch(node: Apply, count: int) -> list[Any]:
    """Return the lengths of a node's batch, each from an input that is not repeated along it."""
    lengths: list[Any] = []
    for axis in range(count):
        known = next((v.type.shape[axis] for v in node.outputs if v.type.shape[axis]), None)
        source: Any = next((v for v in node.inputs if v.type.shape[axis] != 1), node.inputs[0])
        lengths.append(known if known is not None else source.shape[axis])
    return lengths


def _filled(value: Any, like: Variable, node: Apply, count: int) -> Any:
    """Return a value for each element of a batch, where it was made once for all."""
    own = value.type.ndim - (like.type.ndim - count)
    if own == count and value.type.broadcastable[:count] == like.type.broadcastable[:count]:
        return value
    return alloc(
        value,
        *_lengths_of_batch(node, count),
        *(value.shape[k] for k in range(own, value.type.ndim)),
    )


def _empty(node: Apply, count: int) -> list[Any] | None:
    lengths = _all_the_same(node.inputs, count)
    if lengths is None:
        return None
    return [node.op.core_op(*_lengths_of_batch(node, count), *lengths)]


def _view(node: Apply, count: int) -> list[Any]:
    return node.op.core_op.make_node(*node.inputs).outputs


def _rebroadcast(node: Apply, count: int) -> list[Any]:
    axes = ((axis + count, is_one) for axis, is_one in node.op.core_op.axis.items())
    return [Rebroadcast(*axes)(node.inputs[0])]


def _place(node: Apply, indices: Sequence[Variable], count: int) -> Any:
    """Return the index of a part of each element; None where it may differ."""
    places = _all_the_same(indices, count)
    if places is None:
        return None
    index = indices_from_subtensor(places, node.op.core_op.idx_list)
    return (*[slice(None)] * count, *index)


def _part(node: Apply, count: int) -> list[Any] | None:
    array: Any = node.inputs[0]
    place = _place(node, node.inputs[1:], count)
    return None if place is None else [array[place]]


def _changed_part(node: Apply, count: int) -> list[Any] | None:
    array, value, *indices = node.inputs
    place = _place(node, indices, count)
    if place is None:
        return None
    whole = _filled(array, node.outputs[0], node, count)
    part = whole[place]
    missing = part.type.ndim - value.type.ndim
    order = [*range(count), *["x"] * missing, *range(count, value.type.ndim)]
    return [
        inc_subtensor(
            part,
            value.dimshuffle(*order),  # type: ignore[attr-defined]
            set_instead_of_inc=node.op.core_op.set_instead_of_inc,
        )
    ]


def _loop(node: Apply, count: int) -> list[Any] | None:
    """Return the results of a loop in a batch, whose elements run the same steps."""
    given = [TensorType(v.type.dtype, shape=v.type.shape[count:])(name=v.name) for v in node.inputs]
    core = node.op.core_op.make_node(*given)
    loop = unpack(core)
    if loop.untraced or loop.condition is not None:
        return None
    outer = dict(zip(core.inputs, node.inputs, strict=True))
    steps = same_for_all(outer[loop.n_steps], count)
    lengths = _all_the_same([outer[trace.length] for trace in loop.traces], count)
    if steps is None or lengths is None:
        return None
    made = _Batch(node, count, outer).of(replace(loop, n_steps=steps), lengths)
    outputs = with_states_typed_by_both(made).build(Scan).node.outputs
    return [
        # a trace that is the same for all has no batch dimensions
        _batch_first(new, count) if new.type.ndim == old.type.ndim else new
        for old, new in zip(node.outputs, outputs, strict=True)
    ]


def _batch_first(array: Any, count: int) -> Any:
    """Reorder ``(steps, *batch, ...)`` as ``(*batch, steps, ...)``."""
    return array.dimshuffle(*range(1, count + 1), 0, *range(count + 1, array.type.ndim))


class _Batch:
    """A loop of a ``Blockwise`` node, whose step is written again with batch dimensions.

    Parameters
    ----------
    node, count
        The node, and how many dimensions its batch has.
    outer
        For each variable that the loop of one element is given, that of the batch.
    """

    def __init__(self, node: Apply, count: int, outer: dict[Variable, Variable]):
        self.node, self.count, self.outer = node, count, outer
        self.lengths = _lengths_of_batch(node, count)
        self.inside: dict[Variable, Variable] = {}

    def of(self, loop: Loop, trace_lengths: Sequence[TensorVariable]) -> Loop:
        """Return the loop over the batch."""
        sequences = tuple(
            replace(entry, outer=array, inner=inner)
            for entry in loop.sequences
            for array, inner in [self._given(entry.outer, entry.inner, 1)]
        )
        invariants = tuple(
            replace(entry, outer=array, inner=inner)
            for entry in loop.invariants
            for array, inner in [self._given(entry.outer, entry.inner, 0)]
        )
        states = tuple(map(self._state, loop.ordered_states()))
        traces = tuple(
            replace(trace, length=length, output=None)
            for trace, length in zip(loop.traces, trace_lengths, strict=True)
        )
        outputs = (
            vectorize_graph(loop.inner_outputs, self.inside) if self.inside else loop.inner_outputs
        )
        computed = loop.roles.inner_outputs(outputs)
        return replace(
            loop,
            sequences=sequences,
            invariants=invariants,
            states=tuple(
                replace(state, writes=self._written(state.writes, written))
                for state, written in zip(states, computed.states, strict=True)
            ),
            traces=tuple(
                Trace(trace.length, inner)
                for trace, inner in zip(traces, computed.traces, strict=True)
            ),
        )

    def _given(self, outer: Variable, inner: Any, rows: int) -> tuple[Any, Variable]:
        """Return what the loop is given, steps first, and what a step reads of it."""
        array: Any = self.outer[outer]
        element = same_for_all(array, self.count)
        if element is not None:
            return element, inner
        shape = (*array.type.shape[: self.count], *inner.type.shape)
        self.inside[inner] = TensorType(inner.type.dtype, shape=shape)(name=inner.name)
        return (self._steps_first(array) if rows else array), self.inside[inner]

    def _steps_first(self, array: Any) -> Any:
        """Reorder ``(*batch, steps, ...)`` as ``(steps, *batch, ...)``."""
        count = self.count
        return array.dimshuffle(count, *range(count), *range(count + 1, array.type.ndim))

    def _state(self, state: State) -> State:
        array: Any = self.outer[state.outer]
        rest = [array.shape[k] for k in range(self.count, array.type.ndim)]
        if (
            array.type.broadcastable[: self.count]
            != self.node.outputs[0].type.broadcastable[: self.count]
        ):
            array = alloc(array, *self.lengths, *rest)
        shape = array.type.shape[: self.count]
        reads = []
        for tap in state.reads:
            kind = TensorType(tap.inner.type.dtype, shape=(*shape, *tap.inner.type.shape))
            self.inside[tap.inner] = kind(name=tap.inner.name)
            reads.append(replace(tap, inner=self.inside[tap.inner]))
        return replace(state, outer=self._steps_first(array), reads=tuple(reads), output=None)

    def _written(self, taps: Sequence[Tap], computed: Sequence[Variable]) -> tuple[Tap, ...]:
        """Return what a step writes into a state."""
        return tuple(
            replace(tap, inner=self._whole(value, tap.inner))
            for tap, value in zip(taps, computed, strict=True)
        )

    def _whole(self, value: Any, before: Variable) -> Any:
        """Return what a step computes for all of the batch, also where it is the same for all."""
        own = value.type.ndim - before.type.ndim
        repeated = self.node.outputs[0].type.broadcastable[: self.count]
        if own == self.count and value.type.broadcastable[: self.count] == repeated:
            return value
        return alloc(
            value, *self._lengths_inside(), *(value.shape[k] for k in range(own, value.type.ndim))
        )

    def _lengths_inside(self) -> list[Any]:
        """Return the lengths of the batch, of what a step reads of a state."""
        return [
            known
            if isinstance(known, int)
            else next(v for v in self.inside.values() if v.type.shape[axis] != 1).shape[axis]  # type: ignore[attr-defined]
            for axis, known in enumerate(self.lengths)
        ]


def _graph(node: Apply, count: int) -> list[Any] | None:
    """Return the results of an operation that is a graph with a loop in it."""
    op = node.op.core_op
    if not is_graph_of_loops(op):
        return None
    given = [v.type() for v in op.inner_inputs]
    outputs = copied(op.inner_outputs, dict(zip(op.inner_inputs, given, strict=True)))
    return vectorize_graph(outputs, dict(zip(given, node.inputs, strict=True)))


def is_graph_of_loops(op: OpFromGraph) -> bool:
    """Return whether a loop is in an operation made of a graph, which has no gradient of its own."""
    if op.pullback_overrides is not None or op.pushforward_overrides is not None:
        return False
    inside = (getattr(node.op, "core_op", node.op) for node in io_toposort([], op.inner_outputs))
    return any(isinstance(one, PyTensorScan) for one in inside)


_FORMS: dict[type, Callable[[Apply, int], list[Any] | None]] = {
    AllocEmpty: _empty,
    IncSubtensor: _changed_part,
    OpFromGraph: _graph,
    Rebroadcast: _rebroadcast,
    Scan: _loop,
    Subtensor: _part,
    # a model's deterministic value is a view of what it is computed from
    ViewOp: _view,
}
