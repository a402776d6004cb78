"""Calls of small functions that are prepared once: `runtime/prepared_call.c` makes them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from pytensor.tensor.type import TensorType

from theano.link.native.ir.ir import FIRST_RESULT
from theano.link.native.ir.scalar_types import type_numbers
from theano.link.native.run import c_structures
from theano.link.native.run.calls import ALIGNMENT, NativeSegment
from theano.link.native.runtime.load import symbol

# More is not kept for the next call, and takes so long that nothing is gained.
_MOST_BYTES = 1 << 18
# Numbers that Python passes, as what an input of no dimension may be given.
_KINDS_OF_NUMBERS = "if"
# of Python's methodobject.h
_METH_FASTCALL = 0x80
# After so many calls of code that is not optimized it is asked whether there is better.
_BETWEEN_LOOKS = 1000


class PreparedCalls:
    """The preparation of calls of a function of one segment, once their sizes stay the same.

    Parameters
    ----------
    native
        The segment.
    inputs, outputs
        The function's variables.
    cells
        Where the inputs lie.
    updates
        Of the outputs that are new values of inputs: their positions, and those of the inputs.
    """

    def __init__(
        self,
        native: NativeSegment,
        inputs: Sequence[Any],
        cells: Sequence[list],
        outputs: Sequence[Any],
        updates: Mapping[int, int],
    ):
        self._native, self._inputs, self._cells = native, inputs, cells
        made = [passed.variable for passed in native.segment.outputs]
        self._results = [made.index(variable) for variable in outputs]
        # cells of shared variables, and which of what is made they get
        self._updates = [(cells[k], self._results[output]) for output, k in updates.items()]
        self._updated = set(updates)
        self._arguments: Mapping[int, bool] = {}
        self._wait = 2
        # how many more calls may be made before it is looked for better code; none if there is none
        self._left: Callable[[], int] | None = None

    @classmethod
    def of(
        cls,
        native: NativeSegment,
        inputs: Sequence[Any],
        cells: Sequence[list],
        outputs: Sequence[Any],
        updates: Mapping[int, int],
        overwritten: Collection[Any] = (),
    ) -> PreparedCalls | None:
        """Return them; None where a call does what is not prepared.

        Parameters
        ----------
        overwritten
            What may be overwritten besides shared variables with updates: it is no caller's.
        """
        made = [passed.variable for passed in native.segment.outputs]
        plain = all(type(v.type) is TensorType for v in inputs)
        computed = bool(outputs) and all(variable in made for variable in outputs)
        # each new value has its own memory, which becomes the shared variable's
        computed = computed and len({outputs[k] for k in updates}) == len(updates)
        computed = computed and not {outputs[k] for k in updates}.intersection(
            variable for k, variable in enumerate(outputs) if k not in updates
        )
        if not (plain and computed) or native.segment.may_stop_early:
            return None
        may_be_overwritten = {*overwritten, *(inputs[k] for k in updates.values())}
        if not may_be_overwritten.issuperset(native.overwritten):
            # the caller's own arrays
            return None
        return cls(native, inputs, cells, outputs, updates)

    def with_arguments(self, arguments: Mapping[int, bool]) -> PreparedCalls:
        """Return the same for calls that are given some inputs, and take the others from their cells.

        Parameters
        ----------
        arguments
            Of each input that is an argument, in their order, the position, and whether a number
            is one, too.
        """
        made = PreparedCalls(self._native, self._inputs, self._cells, [], {})
        made._arguments, made._updates = arguments, self._updates
        # new values are no results of a function
        made._results = [k for n, k in enumerate(self._results) if n not in self._updated]
        return made

    @property
    def is_settled(self) -> bool:
        """Return whether calls have had the same sizes for so long that others are likely to have them."""
        return self._native.settled >= self._wait and self._native.bytes_offered <= _MOST_BYTES

    def next_call(self) -> Callable[..., Any] | None:
        """Return what makes the next calls of the segment; None while they differ in sizes.

        It returns NotImplemented where a call is to be made in another way.
        """
        if not self.is_settled:
            return None
        if self._left is None or self._left():
            # for a function whose sizes change all the time it is not worth it
            self._wait *= 2
        return self._prepared()

    def _prepared(self) -> Callable[..., Any]:
        native = self._native
        room_for = [*zip(native.shapes, native.dtypes, strict=True)]
        kept = [native.take_spare(k) for k in range(len(room_for))]
        work = np.empty(native.room + ALIGNMENT, np.uint8)
        given = len(native.inputs)
        items = (ctypes.c_void_p * (given + len(kept)))()
        for k, passed in enumerate(native.segment.inputs):
            if passed.variable is None:
                items[k] = id(native.inputs[k][0])
        entries, lists = self._entries()
        results = (ctypes.c_int32 * len(self._results))(*self._results)
        updates = (c_structures.PreparedUpdate * len(self._updates))()
        for update, (cell, made) in zip(updates, self._updates, strict=True):
            update.list, update.made = id(cell), made
        taken = [-1 if k is None else k for k in native.overwrites]
        overwritten = (ctypes.c_int32 * len(taken))(*taken)
        lengths = [length for shape in native.shapes for length in shape]
        expected = (ctypes.c_int64 * len(lengths))(*lengths)
        report = (ctypes.c_int64 * native.numbers_reported)()
        call = c_structures.Prepared(
            ctypes.addressof(_interpreter()),
            ctypes.cast(native.function, ctypes.c_void_p).value,
            ctypes.addressof(native.table),
            -(-work.ctypes.data // ALIGNMENT) * ALIGNMENT,
            native.room,
            ctypes.addressof(report),
            ctypes.addressof(report) + FIRST_RESULT * ctypes.sizeof(ctypes.c_int64),
            ctypes.addressof(entries),
            ctypes.addressof(items),
            id(kept),
            id(room_for),
            ctypes.addressof(results),
            ctypes.addressof(updates),
            None if native.takes_offers else ctypes.addressof(overwritten),
            ctypes.addressof(expected),
            _BETWEEN_LOOKS if native.waits else 0,
            len(self._arguments),
            len(entries),
            given,
            len(kept),
            len(self._results),
            len(self._updates),
            len(lengths),
        )
        self._left = left = (lambda: call.left) if native.waits else None
        native.prepared_calls = left and (lambda: _BETWEEN_LOOKS - left())
        keep = [
            native,
            native.library,
            kept,
            room_for,
            work,
            items,
            entries,
            lists,
            results,
            updates,
            report,
            call,
        ]
        keep += [overwritten, expected, [cell for cell, _ in self._updates]]
        return _function([np.frombuffer(call, np.uint8), *keep])  # type: ignore[call-overload]

    def _entries(self) -> tuple[ctypes.Array, list[Any]]:
        """Return what is to be read in a call, arguments first, and what that refers to."""
        position = {p.variable: k for k, p in enumerate(self._native.segment.inputs)}
        order = [*self._arguments, *(set(range(len(self._inputs))) - set(self._arguments))]
        entries = (c_structures.PreparedInput * len(order))()
        lists: list[Any] = []
        for entry, k in zip(entries, order, strict=True):
            kind = self._inputs[k].type
            shape = (ctypes.c_int64 * kind.ndim)(*(-1 if n is None else n for n in kind.shape))
            number = np.empty((), kind.dtype)
            takes_numbers = (
                self._arguments.get(k, False)
                and not kind.ndim
                and kind.numpy_dtype.kind in _KINDS_OF_NUMBERS
                and kind.dtype != "float16"
            )
            lists += [shape, number, self._cells[k]]
            entry.argument = order.index(k) if k in self._arguments else -1
            entry.position = position.get(self._inputs[k], -1)
            first, other = type_numbers(kind.dtype)
            entry.expected = (kind.ndim, first, other, kind.numpy_dtype.itemsize, 0)
            static = any(n is not None for n in kind.shape)
            entry.shape = ctypes.addressof(shape) if static else None
            entry.list = id(self._cells[k])
            entry.number = id(number) if takes_numbers else None
        return entries, lists


def _address(name: str) -> int | None:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value


@cache
def _interpreter() -> c_structures.Interpreter:
    """Return what the runtime uses of Python."""
    functions = (
        *("PyEval_SaveThread", "PyEval_RestoreThread", "Py_IncRef", "Py_DecRef", "PyObject_Call"),
        *("PyList_New", "PyList_SetItem", "PyFloat_AsDouble", "PyLong_AsLongLongAndOverflow"),
    )
    objects = (NotImplemented, np.ndarray, float, np.float64, int, np.empty)
    return c_structures.Interpreter(*map(_address, functions), *map(id, objects))


@cache
def _method() -> c_structures.Method:
    return c_structures.Method(
        b"prepared_call", symbol("tn_call_prepared"), _METH_FASTCALL, b"Call what is prepared."
    )


def _function(of: list[Any]) -> Callable[..., Any]:
    """Return Python's own kind of function in C, with what the list holds."""
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
    )
    make = prototype(("PyCFunction_NewEx", ctypes.pythonapi))
    return make(ctypes.addressof(_method()), of, None)
