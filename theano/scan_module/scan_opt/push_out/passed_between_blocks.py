"""Rows that blocks of a loop's steps pass to the next: all rows of a state or trace, or the last ones.

Of what is read after the loop, all rows are passed on, and each block writes its own. Of a state of
which nobody reads more than the last row, only the rows are that the next block reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pytensor import tensor as pt
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor, only_result
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.shapes import length_along
from theano.rewriting.lengths import lengths_of
from theano.rewriting.zeros import is_zero
from theano.scan_module.loop.arguments import (
    MIT_MOT,
    BuiltLoop,
    Loop,
    State,
    Trace,
    Untraced,
    output_of,
)
from theano.scan_module.loop.constant_index import constant_index
from theano.scan_module.loop.initial_values import memory_from
from theano.scan_module.scan_opt.push_out.loop_reads import reads_of_last_value
from theano.scan_module.scan_opt.push_out.outside_values import initial_value
from theano.scan_module.step.fixed_shapes import values_of_fixed_shape
from theano.scan_module.step.step_analysis import StepAnalysis
from theano.support.data_classes import dataclass

# from a variable of the graph around a loop to what it is where a block is
Inside = Callable[[Variable], TensorVariable]
# whether nothing reads an array but a loop, or what is computed for the loop alone
Alone = Callable[[Variable], bool]


@dataclass(frozen=True)
class Block:
    """Steps of a loop, from one on."""

    inside: Inside
    start: TensorVariable
    steps: TensorVariable

    def part(self, buffer: TensorVariable, before: int = 0, after: int = 0) -> TensorVariable:
        """Return the rows of the steps in a buffer that has some before them, and so many more."""
        first = self.start + before
        return buffer[first : first + self.steps + after]

    def rows(self, buffer: TensorVariable, after: int = 0) -> TensorVariable:
        """Return the rows of the steps and so many more, as what is read."""
        return _static_length(self.part(buffer, after=after), self.steps + after)

    def rows_outside(
        self, outer: Variable, before: int = 0, alone: Alone = lambda array: False
    ) -> TensorVariable:
        """Return the rows of the steps in an array outside, which has so many before them.

        Of an array that is read backwards, a part is: engines need not turn all of it around. What
        is computed for the loop alone, element by element, is computed in the block.
        """
        forwards = _read_backwards(outer)
        if forwards is None:
            part = self._computed(outer, self.start + before, alone)
        else:
            array, end = forwards
            first = self.inside(length_along(array, 0) + end) - self.start - before - self.steps
            of_array = alone if alone(outer) else lambda array: False
            part = self._computed(array, first, of_array)[::-1]
        return _static_length(part, self.steps)

    def _computed(self, array: Variable, first: TensorVariable, alone: Alone) -> TensorVariable:
        """Return the rows of the steps in an array outside, from one on."""
        node = array.owner
        if node is None or not is_a(node.op, Elemwise) or not alone(array):
            return _static_length(self.inside(array)[first : first + self.steps], self.steps)
        rows = [
            self.inside(operand)
            if operand.type.broadcastable[0]
            else self._computed(operand, first, alone)
            for operand in node.inputs
        ]
        return known_tensor(node.op.make_node(*rows).outputs[node.outputs.index(array)])


def _static_length(part: TensorVariable, length: TensorVariable) -> TensorVariable:
    """Return a part of static length, which PyTensor would compute from the bounds of a slice."""
    return pt.specify_shape(part, [length, *[None] * (part.type.ndim - 1)])


def _read_backwards(array: Variable) -> tuple[Variable, int] | None:
    """Return what an array is the rows of in reverse, and how far from its end they begin; None if it is not."""
    node = array.owner
    if node is None or not isinstance(node.op, Subtensor):
        return None
    match constant_index(node.op.idx_list, node.inputs):
        case slice(start=None, step=-1):
            return node.inputs[0], 0
        case slice(start=int(start), step=-1) if start < 0:
            return node.inputs[0], start + 1
    return None


def can_pass_traces(loop: Loop) -> bool:
    """Return whether memory for all rows of a loop's traces can be made before it runs."""
    traces = {trace.inner for trace in loop.traces}
    return values_of_fixed_shape(loop, traces) == traces


class PassedOn:
    """The rows that blocks of a loop pass on.

    Attributes
    ----------
    before
        What the first block is given.
    """

    def __init__(self, loop: Loop, step: StepAnalysis, graph: FunctionGraph):
        self._loop, self._step, self._graph = loop, step, graph
        # of which states only the last row is read, and by what
        self._reads: dict[State, list[Variable]] = {}
        for state in loop.states:
            reads = reads_of_last_value(graph, output_of(state), state.span)
            # the rows of a truncated gradient do not end with the last step's
            if reads is not None and (not reads or loop.settings.truncate_gradient == -1):
                self._reads[state] = reads
        self.before: list[Variable] = [
            *(self._rows_before(state) for state in loop.states),
            *(self._room_for(trace) for trace in loop.traces),
            *(entry.outer for entry in loop.untraced),
        ]

    @property
    def _entries(self) -> list[State | Trace | Untraced]:
        return [*self._loop.states, *self._loop.traces, *self._loop.untraced]

    def _rows_before(self, state: State) -> Variable:
        if state not in self._reads:
            return state.outer
        if state.span == 1 and state.kind != MIT_MOT:
            return pt.shape_padleft(initial_value(state))
        return state.outer[: state.span]

    def _room_for(self, trace: Trace) -> Variable:
        # its shape in terms of what the loop is given, as its output is to be replaced
        shape = self._step.outer_shape(trace.inner)
        return only_result(AllocEmpty(trace.inner.type.dtype)(self._loop.n_steps, *shape))

    def loop_of(self, block: Block, given: Sequence[Variable]) -> Loop:
        """Return the loop over the steps of a block, on its rows of what the whole loop is given."""
        loop, inside = self._loop, block.inside
        rows = dict(zip(self._entries, given, strict=True))
        return replace(
            loop,
            n_steps=block.steps,
            sequences=tuple(
                replace(entry, outer=block.rows_outside(entry.outer, alone=self._is_read_once))
                for entry in loop.sequences
            ),
            states=tuple(
                replace(s, outer=self._memory(block, s, known_tensor(rows[s])), output=None)
                for s in loop.states
            ),
            traces=tuple(replace(t, length=block.steps, output=None) for t in loop.traces),
            untraced=tuple(
                replace(entry, outer=rows[entry], output=None) for entry in loop.untraced
            ),
            invariants=tuple(
                replace(entry, outer=inside(entry.outer)) for entry in loop.invariants
            ),
        )

    def _is_read_once(self, array: Variable) -> bool:
        return len(self._graph.clients.get(array, ())) == 1

    def _memory(self, block: Block, state: State, rows: TensorVariable) -> TensorVariable:
        """Return the buffer of a state in a block."""
        if state not in self._reads:
            return block.rows(rows, after=state.span)
        if state.kind != MIT_MOT:
            return memory_from(rows, block.steps, state.outer.type)
        if is_zero(state.outer):
            # as gradients begin
            shape = [block.steps, *lengths_of(rows)[1:]]
            return pt.join(0, rows, pt.zeros(shape, dtype=rows.type.dtype))
        return pt.join(0, rows, block.rows_outside(state.outer, state.span))

    def after(
        self, block: Block, given: Sequence[Variable], part: Loop, built: BuiltLoop | None
    ) -> list[Variable]:
        """Return what is passed on after a block.

        Parameters
        ----------
        given
            What was passed to it.
        part, built
            Its loop, and that loop once it is built; None if it has no results.
        """
        entries: list[State | Trace | Untraced]
        entries = [*part.states, *part.traces, *part.untraced]
        passed = []
        for old, new, before in zip(self._entries, entries, given, strict=True):
            assert built is not None
            value = built.outputs[new]
            if old in self._reads:
                value = known_tensor(value)[block.steps :]
            elif not isinstance(old, Untraced):
                span = old.span if isinstance(old, State) else 0
                rows = block.part(known_tensor(before), after=span)
                value = pt.set_subtensor(rows, value)
            passed.append(before.type.filter_variable(value))
        return passed

    def replacements(self, values: Sequence[Variable]) -> dict[Variable, Variable]:
        """Return what is read of the loop's outputs, by what was passed on in the end."""
        found: dict[Variable, Variable] = {}
        for entry, value in zip(self._entries, values, strict=True):
            if entry in self._reads:
                found |= {read: known_tensor(value)[-1] for read in self._reads[entry]}
            elif entry.output is not None:
                found[entry.output] = value
        return found
