"""The memory of a call of a compiled function, as data and as text."""

from __future__ import annotations

from collections.abc import Sequence

from theano.support.data_classes import dataclass

# what a value in memory is to the loop that writes it
STATE, SAVED, UPDATED, WORK, VALUE, RESULT = (
    "state",
    "saved or returned",
    "updated",
    "work memory",
    "value",
    "result",
)
BAR = 40
# a smaller part of the peak is not printed by itself
LEAST_PRINTED = 0.01
MOST_PRINTED = 12
# nor a smaller change, in the picture
LEAST_CHANGE = 0.05


class UnknownMemory(Exception):
    """The memory of a call depends on what is computed in it; the text says on what."""


@dataclass(frozen=True)
class MemoryPiece:
    """A value in memory, and how long it is needed.

    Attributes
    ----------
    what
        What it is.
    role
        What it is to the loop that writes it: a ``'state'``, ``'saved or returned'`` in each step,
        ``'updated'`` (a buffer whose rows the loop adds to), ``'work memory'`` (packed matrices, rings
        of states and temporaries of a step); or a ``'value'`` or ``'result'`` outside of loops.
    loop
        The loop that writes it, or whose work memory it is; empty for others.
    dtype, shape
        Of the array; of work memory, bytes.
    bytes
        How much memory it takes.
    readers
        The loops and operations that read it.
    first, last
        The positions among the function's moments when it is first and last needed.
    """

    what: str
    role: str
    loop: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    readers: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True)
class MemoryUse:
    """The memory of a call of a function at given sizes.

    What a function takes it keeps for its next call, which then takes no more. Arguments and the
    values of shared variables are not counted; the next values of shared variables are.

    Attributes
    ----------
    pieces
        What lies in memory, the largest first.
    moments
        The loops and operations of the function, in the order in which they run.
    work
        The bytes of work memory, in which pieces share memory that are not needed at the same time.
    results
        The bytes of results and next values of shared variables, and of what goes from one native
        part of the function to another.
    """

    pieces: tuple[MemoryPiece, ...]
    moments: tuple[str, ...]
    work: int
    results: int

    @property
    def peak(self) -> int:
        """The most bytes that the function has at a time."""
        return self.work + self.results

    def live(self, moment: int) -> int:
        """Return the bytes that are needed while an operation runs."""
        return sum(piece.bytes for piece in self.pieces if piece.first <= moment <= piece.last)

    def of_loop(self, name: str) -> tuple[MemoryPiece, ...]:
        """Return what the loops of a name keep."""
        return tuple(piece for piece in self.pieces if piece.loop == name)

    def __str__(self) -> str:
        return "\n".join(memory_lines(self))


def memory_lines(use: MemoryUse) -> list[str]:
    """Return the memory of a call in lines: what loops keep, and how much there is over time."""
    lines = [
        f"memory of a call: {in_megabytes(use.peak)}"
        f" (work {in_megabytes(use.work)}, results {in_megabytes(use.results)})"
    ]
    least = LEAST_PRINTED * use.peak
    for loop in dict.fromkeys(piece.loop for piece in use.pieces):
        pieces = [piece for piece in use.pieces if piece.loop == loop]
        total = in_megabytes(sum(piece.bytes for piece in pieces))
        lines.append(f"  {f'loop {loop} keeps' if loop else 'outside loops:'} {total}")
        printed = [piece for piece in pieces if piece.bytes >= least][:MOST_PRINTED]
        lines += [_piece_line(use, piece) for piece in printed]
    return [*lines, "  over time:", *picture_lines(use)]


def _piece_line(use: MemoryUse, piece: MemoryPiece) -> str:
    shape = f" {piece.dtype} {piece.shape}" if piece.role != WORK else ""
    readers = f", for {' and '.join(piece.readers)}" if piece.readers else ""
    until = (
        f", until {use.moments[piece.last].split(' (')[0]}"
        if piece.last < len(use.moments) - 1
        else ", until the next call"
        if piece.role == RESULT
        else ", until the end"
    )
    return f"    {in_megabytes(piece.bytes):>9} {piece.role}: {piece.what}{shape}{readers}{until}"


def picture_lines(use: MemoryUse) -> list[str]:
    """Return a line for each moment at which as much memory is needed: a bar."""
    live = [use.live(moment) for moment in range(len(use.moments))]
    groups: list[tuple[str, int]] = []
    least = LEAST_CHANGE * max([*live, 1])
    for name, bytes_ in zip(use.moments, live, strict=True):
        # the operations between loops need no line each
        if groups and not name.startswith("loop ") and abs(groups[-1][1] - bytes_) < least:
            groups[-1] = (groups[-1][0], max(groups[-1][1], bytes_))
        else:
            groups.append((name, bytes_))
    width = max((len(name) for name, _ in groups), default=0)
    most = max(live, default=0)
    return [
        f"    {name:<{width}} |{_bar(bytes_, most):<{BAR}}| {in_megabytes(bytes_)}"
        for name, bytes_ in groups
    ]


def _bar(bytes_: int, most: int) -> str:
    return "#" * round(BAR * bytes_ / most) if most else ""


def in_megabytes(bytes_: int) -> str:
    """Return a number of bytes as text, in units of a million."""
    return f"{bytes_ / 1e6:.1f} MB"


def largest_first(pieces: Sequence[MemoryPiece]) -> tuple[MemoryPiece, ...]:
    """Return pieces in the order in which they are printed."""
    return tuple(sorted(pieces, key=lambda piece: -piece.bytes))
