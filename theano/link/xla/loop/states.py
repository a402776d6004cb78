"""Storage of a loop from step to step: states, and traces of its steps' results.

PyTensor's buffers hold initial rows, then one row a step; one that is shorter than that is
circular, and holds the last rows in order when the loop is over. Each kind of storage has

* ``start()``: what the first step is given,
* ``read(kept, step)``: the rows that the step reads, one for each tap,
* ``write(kept, step, values)``: what is kept after the step,
* ``finish(kept, steps)``: the output after that many steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from theano.link.xla.context import CannotLower
from theano.support.data_classes import dataclass

# As many rows may be kept side by side and moved up at each step; more stay in a buffer.
ROWS_MOVED = 3


@dataclass(frozen=True)
class Storage:
    """The base of all kinds of storage.

    Attributes
    ----------
    initial
        The buffer as it was given, which is the output of a loop without steps.
    """

    initial: Any

    @property
    def value_count(self) -> int:
        """Return how many results of a step it takes."""
        return 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one result."""
        return self.initial.shape[1:]

    def fitted(self, value: Any) -> Any:
        """Return a step's result in the shape of a row, as NumPy would assign it."""
        import jax.numpy as jnp

        if value.shape == self.shape:
            return value
        try:
            return jnp.broadcast_to(value, self.shape)
        except ValueError:
            raise ValueError(
                f"An output of the Scan has changed shape: from {self.shape} to {value.shape}"
            ) from None

    def filled(self, rows: object, steps: object) -> Any:
        """Return the output whose rows a loop of so many steps has written, in order."""
        return rows


@dataclass(frozen=True)
class LastRows(Storage):
    """A state or trace of which nothing but the last few rows is asked for.

    Attributes
    ----------
    initial
        Its first ``history`` rows are the initial ones.
    taps
        What the step reads: -1 is the row of the step before.
    history
        How many steps the taps reach back.
    """

    taps: tuple[int, ...]
    history: int

    def start(self) -> tuple[Any, ...]:
        count = len(self.initial)
        # rows that no step has made yet are the oldest: they have gone when the loop is over
        order = (*range(self.history, count), *range(self.history))
        return tuple(self.initial[row] for row in order)

    def read(self, kept: Any, step: object) -> list[Any]:
        return [kept[tap] for tap in self.taps]

    def write(self, kept: Any, step: object, values: Sequence[Any]) -> Any:
        return (*kept, *values)[1:]

    def finish(self, kept: Any, steps: object) -> Any:
        import jax.numpy as jnp

        return jnp.stack(kept)


@dataclass(frozen=True)
class Rows(Storage):
    """A state or trace in its buffer, which is circular where it is shorter than the loop.

    Attributes
    ----------
    initial, taps, history
        As for `LastRows`.
    steps
        How many steps the loop makes at most.
    is_circular
        Whether the loop may write more rows than there are.
    has_spare
        Whether it may write fewer.
    """

    taps: tuple[int, ...]
    history: int
    steps: int
    is_circular: bool
    has_spare: bool

    @property
    def has_one_row_a_step(self) -> bool:
        """Return whether each step writes the next row, nothing else is in it, and no step reads it."""
        return self.history == 0 and not self.taps and self.has_all_rows

    @property
    def has_all_rows(self) -> bool:
        """Return whether it has the initial rows, then one of each step."""
        whole = not self.is_circular and not self.has_spare
        return whole and self.initial.shape[0] == self.history + self.steps

    def _row(self, step: Any, offset: int) -> Any:
        position = step + (self.history + offset)
        return position % len(self.initial) if self.is_circular else position

    def start(self) -> tuple[Any, ...]:
        # the row of the step before is kept next to the buffer, which is then only written
        if -1 in self.taps:
            return self.initial, self.initial[self.history - 1]
        return (self.initial,)

    def read(self, kept: Any, step: object) -> list[Any]:
        return [
            kept[1] if tap == -1 else row_of(kept[0], self._row(step, tap)) for tap in self.taps
        ]

    def write(self, kept: Any, step: object, values: Sequence[Any]) -> Any:
        (value,) = values
        rows = with_row(kept[0], value, self._row(step, 0))
        return (rows, value)[: len(kept)]

    def finish(self, kept: Any, steps: Any) -> Any:
        import jax.numpy as jnp

        rows, written = kept[0], steps + self.history
        if self.is_circular:
            # the oldest row is the one that would be overwritten next
            oldest = jnp.where(written > len(rows), written % len(rows), 0)
            rows = jnp.roll(rows, -oldest, axis=0)
        return self.filled(rows, steps)

    def filled(self, rows: Any, steps: Any) -> Any:
        """Return the rows, with zeros where there are more than the loop has written."""
        import jax.numpy as jnp

        if not self.has_spare:
            return rows
        positions = jnp.arange(len(rows)).reshape((-1,) + (1,) * (rows.ndim - 1))
        return jnp.where(positions < steps + self.history, rows, jnp.zeros((), rows.dtype))


@dataclass(frozen=True)
class RowsOfBlock(Storage):
    """A trace of some of the steps.

    Attributes
    ----------
    begin
        The first of them; it may be traced.
    """

    begin: Any

    def start(self) -> tuple[Any, ...]:
        return (self.initial,)

    def read(self, kept: object, step: object) -> list[Any]:
        return []

    def write(self, kept: Any, step: object, values: Sequence[Any]) -> Any:
        (value,) = values
        return (with_row(kept[0], value, step - self.begin),)

    def finish(self, kept: Any, steps: object) -> Any:
        return kept[0]


@dataclass(frozen=True)
class RowOfStep(Storage):
    """A trace of one step."""

    def start(self) -> tuple[Any, ...]:
        return ()

    def read(self, kept: object, step: object) -> list[Any]:
        return []

    def write(self, kept: object, step: object, values: Sequence[Any]) -> Any:
        (value,) = values
        return (value[None],)

    def finish(self, kept: Any, steps: object) -> Any:
        return kept[0]


@dataclass(frozen=True)
class MovingWindow(Storage):
    """Several rows of a buffer, read and written at each step, a row further each time (mit-mot).

    A row enters the window from the buffer as it was given, is read and written there for some
    steps, and is final when it leaves.

    Attributes
    ----------
    reads, writes
        Which rows a step reads and writes, counted from the row ``origin + step``.
    steps
        How many steps the loop makes.
    mark
        What memory is filled with that is written before it is read.
    """

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    steps: int
    mark: int
    first: int = field(init=False)
    past: int = field(init=False)

    def __post_init__(self) -> None:
        origin = -min(self.reads)
        taps = (*self.reads, *self.writes)
        object.__setattr__(self, "first", origin + min(taps))
        object.__setattr__(self, "past", origin + max(taps))
        rows = self.initial.shape[0]
        if origin < 0 or self.first < 0 or self.past + self.steps > rows:
            raise CannotLower(
                f"a buffer of {rows} rows where {self.steps} steps read the rows "
                f"{self.reads} and write the rows {self.writes} around their own"
            )

    @property
    def value_count(self) -> int:
        return len(self.writes)

    def _slot(self, tap: int) -> int:
        return tap - min(*self.reads, *self.writes)

    def start(self) -> Any:
        window = tuple(self.initial[row] for row in range(self.first, self.past))
        left = unwritten((self.steps, *self.shape), self.initial.dtype, self.mark)
        return left, window

    def _inside(self, kept: Any, step: Any) -> list[Any]:
        return [*kept[1], row_of(self.initial, step + self.past)]

    def read(self, kept: object, step: object) -> list[Any]:
        window = self._inside(kept, step)
        return [window[self._slot(tap)] for tap in self.reads]

    def write(self, kept: Any, step: object, values: Sequence[Any]) -> Any:
        window = self._inside(kept, step)
        for tap, value in zip(self.writes, values, strict=True):
            window[self._slot(tap)] = value
        leaving, *staying = window
        return with_row(kept[0], leaving, step), tuple(staying)

    def finish(self, kept: Any, steps: object) -> Any:
        import jax.numpy as jnp

        left, window = kept
        parts = [self.initial[: self.first], left, *(row[None] for row in window)]
        return jnp.concatenate([*parts, self.initial[self.past + self.steps :]])


@dataclass(frozen=True)
class WideWindow(MovingWindow):
    """The same for rows so far apart that moving all between them at each step is no good."""

    def start(self) -> Any:
        return self.initial

    def _position(self, step: Any, tap: int) -> Any:
        return step + (self.first + self._slot(tap))

    def read(self, kept: object, step: object) -> list[Any]:
        return [row_of(kept, self._position(step, tap)) for tap in self.reads]

    def write(self, kept: object, step: object, values: Sequence[Any]) -> Any:
        for tap, value in zip(self.writes, values, strict=True):
            kept = with_row(kept, value, self._position(step, tap))
        return kept

    def finish(self, kept: object, steps: object) -> Any:
        return kept


@dataclass(frozen=True)
class Value(Storage):
    """A state of which there are no rows, only the newest value, of any shape."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.initial.shape

    def fitted(self, value: Any) -> Any:
        if value.shape != self.shape:
            raise CannotLower(f"a state that changes its shape, {self.shape} to {value.shape}")
        return value

    def start(self) -> Any:
        return self.initial

    def read(self, kept: object, step: object) -> list[Any]:
        return [kept]

    def write(self, kept: object, step: object, values: Sequence[Any]) -> Any:
        (value,) = values
        return value

    def finish(self, kept: object, steps: object) -> Any:
        return kept


def unwritten(shape: tuple[int, ...], dtype: Any, mark: int) -> Any:
    """Memory for rows that will be written before they are read.

    XLA makes one array of equal ones, and copies it for each loop that writes to it; buffers with
    their own marks are filled once and not copied.
    """
    import jax.numpy as jnp

    # small enough for all types
    return jnp.full(shape, mark % 128, dtype)


def row_of(rows: object, position: object) -> Any:
    """One row, at a position that is in range."""
    from jax import lax

    return lax.dynamic_index_in_dim(rows, position, keepdims=False, allow_negative_indices=False)


def with_row(rows: object, row: object, position: object) -> Any:
    """Return the rows with one of them replaced."""
    from jax import lax

    return lax.dynamic_update_index_in_dim(
        rows, row, position, axis=0, allow_negative_indices=False
    )
