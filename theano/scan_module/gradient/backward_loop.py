"""The backward loop: from the gradient of one step to the gradient of the whole loop.

The backward loop runs over the steps in reverse. Each state of the forward loop becomes a buffer
of cotangents, reversed: where a forward step reads ``buffer[t + a]`` and writes ``buffer[t + b]``,
the backward step reads the cotangent of what was written and adds to that of what was read. What
was overwritten gets the cotangent of the reading alone. Sequences give traces; invariants give
accumulators.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pytensor import tensor as pt
from pytensor.configdefaults import config as pytensor_config
from pytensor.gradient import disconnected_type, grad_undefined
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.null_type import NullType
from pytensor.graph.traversal import ancestors, graph_inputs
from pytensor.tensor.basic import Alloc
from pytensor.tensor.type import TensorType

from theano.pytensor_base.scan import Scan as PyTensorScan
from theano.scan_module.gradient.equal_step_gradients import gradient_of_step
from theano.scan_module.gradient.saved_values import ForwardStep, choose_saved_values
from theano.scan_module.gradient.step_gradient import (
    StepGradient,
    is_connected,
)
from theano.scan_module.loop.arguments import (
    MIT_MOT,
    SIT_SOT,
    BuiltLoop,
    Invariant,
    Loop,
    Sequence,
    State,
    Tap,
    Trace,
    fresh_like,
)
from theano.scan_module.loop.initial_values import memory_from
from theano.scan_module.loop.step_copy import copied
from theano.scan_module.step.fixed_shapes import values_of_fixed_shape
from theano.scan_module.step.shape_only_uses import with_shapes_from_outside


@dataclass(frozen=True)
class ForwardRun:
    """A forward node and the loop whose entries its outputs belong to."""

    loop: Loop
    outputs: list[Variable]

    @property
    def states(self) -> list[tuple[State, Variable]]:
        return list(zip(self.loop.ordered_states(), self.outputs, strict=False))

    @property
    def traces(self) -> list[tuple[Trace, Variable]]:
        first = len(self.loop.states)
        return list(zip(self.loop.traces, self.outputs[first:], strict=False))

    def steps_run(self) -> Variable:
        """How many steps the loop ran, which an ``until`` may make fewer than asked for."""
        if self.loop.condition is None:
            return self.loop.n_steps
        for _, output in self.traces:
            return output.shape[0]
        for state, output in self.states:
            return output.shape[0] - state.span
        return self.loop.n_steps


def loop_pullback(
    node: Apply,
    loop: Loop,
    output_cotangents: list[Variable],
    extend: Callable[[Loop, list[Variable]], BuiltLoop],
    policy: str,
    op_class: type[PyTensorScan],
) -> list[Variable]:
    """Gradients of a loop with respect to its node's inputs.

    Parameters
    ----------
    node
        The forward node.
    loop
        The forward loop as taken from the node.
    output_cotangents
        One for each output of the node; disconnected ones allowed.
    extend
        Builds the forward loop again with values to be saved as further traces.
    policy
        Which values to save, see ``choose_saved_values``.
    op_class
        The class of the backward loop's op.
    """
    step = gradient_of_step(node.op, loop, output_cotangents)
    loop = step.loop
    run = ForwardRun(loop, list(node.outputs))
    readers = _readers(run)
    backward_outputs = list(step.gradients.values())
    saved = choose_saved_values(
        ForwardStep(
            available=[*readers, *(entry.inner for entry in loop.invariants)],
            unavailable=[entry.inner_input for entry in loop.carried],
            invariants=[entry.inner for entry in loop.invariants],
            storable=lambda values: values_of_fixed_shape(loop, values),
        ),
        backward_outputs,
        _cotangents(step),
        policy,
    )
    if saved:
        built = extend(loop, saved)
        run = ForwardRun(built.loop, list(built.node.outputs))
        readers = _readers(run)
    return _Assembly(node, run, step, readers, output_cotangents, op_class).input_gradients()


def _cotangents(step: StepGradient) -> list[Variable]:
    cotangents = [c for row in step.write_cotangents for c in row] + step.trace_cotangents
    return [c for c in cotangents if c is not None]


def _readers(run: ForwardRun) -> dict[Variable, Callable[[Variable], Variable]]:
    """Inner forward variable -> its values in all steps, given the number of steps run.

    A place of a buffer that several steps write holds the last value only; a value that was
    overwritten can be read from the initial buffer if no step wrote it before, else not at all.
    """
    readers: dict[Variable, Callable[[Variable], Variable]] = {}
    stopped = run.loop.condition is not None
    for entry in run.loop.sequences:
        readers[entry.inner] = (
            (lambda steps, outer=entry.outer: outer[:steps])
            if stopped
            else (lambda steps, outer=entry.outer: outer)
        )
    for state, output in run.states:
        written = [tap.offset for tap in state.writes]
        for tap in state.reads:
            if not any(offset <= tap.offset for offset in written):
                readers[tap.inner] = lambda steps, buffer=output, tap=tap, state=state: (
                    run.loop.rows_at(state, buffer, tap.offset)
                )
            elif not any(offset > tap.offset for offset in written):
                readers[tap.inner] = lambda steps, buffer=state.outer, tap=tap: buffer[
                    tap.offset : tap.offset + steps
                ]
        for tap in state.writes:
            if not any(offset < tap.offset for offset in written):
                readers.setdefault(
                    tap.inner,
                    lambda steps, buffer=output, tap=tap, state=state: run.loop.rows_at(
                        state, buffer, tap.offset
                    ),
                )
    for trace, output in run.traces:
        readers.setdefault(trace.inner, lambda steps, output=output: output)
    return readers


class _Assembly:
    """The backward loop in the making: its entries, and where each gradient will be found."""

    def __init__(self, node, run, step, readers, output_cotangents, op_class):
        self.node: Apply = node
        self.run: ForwardRun = run
        self.step: StepGradient = step
        self.readers = readers
        self.output_cotangents: list[Variable] = output_cotangents
        self.op_class = op_class
        self.truncate: int = run.loop.settings.truncate_gradient
        self.steps = run.steps_run()
        self.backward_steps = (
            self.steps if self.truncate == -1 else pt.minimum(self.steps, self.truncate)
        )
        self.sequences: list[Sequence] = []
        self.undefined: dict[Variable, str] = dict(step.undefined)

    def input_gradients(self) -> list[Variable]:
        """Gradients in the order of the node's inputs."""
        self._mark_unreachable()
        loop = self.run.loop
        states = self._cotangent_states()
        traces = {
            entry: Trace(self.backward_steps, self.step.gradients[entry.inner])
            for entry in loop.sequences
            if entry.inner in self.step.gradients
        }
        accumulators = {
            entry: self._accumulator(entry)
            for entry in loop.invariants
            if entry.inner in self.step.gradients
        }
        self._read_cotangents()
        backward = Loop(
            n_steps=self.backward_steps,
            states=tuple(s for s in states.values() if s is not None)
            + tuple(accumulators.values()),
            traces=tuple(traces.values()),
            settings=replace(
                loop.settings,
                name=f"grad_of_{loop.settings.name}" if loop.settings.name else None,
            ),
        )
        results = self._build(backward) if backward.states or backward.traces else {}
        by_entry = {
            **{e: self._unreversed(results[t], e.outer) for e, t in traces.items()},
            **{e: self._state_gradient(e, s, results) for e, s in states.items()},
            **{e: results[a][-1] for e, a in accumulators.items()},
        }
        return self._in_order_of_inputs(by_entry)

    def _mark_unreachable(self) -> None:
        """A gradient that needs a generator's past state is undefined: that state is gone."""
        unavailable = {entry.inner_input for entry in self.run.loop.carried}
        if not unavailable:
            return
        for variable, gradient in list(self.step.gradients.items()):
            reached = ancestors([gradient], blockers=list(self.readers))
            if any(leaf in unavailable for leaf in reached if leaf not in self.readers):
                del self.step.gradients[variable]
                self.undefined[variable] = "it depends on a state that the loop does not keep"

    def _cotangent_states(self) -> dict[State, State | None]:
        """For each active forward state its buffer of cotangents, or None if nothing flows back."""
        result: dict[State, State | None] = {}
        for position, (state, output) in enumerate(self.run.states):
            cotangents = self.step.write_cotangents[position]
            if cotangents[0] is None:
                continue
            given = self.output_cotangents[position]
            buffer = given[::-1] if is_connected(given) else pt.zeros_like(output)
            if self._is_longer_than_run(state):
                # reversed, what the steps did not touch comes first
                buffer = buffer[buffer.shape[0] - self.steps - state.span :]
            span = state.span
            places = {
                span - tap.offset: cotangent
                for tap, cotangent in zip(state.writes, cotangents, strict=True)
            }
            overwritten = set(places)
            writes = []
            for tap in state.reads:
                offset = span - tap.offset
                gradient = self.step.gradients.get(tap.inner)
                if offset not in overwritten:
                    if gradient is None:
                        continue
                    # two reads of one place would share it, but a state's taps differ
                    places[offset] = fresh_like(cotangents[0])
                    gradient = places[offset] + gradient
                elif gradient is None:
                    gradient = pt.zeros_like(places[offset])
                writes.append(Tap(offset, _as_type(gradient, places[offset])))
            if not writes:
                for offset, cotangent in places.items():
                    self._add_sequence(cotangent, self.run.loop.rows_at(state, buffer, offset))
                result[state] = None
                continue
            # Both ends are read even if nothing flows there: from them follows the buffer's length.
            for offset in (0, span):
                places.setdefault(offset, fresh_like(cotangents[0]))
            reads = tuple(Tap(offset, places[offset]) for offset in sorted(places))
            result[state] = State(
                buffer, reads, tuple(sorted(writes, key=lambda tap: tap.offset)), MIT_MOT
            )
        return result

    def _accumulator(self, entry: Invariant) -> State:
        """A sum over the steps of the gradient with respect to an invariant."""
        outer, total = entry.outer, fresh_like(entry.inner)
        dtype, shape = total.type.dtype, getattr(outer.type, "shape", ())
        lengths = [
            outer.shape[axis] if length is None else pt.as_tensor(length)
            for axis, length in enumerate(shape)
        ]
        zero, one = pt.constant(0, dtype=dtype), pt.constant(1)
        start = Apply(Alloc(), [zero, one, *lengths], [TensorType(dtype, (1, *shape))()]).out
        buffer = memory_from(start, self.backward_steps, TensorType(dtype, (None, *shape)))
        return State(
            buffer,
            (Tap(0, total),),
            (Tap(1, _as_type(total + self.step.gradients[entry.inner], total)),),
            SIT_SOT,
        )

    def _read_cotangents(self) -> None:
        """Sequences of the traces' cotangents."""
        first = len(self.run.states)
        for cotangent, given in zip(
            self.step.trace_cotangents, self.output_cotangents[first:], strict=False
        ):
            if cotangent is not None:
                self._add_sequence(cotangent, given[::-1])

    def _add_sequence(self, inner: Variable, reversed_values: Variable) -> None:
        if self.truncate != -1:
            reversed_values = reversed_values[: self.backward_steps]
        self.sequences.append(Sequence(reversed_values, inner))

    def _build(self, backward: Loop) -> dict[State | Trace, Variable]:
        """Give the backward step its forward values, all at once, and make the node."""
        entries = [*backward.ordered_states(), *backward.traces]
        outputs = backward.inner_outputs
        invariants = {entry.inner: entry for entry in self.run.loop.invariants}
        stops = [*self.readers, *invariants]
        placeholders = {}
        used_invariants = []
        for variable in ancestors(outputs, blockers=stops):
            if variable in invariants:
                used_invariants.append(invariants[variable])
            elif variable in self.readers:
                placeholders[variable] = fresh_like(variable)
                self._add_sequence(placeholders[variable], self.readers[variable](self.steps)[::-1])
        new_outputs = copied(outputs, placeholders)
        given = {entry.inner for entry in self.sequences}
        unused = given - set(graph_inputs(new_outputs))
        backward = replace(
            backward.with_inner_outputs(new_outputs),
            sequences=tuple(s for s in self.sequences if s.inner not in unused),
            invariants=tuple(used_invariants),
        )
        built = with_shapes_from_outside(backward).build(self.op_class)
        return dict(zip(entries, built.outputs.values(), strict=True))

    def _unreversed(self, gradient: Variable, outer: Variable) -> Variable:
        """Gradients of a sequence in forward order, zero for rows that no step back reached."""
        forward = gradient[::-1]
        if self.truncate == -1 and self.run.loop.condition is None:
            return forward
        first = self.steps - self.backward_steps
        return pt.set_subtensor(
            pt.zeros_like(outer, dtype=gradient.type.dtype)[first : self.steps], forward
        )

    def _state_gradient(self, state: State, cotangents: State | None, results) -> Variable:
        """Gradient with respect to a state's initial buffer."""
        position = self.run.loop.ordered_states().index(state)
        given = self.output_cotangents[position]
        if cotangents is not None:
            gradient = results[cotangents][::-1]
        elif is_connected(given):
            gradient = given
        else:
            return pt.zeros_like(state.outer)
        if self._is_longer_than_run(state):
            # what the steps did not touch is what it was
            whole = given if is_connected(given) else pt.zeros_like(state.outer)
            return gradient if cotangents is None else _begun_with(whole, gradient)
        if self.run.loop.condition is None:
            return gradient
        return _begun_with(pt.zeros_like(state.outer), gradient)

    def _is_longer_than_run(self, state: State) -> bool:
        """Whether a buffer has rows beyond the last step's: that of a truncated gradient."""
        return state.kind == MIT_MOT and self.truncate != -1

    def _in_order_of_inputs(self, by_entry: dict) -> list[Variable]:
        loop = self.run.loop
        inner_of = {
            **{entry: [entry.inner] for entry in loop.sequences},
            **{state: [tap.inner for tap in state.reads] for state in loop.states},
            **{entry: [entry.inner] for entry in loop.invariants},
        }
        traces = [None] * len(self.node.op.outer_nitsot(self.node.inputs))
        # n_steps | sequences | mit-mot | mit-sot | sit-sot | carried | trace lengths | invariants
        entries = [
            None,
            *loop.sequences,
            *loop.ordered_states(),
            *loop.carried,
            *traces,
            *loop.invariants,
        ]
        pattern = self.node.op.connection_pattern(self.node)
        connected_outputs = [
            k for k, cotangent in enumerate(self.output_cotangents) if is_connected(cotangent)
        ]
        gradients = []
        for position, (entry, outer) in enumerate(zip(entries, self.node.inputs, strict=True)):
            reasons = [
                self.undefined[inner]
                for inner in inner_of.get(entry, ())
                if inner in self.undefined
            ]
            if not any(pattern[position][k] for k in connected_outputs):
                gradients.append(disconnected_type())
            elif reasons:
                gradients.append(NullType(reasons[0])())
            elif entry in by_entry:
                gradients.append(by_entry[entry])
            elif entry in loop.carried:
                gradients.append(
                    grad_undefined(
                        self.node.op, position, outer, "the state is not kept step by step"
                    )
                )
            else:
                gradients.append(pt.zeros_like(outer, dtype=_gradient_dtype(outer)))
        return gradients


def _begun_with(whole: Variable, rows: Variable) -> Variable:
    return pt.set_subtensor(whole[: rows.shape[0]], rows)


def _gradient_dtype(variable: Variable) -> str:
    dtype = variable.type.dtype
    return dtype if dtype.startswith(("float", "complex")) else pytensor_config.floatX


def _as_type(gradient: Variable, like: Variable) -> Variable:
    """A gradient in the dtype and static shape of what it is the gradient of."""
    if gradient.type.dtype != like.type.dtype:
        gradient = gradient.astype(like.type.dtype)
    return like.type.filter_variable(gradient)
