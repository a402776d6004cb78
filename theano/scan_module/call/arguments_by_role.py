"""A loop's arguments, each in one form: arrays with taps, states with taps, invariants."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable
from pytensor.graph.type import HasShape
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.scan_module.loop.roles import MIT_SOT, SIT_SOT
from theano.support.data_classes import dataclass

TRACE, UNTRACED = "trace", "untraced"


@dataclass(frozen=True, eq=False)
class GivenSequence:
    """An array that is iterated over: step ``t`` reads ``array[t + tap]`` for each of its taps.

    The first step is the first for which no tap is before the array; tap 0 counts as one of them.
    """

    array: TensorVariable
    taps: tuple[int, ...]

    def start(self, tap: int) -> int:
        """Return the element that the first step reads at a tap."""
        return tap - min(0, *self.taps)

    def end(self, tap: int) -> int | None:
        """Return the slice of all elements that steps read at a tap ends there."""
        return tap - max(0, *self.taps) or None

    def rows(self, tap: int, backwards: bool) -> TensorVariable:
        """Return the elements that the steps read at a tap, in the order of the steps."""
        start, end = self.start(tap), self.end(tap)
        rows = self.array[start:end]
        if backwards:
            rows = rows[::-1]
        if self.array.name is not None:
            rows.name = f"{self.array.name}[{start}:{'' if end is None else end}]"
        return rows

    def row_of_one_step(self, tap: int, backwards: bool) -> Variable:
        """Return what the only step of a loop reads at a tap."""
        return self.array[(self.end(tap) or 0) - 1 if backwards else self.start(tap)]


@dataclass(frozen=True, eq=False)
class GivenResult:
    """A result of a step at one place: a state with its first values, or a value that is kept."""

    initial: Variable | None
    taps: tuple[int, ...]

    @property
    def kind(self) -> str:
        """The role of the result, and of the state, if it is one, in a loop."""
        if self.initial is None:
            return TRACE
        if self.taps != (-1,):
            return MIT_SOT
        return SIT_SOT if isinstance(self.initial.type, HasShape) else UNTRACED

    @property
    def span(self) -> int:
        """Return how many steps back the result is read."""
        return -min(self.taps, default=0)

    def row_of_first_step(self, tap: int) -> Variable:
        """Return what the first step reads at a tap."""
        assert self.initial is not None
        if self.kind != MIT_SOT:
            return self.initial
        return known_tensor(self.initial)[tap + self.span]


@dataclass(frozen=True, eq=False)
class Given:
    """The arguments of a loop."""

    sequences: tuple[GivenSequence, ...]
    results: tuple[GivenResult, ...]
    invariants: tuple[Variable, ...]

    @classmethod
    def of(cls, sequences: object, outputs_info: object, non_sequences: object) -> Given:
        """Return what ``scan`` was given, which was checked before.

        Parameters
        ----------
        sequences, outputs_info, non_sequences
            As given to ``scan``.
        """
        return cls(
            tuple(map(_sequence, listed(sequences))),
            tuple(map(_result, listed(outputs_info))),
            tuple(map(_variable, listed(non_sequences))),
        )

    @property
    def variables(self) -> list[Variable]:
        """All arrays and first values."""
        initial = [r.initial for r in self.results if r.initial is not None]
        return [*(s.array for s in self.sequences), *initial, *self.invariants]

    def arguments(self) -> list[Variable]:
        """Return new variables for what a step of the loop reads, in the order of the step's arguments."""
        rows = [_row(s.array, t, "[t{:+}]" if t else "[t]") for s in self.sequences for t in s.taps]
        for result in self.results:
            for tap in result.taps:
                assert result.initial is not None
                if result.kind == MIT_SOT:
                    rows.append(_row(result.initial, tap, "[t{:+}]"))
                else:
                    rows.append(_like(result.initial, "[t-1]"))
        return rows

    def arguments_of_one_step(self, backwards: bool) -> list[Variable]:
        """Return what the only step of a loop is called with, in the same order."""
        read = [s.row_of_one_step(tap, backwards) for s in self.sequences for tap in s.taps]
        return read + [r.row_of_first_step(tap) for r in self.results for tap in r.taps]


def listed(given: object) -> list[Any]:
    """One thing or several as a list; none where nothing is given."""
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def taps_of(entry: dict[str, Any]) -> tuple[int, ...]:
    """Return the taps that an entry names: one, or those of a list, a range or an array.

    Raises
    ------
    TypeError
        If they are not integers.
    """
    given = entry.get("taps")
    taps = list(given) if isinstance(given, range | np.ndarray) else listed(given)
    if not all(isinstance(tap, Integral) and not isinstance(tap, bool) for tap in taps):
        raise TypeError(f"taps: expected integers, such as [-2, -1], got {given!r}")
    return tuple(int(tap) for tap in taps)


def _sequence(entry: object) -> GivenSequence:
    if not isinstance(entry, dict):
        return GivenSequence(known_tensor(_variable(entry)), (0,))
    return GivenSequence(known_tensor(_variable(entry["input"])), taps_of(entry) or (0,))


def _result(entry: object) -> GivenResult:
    if not isinstance(entry, dict):
        entry = {"initial": entry}
    if entry.get("initial") is None:
        return GivenResult(None, ())
    return GivenResult(_variable(entry["initial"]), taps_of(entry) or (-1,))


def _variable(given: Any) -> Variable:
    return given if isinstance(given, Variable) else as_tensor_variable(given)


def _row(rows: Variable, tap: int, place: str) -> Variable:
    """Return a new variable for an element of an array, named after the array and the place."""
    kind: Any = rows.type
    row = kind.clone(shape=kind.shape[1:])()
    row.name = None if rows.name is None else rows.name + place.format(tap)
    return row


def _like(value: Variable, place: str) -> Variable:
    return value.type(name=None if value.name is None else value.name + place)
