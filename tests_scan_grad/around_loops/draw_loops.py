"""Loops that fit the values of a program so far."""

from __future__ import annotations

import numpy as np

from tests_scan_grad.around_loops.drawn import Drawn
from tests_scan_grad.around_loops.loops import Formula, Loop, State

OF_SEQUENCES = ((0,), (0,), (0,), (0,), (-1, 0), (0, 1), (1,), (-1,))
OF_STATES = ((-1,), (-1,), (-1,), (-1, -2), (-2,))
# those of the first line keep the shape of a row
STATE_WORK = ("tanh", "mix", "gate", "tanh", "mix", "gate", "nested", "same")
TRACE_WORK = (*STATE_WORK, "same", "joined", "sum")


def draw_loop(drawn: Drawn) -> bool:
    """Append a loop over a recent value; whether there was one that fits."""
    for _ in range(20):
        first = drawn.recent(1, 3)
        if first is not None and drawn.add(_loop(drawn, first)):
            return True
    return False


def _loop(drawn: Drawn, first: int) -> Loop:
    """A loop whose rows are those of a value, which it reads as a sequence or begins with."""
    generator = drawn.generator
    rows = [shape[1:] for shape in drawn.shapes(first)]

    def is_row(k: int) -> bool:
        return drawn.shapes(k) == rows

    def has_rows(k: int) -> bool:
        return drawn.ndim(k) > 0 and [shape[1:] for shape in drawn.shapes(k)] == rows

    taps = OF_SEQUENCES[generator.integers(len(OF_SEQUENCES))]
    sequences = [(first, taps)] if _length(drawn, first, taps) is not None else []
    for k in drawn.some(has_rows, int(generator.integers(0, 3))):
        taps = OF_SEQUENCES[generator.integers(len(OF_SEQUENCES))]
        if _length(drawn, k, taps) is not None:
            sequences.append((k, taps))
    starts = []
    for _ in range(int(generator.integers(0, 3)) if sequences else 1):
        back = OF_STATES[generator.integers(len(OF_STATES))]
        found = drawn.some(is_row if back == (-1,) else has_rows, 1)
        long_enough = [k for k in found if back == (-1,) or _shortest(drawn, k) >= 2]
        starts += [(k, back) for k in long_enough]
    invariants = drawn.some(is_row, int(generator.integers(0, 2)))
    last = [shape[-1] if shape else None for shape in rows]
    square = [[(n, n)] for n in last] if last[0] is not None else []
    weights = drawn.some(
        lambda k: k not in invariants and [[s] for s in drawn.shapes(k)] == square, 1
    )
    if len(rows[0]) not in (1, 2) or generator.random() < 0.5:
        weights = []
    read = sum(len(taps) for _, taps in (*sequences, *starts)) + len(invariants)
    if not read or not (sequences or starts):
        # a loop must read something: the first value as its past, if it is long enough
        return _loop_of_one_state(drawn, first)
    states, traces = _formulas(drawn, [taps for _, taps in starts], read, bool(rows[0]), weights)
    n_steps, told_by = _steps(drawn, sequences)
    return Loop(
        operands=(
            *(k for k, _ in sequences),
            *(k for k, _ in starts),
            *invariants,
            *weights,
            *told_by,
        ),
        sequences=tuple(taps for _, taps in sequences),
        states=states,
        traces=traces,
        invariants=len(invariants),
        weights=bool(weights),
        n_steps=n_steps,
        backwards=bool(sequences and generator.random() < 0.35),
        until=float(generator.uniform(0.2, 3)) if states and generator.random() < 0.12 else None,
        truncate=int(generator.integers(1, 4)) if generator.random() < 0.1 else -1,
    )


def _loop_of_one_state(drawn: Drawn, start: int) -> Loop:
    """A loop that reads nothing but its past, of which the start is one row."""
    return Loop(
        operands=(start,),
        sequences=(),
        states=(State((-1,), Formula("gate", (0, 0))),),
        traces=(Formula("same", (1, 1)),),
        invariants=0,
        weights=False,
        n_steps=int(drawn.generator.integers(0, 5)),
        backwards=False,
        until=None,
        truncate=-1,
    )


def _formulas(
    drawn: Drawn, taps: list, read: int, has_axes: bool, weights: list
) -> tuple[tuple[State, ...], tuple[Formula, ...]]:
    generator = drawn.generator
    known = read

    def formula(works: tuple[str, ...]) -> Formula:
        works = works if not weights else (*works, "product", "product", "product")
        works = works if has_axes else tuple(w for w in works if w not in ("joined", "sum"))
        a, b = (int(k) for k in generator.integers(known, size=2))
        return Formula(works[generator.integers(len(works))], (a, b))

    states = []
    for back in taps:
        states.append(State(back, formula(STATE_WORK)))
        known += 1
    traces = []
    for _ in range(int(generator.integers(0 if states else 1, 4))):
        # what traces compute is not read again: it may have another shape
        traces.append(formula(TRACE_WORK))
    return tuple(states), tuple(traces)


def _steps(drawn: Drawn, sequences: list) -> tuple[str | int, list[int]]:
    """Draw the number of steps, within the sequences' lengths, and the operand that gives it."""
    generator = drawn.generator
    lengths = [_length(drawn, k, taps) for k, taps in sequences]
    if sequences and generator.random() < 0.6:
        return "sequences", []
    longest = [min((n[call] for n in lengths), default=6) for call in range(2)]

    def fits(k: int) -> bool:
        shapes = drawn.shapes(k)
        return drawn.ndim(k) > 0 and all(s[0] <= n for s, n in zip(shapes, longest, strict=True))

    told_by = drawn.some(fits, 1)
    if told_by and generator.random() < 0.5:
        return "length of the last operand", told_by
    return int(generator.integers(0, min(longest) + 1)), []


def _length(drawn: Drawn, k: int, taps: tuple[int, ...]) -> list[int] | None:
    """The steps that a sequence lasts in the two calls, or None if it is too short."""
    reach = max(0, *taps) - min(0, *taps)
    lengths = [shape[0] - reach for shape in drawn.shapes(k)]
    return lengths if min(lengths) >= 0 else None


def _shortest(drawn: Drawn, k: int) -> int:
    return min(np.shape(array)[0] for array in drawn.values[k])
