"""Run a compiled loop on NumPy arrays, with the semantics of PyTensor's Scan."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.scan.op import Scan

from theano.link.native.emit_c import FIRST_ARRAY, FIRST_RESULT, FUNCTION, RUNTIME_FUNCTIONS
from theano.link.native.loop import Argument, Loop
from theano.link.native.runtime.load import symbol

ALIGNMENT = 64


class CallRefused(Exception):
    """The arrays of this call are not what the code was written for."""


def runtime_table() -> ctypes.Array:
    """The addresses of the runtime's functions, in the order that generated code expects."""
    return (ctypes.c_void_p * len(RUNTIME_FUNCTIONS))(*map(symbol, RUNTIME_FUNCTIONS))


class NativeLoop:
    """A Scan whose steps all run in one call of compiled code.

    Parameters
    ----------
    loop, library
        The lowered loop and its compiled text.
    op
        The Scan; says which states are overwritten in place.
    """

    def __init__(self, loop: Loop, library: ctypes.CDLL, op: Scan):
        self.loop, self.op, self.info = loop, op, op.info
        self.function = getattr(library, FUNCTION)
        self.function.restype = ctypes.c_int64
        self.function.argtypes = [ctypes.c_void_p] * 3
        self._library = library
        self._table = runtime_table()
        self._spare: list[np.ndarray] = []
        arguments = loop.arguments
        self.sequences = [a for a in arguments if a.kind == "sequence"]
        self.states = [a for a in arguments if a.kind in ("mit_mot", "ring")]
        self.traces = [a for a in arguments if a.kind == "trace"]
        self.untraced = [a for a in arguments if a.kind == "untraced"]
        self.invariants = [a for a in arguments if a.kind == "invariant" and a.constant is None]
        self.constants = [a for a in arguments if a.constant is not None]
        self.result_count = FIRST_RESULT + sum(len(a.shape) for a in self.traces)
        self.positions = {id(a): k + FIRST_ARRAY for k, a in enumerate(arguments)}

    # ---- binding ----

    def __call__(self, inputs: Sequence[Any], outputs: list[list]) -> None:
        """Compute the outputs of the Scan node into their storage.

        Raises
        ------
        CallRefused
            When PyTensor's own Scan must take the call; nothing was changed.
        """
        op, info = self.op, self.info
        steps = int(inputs[0])
        if steps < 0:
            raise CallRefused("a negative number of steps")
        call = _Call(self)
        call.numbers[1] = steps
        for argument, value in zip(self.sequences, inputs[1:], strict=False):
            if value.shape[0] < steps:
                raise CallRefused(f"{argument.name} is shorter than the number of steps")
            call.bind_rows(argument, value)
        states = inputs[op.seqs_arg_offset : op.untraced_sit_sot_arg_offset]
        others = inputs[op.nit_sot_arg_offset + info.n_nit_sot :]
        for argument, value in zip(self.invariants, others, strict=True):
            call.bind_invariant(argument, value)
        for argument in self.constants:
            assert argument.constant is not None
            call.bind_invariant(argument, argument.constant)
        lengths = [int(n) for n in inputs[op.nit_sot_arg_offset :][: info.n_nit_sot]]
        untraced = inputs[op.untraced_sit_sot_arg_offset :][: info.n_untraced_sit_sot]
        self._check_states(steps, states, lengths)
        for argument, value in zip(self.states, states, strict=True):
            call.sizes_of_state(argument, value.shape[0], value.shape[1:])
        for argument, value in zip(self.untraced, untraced, strict=True):
            call.sizes_of_state(argument, 1, np.shape(value))
        for argument, length in zip(self.traces, lengths, strict=True):
            call.numbers[argument.first_size] = length
        if steps == 0:
            self._no_steps(states, untraced, outputs)
            return
        call.plan()
        new_states = [
            self._state_buffer(k, argument, value, outputs[k])
            for k, (argument, value) in enumerate(zip(self.states, states, strict=True))
        ]
        first = len(self.states)
        new_traces = call.traces(lengths, [cell[0] for cell in outputs[first:]])
        first += len(self.traces)
        new_untraced = [self._untraced_buffer(first + k, value) for k, value in enumerate(untraced)]
        arrays = [*new_states, *new_traces, *new_untraced]
        for argument, array in zip(
            [*self.states, *self.traces, *self.untraced], arrays, strict=True
        ):
            call.pointer(argument, array)
        done = call.run()
        self._finish(steps, done, arrays, outputs, states)

    def _check_states(self, steps: int, states: Sequence[np.ndarray], lengths: list[int]) -> None:
        for argument, value in zip(self.states, states, strict=True):
            taps = argument.taps
            needed = argument.history
            if argument.kind == "mit_mot":
                needed = max(1, steps + max(taps) - min(taps))
            if value.shape[0] < needed:
                raise CallRefused(f"{argument.name} has too few rows")
        if any(length < 1 for length in lengths) and steps:
            raise CallRefused("a trace of no rows")

    def _state_buffer(self, k: int, argument: Argument, value: np.ndarray, cell: list):
        """The array that a state is computed in, with the initial values in it."""
        if k in self.op.destroy_map:
            if value.flags.c_contiguous and value.flags.aligned and value.flags.writeable:
                return value
            return np.array(value, order="C")
        if argument.kind == "mit_mot":
            return np.array(value, order="C")
        result = np.empty(value.shape, value.dtype)
        result[: argument.history] = value[: argument.history]
        return result

    def _untraced_buffer(self, position: int, value: np.ndarray) -> np.ndarray:
        return np.array(value, order="C")

    def _no_steps(self, states, untraced, outputs: list[list]) -> None:
        for k, value in enumerate(states):
            outputs[k][0] = value if k in self.op.destroy_map else value.copy()
        first = len(self.states)
        for k, argument in enumerate(self.traces):
            outputs[first + k][0] = np.empty((0,) * (1 + len(argument.shape)), argument.dtype)
        first += len(self.traces)
        for k, value in enumerate(untraced):
            outputs[first + k][0] = value

    def _finish(self, steps: int, done: int, arrays, outputs: list[list], states) -> None:
        """Bring rows into order, clear those that no step reached, and hand over the arrays."""
        arguments = [*self.states, *self.traces, *self.untraced]
        for k, (argument, array) in enumerate(zip(arguments, arrays, strict=True)):
            if argument.kind in ("ring", "trace"):
                array = _in_order(argument, array, steps, done)
            if (
                k in self.op.destroy_map
                and k < len(states)
                and not np.may_share_memory(array, states[k])
            ):
                states[k][: len(array)] = array
                array = states[k][: len(array)]
            outputs[k][0] = array


def _in_order(argument: Argument, array: np.ndarray, steps: int, done: int) -> np.ndarray:
    """The rows from the oldest to the newest."""
    rows, written = len(array), done + argument.history
    if rows < written:
        # code that keeps a shorter ring of its own has put the rows in order already
        own_ring = argument.kind == "ring" and rows <= argument.history
        first = written % rows
        if first and not own_ring:
            array[:] = np.roll(array, -first, axis=0)
    elif rows > written:
        array[written:] = 0
        if done < steps:
            array = array[: -(steps - done)]
    return array


class _Call:
    """The numbers and addresses of one call."""

    def __init__(self, owner: NativeLoop):
        self.owner, self.loop = owner, owner.loop
        self.numbers = [0] * owner.loop.number_count
        self.addresses = [0] * (FIRST_ARRAY + len(owner.loop.arguments))
        self.addresses[0] = ctypes.addressof(owner._table)
        self.kept: list[Any] = []
        self.result = (ctypes.c_int64 * owner.result_count)()

    def pointer(self, argument: Argument, array: np.ndarray) -> None:
        self.addresses[self.owner.positions[id(argument)]] = array.__array_interface__["data"][0]
        self.kept.append(array)

    def bind_rows(self, argument: Argument, value: np.ndarray) -> None:
        """A sequence: any stride between rows, C order within them."""
        first, itemsize = argument.first_size, value.itemsize
        if not _rows_in_c_order(value) or value.dtype != argument.dtype:
            value = np.ascontiguousarray(value, argument.dtype)
        self.numbers[first] = value.strides[0] // itemsize
        self.numbers[first + 1 : first + value.ndim] = value.shape[1:]
        self.pointer(argument, value)

    def bind_invariant(self, argument: Argument, value: Any) -> None:
        value = np.asarray(value)
        first, ndim = argument.first_size, value.ndim
        itemsize = value.itemsize
        regular = value.flags.aligned and all(s % itemsize == 0 for s in value.strides)
        if not regular or not (argument.free_strides or value.flags.c_contiguous):
            value = np.ascontiguousarray(value).reshape(value.shape)
        if value.dtype != argument.dtype:
            raise CallRefused(f"{argument.name} has another type")
        self.numbers[first + 1 : first + 1 + 2 * ndim] = [
            *value.shape,
            *(stride // itemsize for stride in value.strides),
        ]
        self.pointer(argument, value)

    def sizes_of_state(self, argument: Argument, rows: int, shape: Sequence[int]) -> None:
        first = argument.first_size
        self.numbers[first] = rows
        self.numbers[first + 1 : first + 1 + len(shape)] = shape

    def plan(self) -> None:
        """Check the sizes; learn those of traces and of the work memory."""
        status = self._enter(False)
        if status:
            raise CallRefused(self.loop.step.sizes.checks[status - 1])

    def traces(self, lengths: Sequence[int], old: Sequence[Any]) -> list[np.ndarray]:
        """Arrays for the traces; one that is there from the call before is used again."""
        arrays, position = [], FIRST_RESULT
        for argument, length in zip(self.owner.traces, lengths, strict=True):
            ndim = len(argument.shape)
            shape = (length, *self.result[position : position + ndim])
            position += ndim
            arrays.append(np.empty(shape, argument.dtype))
        return arrays

    def run(self) -> int:
        """Run the loop; returns the number of steps done."""
        size = self.result[1] + ALIGNMENT
        spare = self.owner._spare
        memory = spare.pop() if spare else None
        if memory is None or memory.size < size:
            memory = np.empty(size, np.uint8)
        address = memory.__array_interface__["data"][0]
        self.addresses[1] = -(-address // ALIGNMENT) * ALIGNMENT
        try:
            status = self._enter(True)
        finally:
            spare.append(memory)
        if status < 0:
            kind, text = self.loop.step.errors[-1 - status]
            raise kind(f"{text} in step {self.result[0]} of the loop {self.loop.name}")
        return self.result[0]

    def _enter(self, run: bool) -> int:
        self.numbers[0] = run
        numbers = (ctypes.c_int64 * len(self.numbers))(*self.numbers)
        addresses = (ctypes.c_void_p * len(self.addresses))(*self.addresses)
        return self.owner.function(
            ctypes.addressof(numbers), ctypes.addressof(addresses), ctypes.addressof(self.result)
        )


def _rows_in_c_order(value: np.ndarray) -> bool:
    if not value.flags.aligned or value.strides[0] % value.itemsize:
        return False
    expected = value.itemsize
    for size, stride in zip(value.shape[:0:-1], value.strides[:0:-1], strict=True):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True
