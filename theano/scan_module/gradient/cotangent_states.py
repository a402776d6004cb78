"""The states of a backward loop: buffers of cotangents, and sums of gradients.

Each state of the forward loop becomes a buffer of cotangents, reversed: where a forward step reads
``buffer[t + a]`` and writes ``buffer[t + b]``, the backward step reads the cotangent of what was
written and adds to that of what was read. What was overwritten gets the cotangent of the reading
alone. What is the same in every step gets the sum of its gradients.
"""

from __future__ import annotations

from pytensor import tensor as pt
from pytensor.graph.basic import Variable
from pytensor.tensor.subtensor import IncSubtensor
from pytensor.tensor.type import TensorType, integer_dtypes
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor, known_tensors
from theano.rewriting.filled_arrays import allocated
from theano.rewriting.lengths import lengths_of
from theano.rewriting.zeros import is_zero
from theano.scan_module.gradient.differentiated_loop import DifferentiatedLoop
from theano.scan_module.gradient.step_gradient import is_connected
from theano.scan_module.loop.arguments import (
    MIT_MOT,
    SIT_SOT,
    Invariant,
    Sequence,
    State,
    Tap,
    fresh_like,
)
from theano.scan_module.loop.constant_index import constant_index
from theano.scan_module.loop.initial_values import memory_from
from theano.support.data_classes import dataclass


def cotangent_states(
    found: DifferentiatedLoop,
) -> tuple[dict[State, State | None], list[Sequence], dict[Variable, TensorVariable]]:
    """Return the cotangents of each active state of the forward loop.

    Returns
    -------
    states
        None for a state whose steps pass nothing back.
    sequences
        The cotangents that are only read.
    sums
        What cotangents in the step are, where they are no inputs of the backward step.
    """
    states: dict[State, State | None] = {}
    sequences: list[Sequence] = []
    sums: dict[Variable, TensorVariable] = {}
    loop = found.run.loop
    for state, placeholders, given in zip(
        loop.ordered_states(), found.step.write_cotangents, found.cotangents.states, strict=True
    ):
        if placeholders[0] is None:
            continue
        cotangents = known_tensors(placeholders)
        if is_carried(found, state):
            (cotangent,) = cotangents
            rows = rows_of_steps(given)
            states[state] = carried = _carried(found, state, cotangent, rows)
            sums[cotangent] = known_tensor(carried.reads[0].inner)
            if isinstance(rows, Variable):
                row = TensorType(rows.type.dtype, rows.type.shape[1:])()
                sequences.append(found.sequence(row, rows[::-1]))
                sums[cotangent] = _as_type(row + sums[cotangent], cotangent)
            continue
        buffer = _buffer(found, state, given)
        places = {
            state.span - tap.offset: cotangent
            for tap, cotangent in zip(state.writes, cotangents, strict=True)
        }
        writes = _writes(found, state, places)
        if writes:
            states[state] = _state(state, buffer, places, writes)
        else:
            states[state] = None
            sequences += [
                found.sequence(cotangent, loop.rows_at(state, buffer, offset))
                for offset, cotangent in places.items()
            ]
    return states, sequences, sums


def is_carried(found: DifferentiatedLoop, state: State) -> bool:
    """Return whether a step reads the row before its own and no other: its cotangent is carried.

    It is the sum of what the loop's readers give and of what the backward step before passed on.
    A buffer of the cotangents of all rows, to which steps add, would take as much memory as they do.
    """
    one_row = state.kind == SIT_SOT and not found.is_truncated
    return one_row and found.step.gradients.get(state.reads[0].inner) is not None


@dataclass(frozen=True)
class LastRow:
    """The cotangent of a state's last row; those of all others are zero."""

    value: TensorVariable


def rows_of_steps(given: Variable) -> TensorVariable | LastRow | None:
    """Return the cotangents of the rows that steps wrote; None where all are zero."""
    if not is_connected(given):
        return None
    last = _last_row(given)
    return known_tensor(given)[1:] if last is None else last


def _last_row(gradient: Variable) -> TensorVariable | LastRow | None:
    """Return what zeros were added to, but for the first row, or only in the last one.

    Programs read the rows of steps, ``states[1:]``, and often the last one of them.
    """
    node = gradient.owner
    if node is None or not isinstance(node.op, IncSubtensor) or not is_zero(node.inputs[0]):
        return None
    base, value, *index_inputs = node.inputs
    index = constant_index(node.op.idx_list, [base, *index_inputs])
    if index == -1:
        return LastRow(known_tensor(value)) if value.type.ndim == base.type.ndim - 1 else None
    if isinstance(index, slice) and index.stop is None and index.step in (None, 1):
        if (index.start is not None and index.start < 0) or value.type.ndim != base.type.ndim:
            return None
        within = _last_row(value)
        if isinstance(within, LastRow):
            return within
        return known_tensor(value) if index.start == 1 else None
    return None


def first_row_gradient(
    found: DifferentiatedLoop, state: State, carried: TensorVariable
) -> TensorVariable:
    """Return the gradient with respect to a state's memory, of which a loop reads the first row.

    Parameters
    ----------
    carried
        What the backward steps passed on, one after the other.
    """
    given = found.cotangents.states[found.run.loop.ordered_states().index(state)]
    first = carried[-1]
    if isinstance(rows_of_steps(given), Variable) and not _is_zero_first(given):
        first = first + known_tensor(given)[0]
    # as a row of length 1 from the beginning: rewrites do not change its static lengths later
    row = pt.shape_padleft(first)
    return pt.set_subtensor(pt.zeros_like(state.outer, dtype=first.type.dtype)[:1], row)


def _is_zero_first(given: Variable) -> bool:
    return isinstance(_last_row(given), Variable)


def _carried(
    found: DifferentiatedLoop,
    state: State,
    cotangent: TensorVariable,
    rows: TensorVariable | LastRow | None,
) -> State:
    """Return a state that is what steps pass on, from the last step to the first one."""
    gradient = found.step.gradients[state.reads[0].inner]
    # the static lengths of the gradient of one row hold for all, as loops want it
    static = [one or other for one, other in zip(_shape(gradient), _shape(cotangent), strict=True)]
    carry = TensorType(cotangent.type.dtype, tuple(static))(cotangent.name)
    gradient = _as_type(gradient, carry)
    lengths: list[Variable] = [pt.constant(1, dtype="int64"), *lengths_of(state.outer)[1:]]
    first = pt.shape_padleft(rows.value) if isinstance(rows, LastRow) else _zeros(carry, lengths)
    first = TensorType(carry.type.dtype, (1, *static)).filter_variable(
        first.astype(carry.type.dtype)
    )
    kind = TensorType(carry.type.dtype, (None, *static))
    buffer = memory_from(first, found.backward_steps, kind, lengths)
    return State(buffer, (Tap(0, carry),), (Tap(1, gradient),), SIT_SOT)


def _buffer(found: DifferentiatedLoop, state: State, given: Variable) -> TensorVariable:
    """Return the cotangents of all rows of a state's buffer, the last one first."""
    output = found.run.rows(state)
    buffer = known_tensor(given)[::-1] if is_connected(given) else pt.zeros_like(output)
    if found.is_longer_than_run(state):
        # reversed, what the steps did not touch comes first
        return buffer[buffer.shape[0] - found.steps - state.span :]
    return buffer


def _writes(
    found: DifferentiatedLoop, state: State, places: dict[int, TensorVariable]
) -> list[Tap]:
    """Return what the backward step adds to cotangents of what was read; ``places`` gets these."""
    overwritten = set(places)
    like = next(iter(places.values()))
    writes = []
    for tap in state.reads:
        offset = state.span - tap.offset
        gradient = found.step.gradients.get(tap.inner)
        if offset not in overwritten:
            if gradient is None:
                continue
            # two reads of one place would share it, but a state's taps differ
            places[offset] = fresh_like(like)
            gradient = places[offset] + gradient
        elif gradient is None:
            gradient = pt.zeros_like(places[offset])
        elif gradient is places[offset]:
            # the step only adds to that place: its cotangent stays, and all steps' can be read
            continue
        writes.append(Tap(offset, _as_type(gradient, places[offset])))
    return writes


def _state(
    state: State, buffer: TensorVariable, places: dict[int, TensorVariable], writes: list[Tap]
) -> State:
    like = next(iter(places.values()))
    # Both ends are read even if nothing flows there: from them follows the buffer's length.
    for offset in (0, state.span):
        places.setdefault(offset, fresh_like(like))
    reads = tuple(Tap(offset, places[offset]) for offset in sorted(places))
    return State(buffer, reads, tuple(sorted(writes, key=lambda tap: tap.offset)), MIT_MOT)


def accumulator(found: DifferentiatedLoop, entry: Invariant) -> State:
    """Return a sum over the steps of the gradient with respect to an invariant."""
    gradient = found.step.gradients[entry.inner]
    total = known_tensor(fresh_like(entry.inner))
    if total.type.dtype in integer_dtypes:
        total = total.type.clone(dtype=gradient.type.dtype)(total.name)
    dtype, shape = total.type.dtype, getattr(entry.outer.type, "shape", ())
    lengths: list[Variable] = [pt.constant(1, dtype="int64"), *lengths_of(entry.outer)]
    start = _zeros(total, lengths)
    kind = TensorType(dtype, (None, *shape))
    buffer = memory_from(start, found.backward_steps, kind, lengths)
    added = _as_type(total + gradient, total)
    return State(buffer, (Tap(0, total),), (Tap(1, added),), SIT_SOT)


def _zeros(row: TensorVariable, lengths: list[Variable]) -> TensorVariable:
    """Return one row of zeros, given its lengths, the first of which is 1."""
    # PyTensor writes the number itself in place of an alloc of one, and then looks for its length
    if row.type.ndim == 0:
        return pt.constant([0], dtype=row.type.dtype)
    return allocated(pt.constant(0, dtype=row.type.dtype), *lengths)


def _shape(variable: Variable) -> tuple[int | None, ...]:
    return variable.type.shape


def _as_type(gradient: TensorVariable, like: Variable) -> TensorVariable:
    """Return a gradient in the dtype and static shape of what it is the gradient of."""
    if gradient.type.dtype != like.type.dtype:
        gradient = gradient.astype(like.type.dtype)
    return like.type.filter_variable(gradient)
