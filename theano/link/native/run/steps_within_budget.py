"""The number of steps that the loops of a function keep in a call, so that it stays below a budget of memory.

The more steps are kept, the fewer are computed again. The others run in segments: a short one takes
less memory than a long one, and the states between many segments more than those between few. So a
length is taken that is a few times that with which both together take the least, and then as many
steps are kept as the budget allows. What a choice takes in memory says the plan of the function.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable

from theano.configparser import caller_stacklevel
from theano.link.native.memory_of_function import FunctionMemory
from theano.scan_module.budget.chosen_steps import ALL_STEPS, KEPT, LENGTH, ChosenSteps
from theano.scan_module.report.memory_use import UnknownMemory

MEBIBYTE = 2**20
# segments are so many times as long as those that take the least, where the budget allows that
LONGER = 4
# how far from the most that a budget allows a choice may be
CLOSE = 0.02
# so many numbers are tried before those between two of them
TRIED = 16
# choices for so many sizes are remembered
REMEMBERED = 256


class StepsWithinBudget:
    """Decides before each call how many steps loops keep; a choice is remembered for its sizes.

    Parameters
    ----------
    memory
        What calls of the function take.
    storage_map
        The cells of its variables.
    chosen
        The inputs that hold what is decided.
    """

    def __init__(
        self,
        memory: FunctionMemory,
        storage_map: Mapping[Variable, list],
        chosen: Mapping[str, tuple[Variable, ChosenSteps]],
    ):
        self._memory, inputs = memory, memory.fgraph.inputs
        self._cells = [storage_map[variable] for variable in inputs]
        self._places = {what: inputs.index(v) for what, (v, _) in chosen.items()}
        self._bytes, self._loops = chosen[KEPT][1].bytes, chosen[KEPT][1].loops
        self._choices: dict[tuple, tuple[int, int]] = {}

    def __call__(self) -> None:
        """Set the numbers of steps for the arguments that are there now.

        Raises
        ------
        MemoryError
            If there are none with which the call stays below the budget.
        """
        values = [cell[0] for cell in self._cells]
        sizes = tuple(
            _size_of(value) for k, value in enumerate(values) if k not in self._places.values()
        )
        if sizes not in self._choices:
            if len(self._choices) == REMEMBERED:
                self._choices.clear()
            self._choices[sizes] = self._chosen(values)
        for what, number in zip((KEPT, LENGTH), self._choices[sizes], strict=True):
            if what in self._places:
                self._cells[self._places[what]][0] = np.asarray(number, np.int64)

    def _chosen(self, values: list[Any]) -> tuple[int, int]:
        """Return how many steps to keep, and how many a segment has."""

        def takes(kept: int, length: int) -> int:
            return self._memory.bytes(self._with(values, kept, length))

        try:
            needed = takes(ALL_STEPS, 1)
            if needed <= self._bytes:
                return ALL_STEPS, 1
            if self._loops:
                steps = self._memory.longest_loop(self._with(values, 0, 1))
                length, least = _least(steps, lambda n: takes(steps % n, n))
                needed = min(needed, least)
                if least <= self._bytes:
                    length = self._most(length, LONGER * length, lambda n: takes(steps % n, n))
                    return self._most(steps % length, steps, lambda n: takes(n, length)), length
        except UnknownMemory as reason:
            warnings.warn(
                "memory_budget has no effect: the memory of a call is not known before it,"
                f" since it depends on {reason}",
                stacklevel=caller_stacklevel(),
            )
            return ALL_STEPS, 1
        raise MemoryError(
            f"memory_budget: with arguments of these sizes the function takes at least"
            f" {needed / MEBIBYTE:.4g} MiB; the budget is {self._bytes / MEBIBYTE:.3g} MiB"
        )

    def _with(self, values: list[Any], kept: int, length: int) -> list[Any]:
        """Return the values of the inputs, with these numbers among them."""
        given = list(values)
        for what, number in zip((KEPT, LENGTH), (kept, length), strict=True):
            if what in self._places:
                given[self._places[what]] = np.asarray(number, np.int64)
        return given

    def _most(self, least: int, most: int, takes: Callable[[int], int]) -> int:
        """Return about the largest number that the budget allows; it allows the least.

        More steps may take less, from where the engine does them in blocks: so some are tried from above.
        """
        tried = [least + (most - least) * k // TRIED for k in range(TRIED, 0, -1)]
        number, above = least, tried[-1]
        for k, candidate in enumerate(tried):
            if takes(candidate) <= self._bytes:
                number, above = candidate, tried[max(k - 1, 0)]
                break
        while above - number > max(1, CLOSE * number):
            middle = (number + above) // 2
            if takes(middle) <= self._bytes:
                number = middle
            else:
                above = middle
        return number


def _least(steps: int, takes: Callable[[int], int]) -> tuple[int, int]:
    """Return the length of segments with which a call takes the least, and what it takes."""
    powers = [2**k for k in range(max(steps, 1).bit_length())]
    best = min(powers, key=takes)
    near = [best * k // 8 for k in (5, 6, 7, 8, 9, 10, 12)]
    bytes_, length = min((takes(n), n) for n in near if 0 < n <= steps)
    return length, bytes_


def _size_of(value: Any) -> Any:
    """Return what of an argument sizes may depend on."""
    shape = getattr(value, "shape", None)
    if shape == () and np.issubdtype(value.dtype, np.integer):
        return int(value)
    return shape
