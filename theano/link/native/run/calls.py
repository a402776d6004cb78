"""Call a segment's C function on the arrays that lie in storage cells."""

from __future__ import annotations

import copy
import ctypes
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from theano.link.native.build.loaded import Library, address_in
from theano.link.native.build.optimized_later import OptimizedLater
from theano.link.native.ir.ir import FIRST_RESULT, CallRefused
from theano.link.native.lowering.segment import SegmentCall, takes_offers
from theano.link.native.run.interrupts import (
    is_main_thread,
    raise_pending,
    stopping,
    watch_signals,
)
from theano.link.native.run.lapack import offer_lapack
from theano.link.native.run.memory_of_arrays import (
    UNUSED,
    MemoryOfInputs,
    fits,
    is_whole,
    may_be_next,
)
from theano.link.native.run.numpy_sorting import offer_order
from theano.link.native.runtime.header import (
    COMMITTED,
    CONVERT,
    INTERRUPTED,
    OTHER_ROOM,
    REFUSED,
    RUNTIME_FUNCTIONS,
)
from theano.link.native.runtime.load import symbol

ALIGNMENT = 64
# of optimized code: one that is not takes longer than it takes to optimize it
NANOSECONDS_WORTH_WAITING = 20e6


@cache
def layout_is_known() -> bool:
    """Return whether this Python keeps lists and arrays where generated code reads them."""
    array = np.zeros((2, 3))
    cell = [array]

    def word(address: int, position: int) -> int:
        size = ctypes.sizeof(ctypes.c_void_p)
        return ctypes.c_void_p.from_address(address + position * size).value or 0

    # tn_array and tn_array_in of shared.inc
    item_is_there = word(word(id(cell), 3), 0) == id(array)
    return item_is_there and word(id(array), 2) == array.ctypes.data


# what generated code exports: arrays, runtime, class of arrays, work memory, results, whether to run
_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5, ctypes.c_int64)


# stands for this process: after a fork nothing runs that ran in another thread of the parent
_process = object()


def _be_another_process() -> None:
    global _process
    _process = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_be_another_process)


class CheckFailed(Exception):
    """A check that the code makes while it computes failed; the cause is the error to raise."""


@cache
def runtime_table() -> ctypes.Array:
    """Return the addresses of the runtime's functions, in the order that generated code expects."""
    offer_lapack()
    offer_order()
    return (ctypes.c_void_p * len(RUNTIME_FUNCTIONS))(*map(symbol, RUNTIME_FUNCTIONS))


class NativeSegment:
    """A segment that is bound to the cells of its inputs and outputs.

    Parameters
    ----------
    segment, library
        How the segment is called, and the library that holds its function.
    inputs, outputs
        The cells of those variables, in the order of the segment's.
    states
        For each output the cell of the state that it is the next value of, or none.
    later
        What will take the library's place.
    """

    def __init__(
        self,
        segment: SegmentCall,
        library: Library,
        inputs: Sequence[list],
        outputs: Sequence[list],
        states: Sequence[list | None] | None = None,
        later: OptimizedLater | None = None,
    ):
        self.segment, self.table, self._later = segment, runtime_table(), later
        self._has_run = False
        self._bind(library)
        watch_signals()
        self._stopping = stopping()
        given = iter(inputs)
        self.inputs = [
            next(given) if passed.variable is not None else [passed.constant]
            for passed in segment.inputs
        ]
        self.outputs = list(outputs)
        self._states = states or [None] * len(self.outputs)
        self.kept: list[np.ndarray | None] = [None] * len(self.outputs)
        self.dtypes = [np.dtype(output.dtype) for output in segment.outputs]
        self.overwrites = [output.overwrites for output in segment.outputs]
        self._ranks = [output.ndim for output in segment.outputs]
        self.numbers_reported = FIRST_RESULT + sum(self._ranks)
        self._result = (ctypes.c_int64 * self.numbers_reported)()
        self.takes_offers = takes_offers(segment)
        self._work = np.empty(0, np.uint8)
        # where aligned work memory begins, and the bytes from there on
        self._work_address, self.room = 0, 0
        self._addresses = (ctypes.addressof(self.table), id(np.ndarray))
        self._result_address = ctypes.addressof(self._result)
        self._running_in: object = None
        # how many calls, up to the last one, have found the room of the one before, and its shapes
        self.settled = 0
        # how many prepared calls there were since the one before, if better code may come
        self.prepared_calls: Callable[[], int] | None = None
        self.shapes: list[tuple[int, ...]] = []

    @property
    def library(self) -> Library:
        """Return where the function is."""
        return self._library

    @property
    def waits(self) -> bool:
        """Return whether better code may come."""
        return self._later is not None

    @property
    def bytes_offered(self) -> int:
        """The bytes of the results and the work memory of the last call."""
        sizes = zip(self.shapes, self.dtypes, strict=True)
        return sum(math.prod(shape) * dtype.itemsize for shape, dtype in sizes) + self.room

    @property
    def overwritten(self) -> set[Any]:
        """The variables whose memory the graph, or an output, may take."""
        taken = {k for k in self.overwrites if k is not None}
        return {self.segment.inputs[k].variable for k in taken.union(self.segment.destroyed)}

    def _bind(self, library: Library) -> None:
        self._library = library
        self.function = _ENTRY(address_in(library, self.segment.name))

    def optimize(self) -> None:
        """Have optimized code from now on, if that can be compiled."""
        if self._later is not None:
            self._take(self._later.wait())
            self._later = None

    def _take(self, library: ctypes.CDLL | None) -> None:
        if library is not None:
            self._later = None
            self._bind(library)

    def __call__(self) -> None:
        """Compute the outputs into their cells.

        Raises
        ------
        CallRefused
            When the nodes must run one by one; nothing was changed.
        CheckFailed
            When an operation fails; no shared variable has changed.
        RuntimeError
            When a call has not ended; those of `theano.function` take turns.
        """
        if self._running_in is _process:
            raise RuntimeError(
                "The function is called, by a signal handler or another thread, while another "
                "call of it runs. Compile it with theano.function, or copy it: f.copy()"
            )
        self._running_in = _process
        try:
            self._run()
        finally:
            self._running_in = None

    def _run(self) -> None:
        later, begin = self._later, 0.0
        if later is not None:
            if self._has_run:
                # who calls a function once need not wait for what the others gain
                self._take(later.poll())
            begin = time.perf_counter()
        self._has_run = True
        # held until the end, whatever other threads put into the cells meanwhile
        arrays = [cell[0] for cell in self.inputs]
        settled, before = self.settled, self.shapes
        status = self._enter_with_offers(arrays) if self.takes_offers else OTHER_ROOM
        self.settled = self.settled + 1 if status == 0 else 0
        if status == OTHER_ROOM:
            status = self._enter_with_room(arrays)
            if not self.takes_offers and not status and self.shapes == before:
                self.settled = settled + 1
        if later is not None:
            calls = 1 if self.prepared_calls is None else 1 + self.prepared_calls()
            later.seconds += (time.perf_counter() - begin) * calls
            self.prepared_calls = None
        if self._stopping.value and is_main_thread():
            # a product was left in the middle, whatever the rest came to
            status = INTERRUPTED
        if status:
            self._check(status)
        if self.segment.may_stop_early:
            self._cut_outputs()

    def _enter_with_offers(self, arrays: list) -> int:
        """Compute into the results of the call before, or new ones as large where they are used."""
        kept = self.kept
        for k, cell in enumerate(self.outputs):
            cell[0] = None
            array = kept[k]
            if array is None:
                return OTHER_ROOM
            # a list has it, too
            if sys.getrefcount(array) > UNUSED + 1:
                kept[k] = np.empty(array.shape, array.dtype)
        status = self._enter(arrays + kept, ~self.room)
        if status <= CONVERT and status > REFUSED:
            return OTHER_ROOM
        if not status:
            for k, (cell, array) in enumerate(zip(self.outputs, kept, strict=True)):
                cell[0], state = array, self._states[k]
                if state is not None:
                    # its value makes room for the next one
                    kept[k] = state[0] if may_be_next(state[0], array) else None
        return status

    def _enter_with_room(self, arrays: list) -> int:
        """Ask for the sizes of results, make room for them, and compute."""
        converted = False
        status = self._enter(arrays, 0)
        while status <= CONVERT and status > REFUSED:
            arrays[CONVERT - status] = self._converted(arrays, CONVERT - status)
            converted = True
            status = self._enter(arrays, 0)
        self._check(status)
        if self._result[0] > NANOSECONDS_WORTH_WAITING:
            self.optimize()
        try:
            self._make_outputs(arrays, overwrite=not converted)
            self._make_work_memory()
        except (MemoryError, ValueError) as error:
            # the operation that needs so much says so itself
            raise CallRefused(str(error)) from None
        return self._enter([*arrays, *(cell[0] for cell in self.outputs)], 1)

    @contextmanager
    def nothing_overwritten(self) -> Iterator[None]:
        """Have copies in place of the inputs that the nodes of the segment may overwrite."""
        cells = [self.inputs[position] for position in self.segment.destroyed]
        values: list[Any] = [cell[0] for cell in cells]
        try:
            for cell, value in zip(cells, values, strict=True):
                cell[0] = copy.deepcopy(value)
            yield
        finally:
            for cell, value in zip(cells, values, strict=True):
                cell[0] = value

    def _enter(self, arrays: list, run: int) -> int:
        return self.function(
            id(arrays), *self._addresses, self._work_address, self._result_address, run
        )

    def _make_work_memory(self) -> None:
        needed = self._result[1]
        if self.room < needed:
            self._work = np.empty(needed + ALIGNMENT, np.uint8)
            begin = self._work.ctypes.data
            self._work_address = -(-begin // ALIGNMENT) * ALIGNMENT
            self.room = needed

    def _converted(self, arrays: list, position: int) -> np.ndarray:
        """Return a copy of an array that has an unsuitable layout."""
        wanted, value = self.segment.inputs[position], arrays[position]
        array = np.array(value, order="F" if wanted.in_columns else "C", copy=True)
        if array.dtype != wanted.dtype:
            array = array.astype(array.dtype.newbyteorder("="))
        wrong = array.dtype != wanted.dtype or array.ndim != wanted.ndim
        if wrong or (type(value) is np.ndarray and fits(value, wanted)):
            raise CallRefused(f"{wanted.name} has another type")
        return array

    def has_committed(self) -> bool:
        """Return whether the last call has written into shared variables."""
        return self.segment.commits and self._result[1] == COMMITTED

    def forget_commit(self) -> None:
        """Forget the last commit: a call begins."""
        self._result[1] = 0

    def bytes_kept(self) -> tuple[int, int]:
        """Return what is kept for the next call: of outputs, and of work memory."""
        return sum(array.nbytes for array in self.kept if array is not None), self._work.nbytes

    def _check(self, status: int) -> None:
        if status > 0:
            raise CallRefused(self.segment.checks[status - 1].text)
        if status == INTERRUPTED:
            raise_pending()
        if status == REFUSED:
            raise CallRefused("a condition inside a loop")
        if status < 0:
            error = self.segment.errors[-1 - status]
            if error.kind is CallRefused:
                raise CallRefused(error.text)
            step = f", in step {self._result[0]}" if error.in_loop else ""
            raise CheckFailed from error.kind(f"{error.text}{step}")

    def _make_outputs(self, arrays: list, overwrite: bool) -> None:
        """Arrays for the outputs; those of the call before, if nobody has them any more.

        The next value of a state takes the place of its value, which is kept for the next call.
        """
        position = FIRST_RESULT
        memory = MemoryOfInputs(arrays)
        shapes: list[tuple[int, ...]] = []
        for k, (cell, dtype, rank) in enumerate(
            zip(self.outputs, self.dtypes, self._ranks, strict=True)
        ):
            shape = tuple(self._result[position : position + rank])
            position += rank
            shapes.append(shape)
            cell[0] = None
            taken = self.overwrites[k]
            if overwrite and taken is not None and self._may_fill(k, arrays[taken], memory, shape):
                cell[0] = arrays[taken]
                continue
            array = self.kept[k]
            self.kept[k] = None
            if array is None or array.shape != shape or sys.getrefcount(array) > UNUSED:
                array = np.empty(shape, dtype)
            state, cell[0] = self._states[k], array
            if state is None:
                self.kept[k] = array
            elif is_whole(state[0], dtype):
                self.kept[k] = state[0]
        self.shapes = shapes

    def take_spare(self, k: int) -> np.ndarray:
        """Return room for an output as large as the last one: what is kept for a state, or a new array."""
        shape, spare = self.shapes[k], self.kept[k]
        if self._states[k] is None or spare is None or spare.shape != shape:
            return np.empty(shape, self.dtypes[k])
        self.kept[k] = None
        return spare

    def _may_fill(self, k: int, array: Any, memory: MemoryOfInputs, shape: tuple[int, ...]) -> bool:
        """Return whether an output may take the memory of an input."""
        if not array.flags.writeable:
            return False
        # a copy of the whole input has its shape
        same_shape = not self.segment.outputs[k].element_by_element or array.shape == shape
        return same_shape and not memory.is_shared(array)

    def _cut_outputs(self) -> None:
        position = FIRST_RESULT
        for cell, rank in zip(self.outputs, self._ranks, strict=True):
            if rank and self._result[position] < len(cell[0]):
                cell[0] = cell[0][: self._result[position]]
            position += rank


def native_or_one_by_one(native: NativeSegment, nodes: Callable[[], None]) -> Callable[[], None]:
    """Return a function that runs native code, or the nodes one by one where that refuses or fails."""

    def run() -> None:
        try:
            native()
        except CallRefused:
            with native.nothing_overwritten():
                nodes()
        except CheckFailed as failed:
            # the operation's own error says which one failed, and why
            with native.nothing_overwritten():
                nodes()
            assert failed.__cause__ is not None
            raise failed.__cause__ from None

    return run
