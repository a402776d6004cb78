"""Calls of small programs, prepared once: the arguments are checked, copied, and the program is called.

A call that needs anything else returns NotImplemented, having changed nothing, and is made by the
machine: other types, new shapes, requirements that do not hold, shared variables that lie elsewhere.
Programs that overwrite the old values of shared variables are the machine's, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import setitem
from typing import Any

import numpy as np
from pytensor.tensor.type import TensorType

from theano.link.background import obstacles
from theano.link.xla.device.arguments import Arguments
from theano.link.xla.device.program import Specialisation
from theano.link.xla.device.values import LEAST_TAKEN, DeviceValues
from theano.link.xla.python_numbers import array_of_number, limit_of_numbers
from theano.link.xla.repeated import RepeatedCalls
from theano.support.data_classes import dataclass

# An argument of more bytes takes so long to copy that nothing is gained.
MOST_COPIED = 1 << 18
# Memory of so many bytes is kept for the arguments of one function, of all shapes.
MOST_KEPT = 1 << 22
# Programs whose calls are prepared
MOST_PREPARED = 1 << 8


@dataclass(frozen=True)
class _Memory:
    """The memory of the arguments of one call at a time.

    Attributes
    ----------
    values
        What the program is called with; None for shared variables.
    arguments
        For each argument the memory that it is copied to, its dtype and shape, the limit of Python's
        numbers, and the bytes that it must have if its value decides the program.
    """

    values: list[Any]
    arguments: list[tuple[np.ndarray, np.dtype, tuple[int, ...], int, bytes | None]]


@dataclass(frozen=True)
class _Prepared:
    """A program, and the memory that no call uses now.

    A call takes memory out and puts it back; one that a signal ends leaves it to the program.

    Attributes
    ----------
    program
        For some shapes and static values.
    shared
        Type, shape and sharding of the values of shared variables that it reads.
    free
        Memory of calls.
    """

    program: Specialisation
    shared: Sequence[tuple[Any, tuple[int, ...], Any]]
    free: list[_Memory]


class PreparedCalls:
    """The calls of a function that is one small program.

    Parameters
    ----------
    repeated : RepeatedCalls
        The same calls as the machine makes them.
    values : DeviceValues
    arguments : mapping of int to bool
        Of each input that is an argument the position, and whether a number is one, too. They come first.
    """

    def __init__(
        self, repeated: RepeatedCalls, values: DeviceValues, arguments: Mapping[int, bool]
    ):
        inputs = [values.fgraph.inputs[k] for k in arguments]
        self._repeated, self._device = repeated, values.device
        self._cells = [values.storage_map[variable] for variable in inputs]
        self._types = [variable.type for variable in inputs]
        self._limits = [
            limit_of_numbers(variable.type) if takes_numbers else 0
            for variable, takes_numbers in zip(inputs, arguments.values(), strict=True)
        ]
        self._by_value = [variable in repeated.decided_by_value for variable in inputs]
        self._given = [
            inputs.index(variable) if variable in inputs else None for variable in repeated.inputs
        ]
        self._shared = [
            (k, values.storage_map[variable])
            for k, variable in enumerate(repeated.inputs)
            if variable not in inputs
        ]
        self._results = [k for n, k in enumerate(repeated.order) if n not in values.updated]
        self._updated = [repeated.order[n] for n in values.updated]
        self._updates = [values.storage_map[v] for v in values.updated.values()]
        self._zeros = [0] * len(self._updates)
        self._kept = 0
        self._prepared: dict[Any, _Prepared] = {}
        self._latest: _Prepared | None = None
        self._call = self._make_call()

    @staticmethod
    def is_possible(
        repeated: RepeatedCalls, values: DeviceValues, arguments: Mapping[int, bool]
    ) -> bool:
        """Return whether calls check and copy arrays, and do no more."""
        given = {values.fgraph.inputs[k] for k in arguments}
        return (
            all(type(v.type) is TensorType and not v.type.filter_checks_isfinite for v in given)
            and all(v in given or values.is_kept(v) for v in repeated.inputs)
            and repeated.decided_by_value <= given
            and values.keeps_updates
        )

    def next_call(self) -> Callable[..., Any] | None:
        """Return what makes the next calls; None while no program is known.

        It returns NotImplemented where the machine is to make a call.
        """
        return self._call if self._latest is not None else None

    def learn(self, program: Specialisation, outputs: Sequence[Any]) -> None:
        """Prepare the calls of a program that has just run with what lies in the cells, and its outputs."""
        given = [cell[0] for cell in self._cells]
        # a signal must find the new values where the old ones are overwritten, which the machine sees to
        if program.donates or any(value.nbytes >= LEAST_TAKEN for value in outputs):
            return
        if not all(map(_is_expected, given, self._types)):
            return
        key = self._key(given)
        prepared = self._prepared.get(key)
        shared = [
            (type(value), value.shape, value.sharding)
            for value in (cell[0] for _, cell in self._shared)
        ]
        if prepared is None or prepared.program is not program or prepared.shared != shared:
            prepared = _Prepared(program, shared, [])
        if not prepared.free:
            # none yet, or two threads call the function at once
            memory = self._memory(given)
            if memory is None:
                return
            prepared.free.append(memory)
        self._prepared[key] = self._latest = prepared

    def _memory(self, given: Sequence[np.ndarray]) -> _Memory | None:
        """Return new memory for arguments; None if it is not worth it."""
        if any(value.nbytes > MOST_COPIED for value in given):
            return None
        arguments = Arguments(self._device)
        places = [arguments.place(k, value) for k, value in enumerate(given)]
        if any(array is None for _, array in places):
            return None
        self._kept += sum(own.nbytes for own, _ in places)
        if self._kept > MOST_KEPT or len(self._prepared) >= MOST_PREPARED:
            self._prepared, self._kept = {}, 0
        return _Memory(
            [None if k is None else places[k][1] for k in self._given],
            [
                (own, own.dtype, own.shape, limit, value.tobytes() if by_value else None)
                for value, (own, _), limit, by_value in zip(
                    given, places, self._limits, self._by_value, strict=True
                )
            ],
        )

    def _key(self, given: Sequence[Any]) -> Any:
        """Return what decides the program among arguments."""
        return tuple(
            (value.shape, value.tobytes() if by_value else None)
            for value, by_value in zip(given, self._by_value, strict=True)
        )

    def _make_call(self) -> Callable[..., Any]:
        count, shared, results = len(self._cells), self._shared, self._results
        numbers, array_type, asarray = self._repeated.calls, np.ndarray, np.asarray
        is_updated = bool(self._updates)

        def call(*args: object) -> Any:
            # short: what a call does here takes as long as the program
            prepared = latest = self._latest
            while prepared is not None and not obstacles and len(args) == count:
                try:
                    memory = prepared.free.pop()
                except IndexError:
                    return NotImplemented
                for value, (own, dtype, shape, limit, known) in zip(args, memory.arguments):  # noqa: B905
                    if type(value) is not array_type:
                        value = array_of_number(value, dtype, limit)
                        if value is None:
                            break
                    elif (
                        value.dtype is not dtype or value.shape != shape or not value.flags.aligned
                    ):
                        break
                    if known is not None and value.tobytes() != known:
                        break
                    own[...] = value
                else:
                    program = prepared.program
                    values: Sequence[Any] | None = memory.values
                    if shared:
                        values = self._with_shared(prepared, memory.values)
                    if values is None or program.is_dropped:
                        prepared.free.append(memory)
                        return NotImplemented
                    program.used = next(numbers)
                    try:
                        made = program.call(*values)
                        # one computation makes all
                        made[0].block_until_ready()
                    except (RuntimeError, ValueError, MemoryError):
                        # the machine says what failed
                        return NotImplemented
                    if program.notes.required and 0 in asarray(made[-1]).tobytes():
                        prepared.free.append(memory)
                        return NotImplemented
                    outputs = [asarray(made[k]).copy() for k in results]
                    if is_updated:
                        self._update(made)
                    prepared.free.append(memory)
                    return outputs
                prepared.free.append(memory)
                prepared = self._known(args) if prepared is latest else None
            return NotImplemented

        return call

    def _known(self, args: Sequence[Any]) -> _Prepared | None:
        """Return the program of other shapes, which becomes the latest; None if there is none."""
        given = [
            value if type(value) is np.ndarray else array_of_number(value, kind.numpy_dtype, limit)
            for value, kind, limit in zip(args, self._types, self._limits, strict=True)
        ]
        if not all(map(_is_expected, given, self._types)):
            return None
        found = self._prepared.get(self._key(given))
        if found is not None:
            self._latest = found
        return found

    def _with_shared(self, prepared: _Prepared, values: Sequence[Any]) -> list[Any] | None:
        """Return the values with those of shared variables; None if one is not where it was."""
        filled = [*values]
        # as many; this is done in every call
        for (k, cell), (kind, shape, sharding) in zip(self._shared, prepared.shared):  # noqa: B905
            value: Any = cell[0]
            # it may have been set, or another engine may have fetched it
            if type(value) is not kind or value.shape != shape:
                return None
            if value.sharding is not sharding and value.devices() != {self._device}:
                return None
            filled[k] = value
        return filled

    def _update(self, made: Sequence[Any]) -> None:
        """Give all shared variables their new values, in one step of C."""
        any(map(setitem, self._updates, self._zeros, [made[k] for k in self._updated]))


def _is_expected(value: object, kind: TensorType) -> bool:
    """Return whether a value is an array that a type takes as it is."""
    return (
        type(value) is np.ndarray
        and value.dtype is kind.numpy_dtype
        and value.ndim == kind.ndim
        and bool(value.flags.aligned)
        and all(n is None or n == m for n, m in zip(kind.shape, value.shape, strict=True))
    )
