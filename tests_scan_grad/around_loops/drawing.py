"""A program from a seed: each piece is drawn for the shapes that its operands have in two calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tests_scan_grad.around_loops import pieces
from tests_scan_grad.around_loops.draw_loops import draw_loop
from tests_scan_grad.around_loops.drawn import Drawn
from tests_scan_grad.around_loops.loops import Loop, NotComparable
from tests_scan_grad.around_loops.pieces import Piece
from tests_scan_grad.around_loops.programs import Input, Program

ROWS: tuple[tuple[int, ...], ...] = ((), (2,), (3,), (4,), (1,), (2, 3), (3, 1), (2, 2))
# in the calls of a program, the length of the arrays that have one
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 9)


def draw(seed: int) -> Program:
    """The program of a seed."""
    for attempt in range(100):
        generator = np.random.default_rng((seed, attempt))
        try:
            return _drawn(seed, generator)
        except NotComparable:
            continue
    raise AssertionError(f"nothing could be drawn from seed {seed}")


def _drawn(seed: int, generator: np.random.Generator) -> Program:
    drawn = Drawn(seed, generator, _inputs(generator), _calls(generator))
    for _ in range(int(generator.integers(1, 4))):
        draw_loop(drawn)
        for _ in range(int(generator.integers(2, 6))):
            name = list(PIECES)[generator.integers(len(PIECES))]
            PIECES[name](drawn)
    return _finished(drawn)


def _calls(generator: np.random.Generator) -> tuple[int, ...]:
    first, second = (int(n) for n in generator.choice(LENGTHS, 2, replace=False))
    return (first, second, first)


def _inputs(generator: np.random.Generator) -> list[Input]:
    row = ROWS[generator.integers(len(ROWS))]
    inputs = [
        Input(("n", *row)),
        Input(("n", *row)),
        Input(row),
        Input((2, *row)),
        Input((9, *row)),
    ]
    if row:
        inputs.append(Input((row[-1], row[-1])))
    inputs += [Input((4, *row), shared=True), Input(("n", 2)), Input((3, 2), shared=True)]
    return [
        entry if entry.shared else Input(entry.shape, mutable=bool(generator.random() < 0.15))
        for entry in inputs
    ]


def _finished(drawn: Drawn) -> Program:
    generator = drawn.generator
    made = range(len(drawn.inputs), len(drawn.values))
    count = int(min(len(made), generator.integers(2, 7)))
    chosen = {int(k) for k in generator.choice(made, count, replace=False)}
    chosen |= {made[-1], *drawn.inputs_put_out()}
    read = [k for k in sorted(chosen) if generator.random() < 0.7] or [made[-1]]
    results = [(k, bool(generator.random() < 0.3)) for k in sorted(chosen)]
    updates = {}
    for k, entry in enumerate(drawn.inputs):
        fitting = [v for v in made if entry.shared and drawn.shapes(v) == drawn.shapes(k)]
        if fitting:
            updates[k] = fitting[-1]
    dtype = "float64" if generator.random() < 0.6 else "float32"
    program = Program(
        seed=drawn.seed,
        dtype=dtype,
        inputs=tuple(drawn.inputs),
        pieces=tuple(drawn.pieces),
        results=tuple(results),
        read=tuple(read),
        updates=updates,
        calls=drawn.calls,
    )
    if program.truncated and program.has_loops_without_steps():
        # truncated gradients are compared with those of PyTensor's loops, which then have no shapes
        return replace(program, pieces=tuple(_untruncated(piece) for piece in program.pieces))
    return program


def _untruncated(piece: Piece) -> Piece:
    return replace(piece, truncate=-1) if isinstance(piece, Loop) else piece


def _join(drawn: Drawn) -> None:
    first = drawn.recent(1)
    if first is None:
        return
    axis = int(drawn.generator.integers(drawn.ndim(first)))

    def fits(k: int) -> bool:
        return drawn.ndim(k) == drawn.ndim(first) and all(
            a[:axis] + a[axis + 1 :] == b[:axis] + b[axis + 1 :]
            for a, b in zip(drawn.shapes(k), drawn.shapes(first), strict=True)
        )

    others = drawn.some(fits, int(drawn.generator.integers(1, 4)))
    operands = [first, *others]
    drawn.generator.shuffle(operands)
    drawn.add(pieces.Join(tuple(operands), axis))


def _stack(drawn: Drawn) -> None:
    first = drawn.recent(0, 2)
    if first is None:
        return
    others = drawn.some(lambda k: drawn.shapes(k) == drawn.shapes(first), 2)
    axis = int(drawn.generator.integers(drawn.ndim(first) + 1))
    drawn.add(pieces.Stack((first, *others), axis))


def _split(drawn: Drawn) -> None:
    whole = drawn.recent(1)
    if whole is None:
        return
    axis = int(drawn.generator.integers(drawn.ndim(whole)))
    lengths = {shape[axis] for shape in drawn.shapes(whole)}
    if len(lengths) == 1:
        (length,) = lengths
        # a length of 1 would be told by the type of a part, and not by that of the start of a state
        firsts = [first for first in range(length + 1) if 1 not in (first, length - first)]
        if firsts:
            first = firsts[drawn.generator.integers(len(firsts))]
            drawn.add(pieces.Split((whole,), axis, (first, length - first)))


def _index(drawn: Drawn, operand: int) -> tuple[int | slice, ...]:
    """Slices with any bounds and steps, and numbers where all calls have such a place."""
    generator = drawn.generator
    index: list[int | slice] = []
    for axis in range(int(generator.integers(1, drawn.ndim(operand) + 1))):
        shortest = min(shape[axis] for shape in drawn.shapes(operand))
        if shortest and generator.random() < 0.2:
            index.append(int(generator.integers(-shortest, shortest)))
            continue
        start, stop = (
            None if generator.random() < 0.5 else int(generator.integers(-4, 5)) for _ in range(2)
        )
        step = (None, None, -1, 2, -2, 3)[generator.integers(6)]
        index.append(slice(start, stop, step))
    return tuple(index)


def _part(drawn: Drawn) -> None:
    operand = drawn.recent(1)
    if operand is not None:
        drawn.add(pieces.Part((operand,), _index(drawn, operand)))


def _rows(drawn: Drawn) -> None:
    operand = drawn.recent(1)
    if operand is None:
        return
    shortest = min(shape[0] for shape in drawn.shapes(operand))
    if shortest:
        # one row has a length that its type gives, which the start of a state would have to tell, too
        places = drawn.generator.integers(-shortest, shortest, drawn.generator.integers(2, 5))
        drawn.add(pieces.Rows((operand,), tuple(int(place) for place in places)))


def _write(drawn: Drawn) -> None:
    """A recent value into a part of an older one, where there is a part of its shape."""
    value = drawn.recent(0)
    if value is None:
        return
    for _ in range(30):
        base = int(drawn.generator.integers(len(drawn.values)))
        if drawn.ndim(base) < max(1, drawn.ndim(value)):
            continue
        index = _index(drawn, base)
        parts = [np.zeros(shape)[index].shape for shape in drawn.shapes(base)]
        if parts == drawn.shapes(value):
            drawn.add(pieces.Write((base, value), index, bool(drawn.generator.random() < 0.5)))
            return


def _frame(drawn: Drawn) -> None:
    operand = drawn.recent(1)
    if operand is None:
        return
    generator = drawn.generator
    axis = int(generator.integers(drawn.ndim(operand)))
    before, behind = (int(k) for k in generator.integers(0, 3, 2))
    number = float(generator.choice([0.0, 0.0, 0.5]))
    drawn.add(pieces.Frame((operand,), axis, before, behind, number))


def _reshape(drawn: Drawn) -> None:
    operand = drawn.recent(2)
    if operand is not None:
        kept = ("none", "first", "last")[drawn.generator.integers(3)]
        drawn.add(pieces.Reshape((operand,), kept))


def _transpose(drawn: Drawn) -> None:
    operand = drawn.recent(2)
    if operand is not None:
        order = drawn.generator.permutation(drawn.ndim(operand))
        drawn.add(pieces.Transpose((operand,), tuple(int(axis) for axis in order)))


def _sum(drawn: Drawn) -> None:
    operand = drawn.recent(1)
    if operand is not None:
        axis = int(drawn.generator.integers(drawn.ndim(operand)))
        drawn.add(pieces.Sum((operand,), axis))


def _product(drawn: Drawn) -> None:
    first = drawn.recent(1)
    if first is None:
        return
    last = [shape[-1] for shape in drawn.shapes(first)]

    def fits(k: int) -> bool:
        return drawn.ndim(k) == 2 and [shape[0] for shape in drawn.shapes(k)] == last

    for second in drawn.some(fits, 1):
        drawn.add(pieces.Product((first, second)))


def _map(drawn: Drawn) -> None:
    first = drawn.recent(0)
    if first is None:
        return
    generator = drawn.generator
    if generator.random() < 0.3:
        work: Sequence[str] = pieces.WORK_ON_ONE
        operands = [first]
    else:
        work = pieces.WORK_ON_TWO
        operands = [first, *drawn.some(lambda k: _spreads(drawn, k, first), 1)]
        if len(operands) < 2:
            return
    drawn.add(pieces.Map(tuple(operands), work[generator.integers(len(work))]))


def _spreads(drawn: Drawn, k: int, over: int) -> bool:
    """Return whether a value's shape is the trailing part of another's."""
    ndim = drawn.ndim(k)
    return ndim <= drawn.ndim(over) and all(
        a == b[len(b) - ndim :] for a, b in zip(drawn.shapes(k), drawn.shapes(over), strict=True)
    )


PIECES: dict[str, Callable[[Drawn], None]] = {
    "join": _join,
    "join of others": _join,
    "join again": _join,
    "stack": _stack,
    "split": _split,
    "part": _part,
    "rows": _rows,
    "write": _write,
    "write elsewhere": _write,
    "frame": _frame,
    "reshape": _reshape,
    "transpose": _transpose,
    "sum": _sum,
    "product": _product,
    "map": _map,
}
