"""A loop and its gradient, of whose steps the last ones are kept and the others computed again.

Forward, the first steps run in segments of which only the states between them are kept; then the
last steps run, and keep what the gradient reads. Backward, these come first; then each segment is
run again from the state before it, keeps what the gradient reads of its own steps, and is gone
through backward.

How many steps are kept, and how many a segment has, are given when the function is called. Where all
steps are kept there are no segments, and nothing is computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Several
from dataclasses import replace
from typing import TypeVar, cast

from pytensor import tensor as pt
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor, known_tensors
from theano.scan_module.budget.loop_pairs import LoopPair, first_rows_of, is_last_row
from theano.scan_module.loop.arguments import (
    SIT_SOT,
    BuiltLoop,
    Invariant,
    Loop,
    LoopSettings,
    Sequence,
    State,
    Tap,
    Trace,
    fresh_like,
    output_of,
    unpack,
)
from theano.scan_module.loop.constant_index import constant_index
from theano.scan_module.loop.initial_values import memory_after
from theano.scan_module.loop.roles import steps_given_to
from theano.scan_module.scan_op import Scan
from theano.support.data_classes import dataclass

V = TypeVar("V", bound=Variable)


@dataclass(frozen=True, eq=False)
class Segments:
    """The division of a loop's steps.

    Attributes
    ----------
    count, length
        How many segments there are, and how many steps each has.
    kept
        How many steps come after them.
    """

    count: TensorVariable
    length: TensorVariable
    kept: TensorVariable

    @classmethod
    def of(cls, steps: TensorVariable, kept: TensorVariable, length: TensorVariable) -> Segments:
        """Divide steps into those that are kept and segments of about a length."""
        again = pt.maximum(steps - kept, 0)
        count = (again + length - 1) // length
        even = pt.maximum(again // pt.maximum(count, 1), 1)
        # that it is not negative is said, so that lengths that follow from it are compared
        return cls(count, even, pt.maximum(steps - count * even, 0))

    @property
    def steps(self) -> TensorVariable:
        """Return how many steps all segments have."""
        return self.count * self.length

    def rows(self, values: TensorVariable) -> TensorVariable:
        """Return the rows of the segments' steps, a stack for each segment."""
        kind = values.type
        lengths = [values.shape[d] if n is None else n for d, n in enumerate(kind.shape)]
        part = values[: self.steps]
        return part.reshape((self.count, self.length, *lengths[1:]), ndim=kind.ndim + 1)

    def last_rows(self, values: TensorVariable) -> TensorVariable:
        """Return the rows of the steps that are kept, declared to be as many."""
        return self.as_many(values[self.steps :])

    def as_many(self, rows: TensorVariable) -> TensorVariable:
        """Return rows that are declared to be as many as steps are kept."""
        return pt.specify_shape(rows, (self.kept, *[None] * (rows.type.ndim - 1)))

    def joined(self, stacks: TensorVariable) -> TensorVariable:
        """Return the rows of all segments one after the other."""
        kind = stacks.type
        lengths = [stacks.shape[d] if n is None else n for d, n in enumerate(kind.shape)]
        return stacks.reshape((self.steps, *lengths[2:]), ndim=kind.ndim - 1)


def keep_few_steps(
    graph: FunctionGraph, pair: LoopPair, kept: TensorVariable, length: TensorVariable
) -> None:
    """Have a pair of loops keep so many of the last steps, and run the others in segments."""
    made = _Made(pair, Segments.of(steps_given_to(pair.forward), kept, length))
    replacements = [*made.of_backward(graph), *made.of_forward(graph)]
    graph.replace_all(replacements, reason="keep_few_steps", import_missing=True)


class _Passed:
    """Invariants of a step: variables of the graph around, and their places."""

    def __init__(self) -> None:
        self.places: dict[Variable, Variable] = {}

    def of(self, variable: V) -> V:
        """Return what stands for a variable in the step."""
        place = self.places.setdefault(variable, fresh_like(variable))
        return cast("V", place)

    def inside(self, loop: Loop) -> Loop:
        """Return a loop within the step, with its invariants as the step is passed them."""
        entries = [replace(entry, outer=self.of(entry.outer)) for entry in loop.invariants]
        return replace(loop, invariants=tuple(entries))

    def invariants(self) -> tuple[Invariant, ...]:
        """Return what the loop around is given for them."""
        return tuple(Invariant(outer, place) for outer, place in self.places.items())


class _Made:
    """The loops that take the place of a pair."""

    def __init__(self, pair: LoopPair, segments: Segments):
        self.pair, self.segments = pair, segments
        self.forward, self.backward = unpack(pair.forward), unpack(pair.backward)
        self.starts = [first_rows_of(state)[0] for state in self.forward.ordered_states()]
        self.stacks: dict[Variable, TensorVariable]
        self.stacks = {s.outer: segments.rows(s.outer) for s in self.forward.sequences}
        self.reversed = self._sequences_reversed()
        self.before = self._segments_forward()
        self.ends = [self.before.rows(s) for s in self.before.loop.ordered_states()]
        last_rows = [segments.last_rows(s.outer) for s in self.forward.sequences]
        self.last = _run(self.forward, segments.kept, last_rows, [rows[-1] for rows in self.ends])
        starts = [first_rows_of(state)[0] for state in self.backward.ordered_states()]
        self.last_back = _run(self.backward, segments.kept, self._rows_of_last_steps(), starts)
        self.back = self._segments_backward()

    def _sequences_reversed(self) -> dict[Variable, TensorVariable]:
        """Return the backward loop's sequences that are the forward loop's from the end, with these."""
        found: dict[Variable, TensorVariable] = {}
        for entry in self.backward.sequences:
            node = entry.outer.owner
            if node is None or not isinstance(node.op, Subtensor):
                continue
            index = constant_index(node.op.idx_list, node.inputs)
            if node.inputs[0] in self.stacks and index == slice(None, None, -1):
                found[entry.outer] = known_tensor(node.inputs[0])
        return found

    def _segments_forward(self) -> BuiltLoop:
        """Run the segments; of each the last states are kept, and the rows that others read."""
        passed = _Passed()
        rows = [_sequence(self.stacks[s.outer]) for s in self.forward.sequences]
        states = [fresh_like(state.reads[0].inner) for state in self.forward.ordered_states()]
        run = _run(
            passed.inside(self.forward),
            passed.of(self.segments.length),
            known_tensors([entry.inner for entry in rows]),
            states,
        )
        ends = [run.rows(state) for state in run.loop.ordered_states()]
        traces = [*(end[1:] for end in ends), *(run.rows(trace) for trace in run.loop.traces)]
        carried = zip(states, ends, self.starts, strict=True)
        return self._over_segments(self.forward, rows, carried, traces, passed)

    def _over_segments(
        self,
        loop: Loop,
        rows: list[Sequence],
        carried: Iterable[tuple[Variable, TensorVariable, TensorVariable]],
        traces: list[TensorVariable],
        passed: _Passed,
    ) -> BuiltLoop:
        """Build the loop over segments of a loop, from what it carries: reads, ends and starts."""
        states = [
            State(
                memory_after(_like(start, read), self.segments.count),
                (Tap(0, read),),
                (Tap(1, _like(end[-1], read)),),
                SIT_SOT,
            )
            for read, end, start in carried
        ]
        around = Loop(
            n_steps=self.segments.count,
            sequences=tuple(rows),
            states=tuple(states),
            traces=tuple(Trace(self.segments.count, value) for value in traces),
            invariants=passed.invariants(),
            settings=LoopSettings(name=f"segments_of_{loop.settings.name}"),
        )
        return around.without_unused_inputs().build(Scan)

    def _rows_of_last_steps(self) -> list[TensorVariable]:
        """Return what the backward loop reads, of the steps that are kept."""
        last = known_tensors(self.last.node.outputs)
        given = dict(zip(self.pair.forward.outputs, last, strict=True))
        rows: list[TensorVariable] = []
        for entry in self.backward.sequences:
            if entry.outer in self.pair.rows:
                rows.append(_of_others(entry.outer, given))
            elif entry.outer in self.reversed:
                rows.append(self.segments.last_rows(self.reversed[entry.outer])[::-1])
            else:
                rows.append(self.segments.as_many(entry.outer[: self.segments.kept]))
        return rows

    def _segments_backward(self) -> BuiltLoop:
        """Go through the segments from the last one, each run again from the state before it."""
        passed = _Passed()
        length = passed.of(self.segments.length)
        starts = [_sequence(rows[:-1][::-1]) for rows in self.ends]
        forward_rows = {outer: _sequence(stack[::-1]) for outer, stack in self.stacks.items()}
        again = _run(
            passed.inside(self.forward),
            length,
            known_tensors([forward_rows[s.outer].inner for s in self.forward.sequences]),
            [entry.inner for entry in starts],
        )
        computed = known_tensors(again.node.outputs)
        given = dict(zip(self.pair.forward.outputs, computed, strict=True))
        others: list[Sequence] = []
        rows: list[TensorVariable] = []
        for entry in self.backward.sequences:
            if entry.outer in self.pair.rows:
                rows.append(_of_others(entry.outer, given))
            elif entry.outer in self.reversed:
                rows.append(known_tensor(forward_rows[self.reversed[entry.outer]].inner)[::-1])
            else:
                others.append(_sequence(self.segments.rows(entry.outer[self.segments.kept :])))
                rows.append(known_tensor(others[-1].inner))
        states = [fresh_like(state.reads[0].inner) for state in self.backward.ordered_states()]
        back = _run(passed.inside(self.backward), length, rows, states)
        ends = [back.rows(state) for state in back.loop.ordered_states()]
        kept = [self.last_back.rows(s)[-1] for s in self.last_back.loop.ordered_states()]
        return self._over_segments(
            self.backward,
            [*starts, *forward_rows.values(), *others],
            zip(states, ends, kept, strict=True),
            [back.rows(trace) for trace in back.loop.traces],
            passed,
        )

    # ---- what takes the place of the outputs ----

    def of_forward(self, graph: FunctionGraph) -> list[tuple[Variable, Variable]]:
        """Return what takes the place of what others read of the forward loop."""
        found = []
        traces = [self.before.rows(trace) for trace in self.before.loop.traces]
        last = known_tensors(self.last.node.outputs)
        count = len(self.ends)
        for k, output in enumerate(self.pair.forward.outputs):
            rows = self.segments.joined(traces[k])
            if k < count:
                found += _last_rows(graph, output, last[k][-1])
                parts = [pt.shape_padleft(self.starts[k]), rows, last[k][1:]]
            else:
                parts = [rows, last[k]]
            found.append((output, _like(pt.concatenate(parts), output)))
        return found

    def of_backward(self, graph: FunctionGraph) -> list[tuple[Variable, Variable]]:
        """Return what takes the place of what others read of the backward loop."""
        found = []
        states = self.backward.ordered_states()
        for state, done in zip(states, self.back.loop.ordered_states(), strict=True):
            final = self.back.rows(done)[-1]
            for client, _ in graph.clients[output_of(state)]:
                found.append((client.outputs[0], _like(final, client.outputs[0])))
        for trace, last, again in zip(
            self.backward.traces, self.last_back.loop.traces, self.back.loop.traces, strict=True
        ):
            rows = self.segments.joined(self.back.rows(again))
            whole = pt.concatenate([self.last_back.rows(last), rows])
            found.append((output_of(trace), _like(whole, output_of(trace))))
        return found


def _last_rows(
    graph: FunctionGraph, output: Variable, row: Variable
) -> list[tuple[Variable, Variable]]:
    """Return what reads the last row alone, of an output or of its rows after the first one."""
    found = []
    for client, _ in graph.clients[output]:
        if is_last_row(client):
            found.append((client.outputs[0], _like(row, client.outputs[0])))
        elif isinstance(client.op, Subtensor):
            index = constant_index(client.op.idx_list, client.inputs)
            if index == slice(1, None, None):
                found += _last_rows(graph, client.outputs[0], row)
    return found


def _run(
    loop: Loop, steps: TensorVariable, rows: Several[TensorVariable], starts: Several[Variable]
) -> BuiltLoop:
    """Build a loop for some of its steps, from rows of sequences and of states."""
    states = [
        replace(state, outer=memory_after(_like(start, state.reads[0].inner), steps), output=None)
        for state, start in zip(loop.ordered_states(), starts, strict=True)
    ]
    sequences = [replace(s, outer=outer) for s, outer in zip(loop.sequences, rows, strict=True)]
    traces = [replace(trace, length=steps, output=None) for trace in loop.traces]
    part = replace(
        loop,
        n_steps=steps,
        sequences=tuple(sequences),
        states=tuple(states),
        traces=tuple(traces),
    )
    return part.with_step_copied().build(Scan)


def _like(value: Variable, like: V) -> V:
    """Return a value as one of another's type."""
    return like.type.filter_variable(value)


def _sequence(rows: TensorVariable) -> Sequence:
    """Return a sequence of these rows."""
    return Sequence(rows, rows[0].type())


def _of_others(rows: Variable, given: Mapping[Variable, TensorVariable]) -> TensorVariable:
    """Return the same rows of another array."""
    if rows in given:
        return given[rows]
    assert rows.owner is not None
    part, *rest = rows.owner.inputs
    return known_tensor(rows.owner.op(_of_others(part, given), *rest))
