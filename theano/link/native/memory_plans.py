"""The plan of memory of loops and segments at the sizes of one call, as their C functions make it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from theano.link.native.ir.call_sizes import CallSizes, Given, UnknownSize
from theano.link.native.ir.ir import FIRST_ARRAY, FIRST_RESULT, Buffer
from theano.link.native.ir.prologue import BeginCall, PassNumber, ShowArray, ShowList
from theano.link.native.ir.symbolic import Choice, Item, Name, Size, compared
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.runtime.load import library

_RESULT = "_result"
_Element = Callable[[str, int], Any]


class CallMemory:
    """The work memory of a loop or segment for one call.

    Parameters
    ----------
    lowered
        A loop or segment after the passes.
    numbers
        The numbers that a loop is called with, by position.
    shapes
        The shapes of arrays that a segment is called with, by name.
    element
        The numbers in arrays, by the array's name and how many elements from its beginning.
    """

    def __init__(
        self,
        lowered: Loop | Segment,
        numbers: Callable[[int], int],
        shapes: Mapping[str, Sequence[int]],
        element: _Element,
    ):
        assert lowered.memory is not None
        self.lowered, self.plan = lowered, lowered.memory
        self._numbers, self.element = numbers, element
        self._loops: dict[str, CallMemory] = {}
        known: dict[str, Size] = {}
        for argument in lowered.rings:
            few = compared(Item("numbers", argument.first_size), "<=", argument.history)
            known[f"{argument.name}_ring_rows"] = Choice(few, argument.history + 1, 0)
        given = Given(self._number, shapes.__getitem__, element, _runtime_call)
        self.sizes = CallSizes(lowered.step.sizes, given, known)

    # ---- sizes ----

    def _number(self, array: str, position: int) -> int:
        if array == "numbers":
            return self._numbers(position)
        return self.loop(array.removesuffix(_RESULT)).result(position)

    def result(self, position: int) -> int:
        """Return what a loop's C function returns when it is asked what it needs."""
        if position == 1:
            return self.bytes
        assert isinstance(self.lowered, Loop)
        traces = [one for one in self.lowered.arguments if one.kind == "trace"]
        sizes = [size for one in traces for size in one.shape]
        return self.sizes.of(sizes[position - FIRST_RESULT])

    def loop(self, prefix: str) -> CallMemory:
        """Return the memory of the loop of which a call has this prefix."""
        if prefix not in self._loops:
            self._loops[prefix] = self._called(prefix)
        return self._loops[prefix]

    def _called(self, prefix: str) -> CallMemory:
        loop = self.lowered.step.loops[int(prefix[1:])]
        passed: dict[int, Size] = {}
        shown: dict[int, ShowArray | ShowList] = {}
        for entry in self.lowered.step.sizes.entries:
            if getattr(entry, "prefix", None) != prefix:
                continue
            if isinstance(entry, BeginCall):
                passed[1] = entry.steps
            elif isinstance(entry, PassNumber):
                passed[entry.position] = entry.size
            elif isinstance(entry, ShowArray | ShowList):
                shown[entry.position] = entry
        places = {one.name: (k, one) for k, one in enumerate(loop.arguments, FIRST_ARRAY)}

        def element(array: str, offset: int) -> Any:
            position, argument = places[array]
            if argument.constant is not None:
                return argument.constant.reshape(-1)[offset]
            return self._shown(shown.get(position), offset)

        return CallMemory(loop, lambda position: self.sizes.of(passed[position]), {}, element)

    def _shown(self, entry: ShowArray | ShowList | None, offset: int) -> Any:
        """Return a number that a loop looks at while it plans."""
        if isinstance(entry, ShowList):
            return self.sizes.of(Name(entry.numbers[offset]))
        if entry is not None and entry.number:
            return self.sizes.of(Name(entry.number))
        if entry is not None and entry.array:
            return self.element(entry.array, self.sizes.of(entry.offset) + offset)
        raise UnknownSize("an array that is computed before")

    # ---- the plan ----

    @cached_property
    def slots(self) -> list[int]:
        """The bytes of each slot."""
        return [int(self.sizes.of(slot.size)) for slot in self.plan.slots]

    @cached_property
    def bytes(self) -> int:
        """The bytes of work memory, as the runtime places the slots."""
        count = len(self.slots)
        factors = (ctypes.c_int64 * max(count, 1))(*self.slots)
        rows = [
            number
            for k, slot in enumerate(self.plan.slots)
            for number in (slot.first, slot.last, 1, k)
        ]
        table = (ctypes.c_int * max(len(rows), 1))(*rows)
        starts = (ctypes.c_int64 * max(count, 1))()
        return _runtime("plan")(factors, table, count, starts, count)

    def shape(self, buffer: Buffer) -> tuple[int, ...]:
        """Return the shape of a buffer."""
        return self.sizes.shape(buffer.shape)


def segment_memory(
    segment: Segment, shapes: Sequence[tuple[int, ...]], values: Sequence[np.ndarray | None]
) -> CallMemory:
    """Return the memory of a segment, from the shapes of its inputs and those values that are known."""
    named = [argument for argument, _ in segment.inputs]
    known = {
        one.name: value.T if one.in_columns and value is not None else value
        for one, value in zip(named, values, strict=True)
    }

    def element(array: str, offset: int) -> Any:
        value = known[array]
        if value is None:
            raise UnknownSize(f"the value of {array}")
        return value.reshape(-1)[offset]

    def no_numbers(position: int) -> int:
        raise UnknownSize(f"the number {position}")

    of_names = {one.name: shape for one, shape in zip(named, shapes, strict=True)}
    return CallMemory(segment, no_numbers, of_names, element)


def _runtime(name: str) -> Any:
    function = getattr(library(), f"tn_{name}")
    function.restype = ctypes.c_int64
    return function


def _runtime_call(name: str, operands: tuple[Any, ...]) -> Any:
    """Return what a function of the runtime returns."""
    if name == "correlation":
        return (ctypes.c_int64 * len(operands))(*operands)
    if not hasattr(library(), f"tn_{name}"):
        raise UnknownSize(f"what {name} finds in an array")
    return _runtime(name)(
        *(one if isinstance(one, ctypes.Array) else ctypes.c_int64(int(one)) for one in operands)
    )
