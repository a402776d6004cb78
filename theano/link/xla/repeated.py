"""Calls of a function that is one program, of which everything but the values is known.

What decides the program, its shapes and static values, is looked up in the arguments as they are; then
the program is called with them. All else is left to the machine: first calls, arguments of other types,
shared variables whose values lie elsewhere, programs that take long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant, Variable

from theano.link.background import fetched
from theano.link.xla.arrays import is_array
from theano.link.xla.context import is_traced
from theano.link.xla.device.program import DeviceProgram, Specialisation
from theano.link.xla.device.values import DeviceValues
from theano.link.xla.plan import Plan
from theano.link.xla.static_inputs import SHAPES
from theano.support.data_classes import dataclass

# Arguments of so many bytes are copied in any case, wherever they lie.
MOST_COPIED = 1 << 20
# Values that decide programs may be others in each call, while the programs are few.
MOST_KNOWN = 1 << 8


@dataclass(frozen=True)
class Read:
    """An input of the function that its program reads, or that decides which program it is.

    Attributes
    ----------
    cell
        Where its value is stored.
    dtype
        Of its arrays.
    by_value
        Whether its value decides the program, and not only its shape.
    is_kept
        Whether it is a shared variable whose value stays on the device.
    """

    cell: list[Any]
    dtype: np.dtype
    by_value: bool
    is_kept: bool


@dataclass
class Known:
    """A program, and where the arguments go.

    Attributes
    ----------
    program
        For some shapes and static values.
    values
        What it is called with, if all of NumPy's arguments are small and have their places.
    fills
        For each value its position, the argument's cell, and the memory to copy it to; the memory is
        None where the value is on the device, and is taken as it is.
    """

    program: Specialisation
    values: list[Any] | None = None
    fills: Sequence[tuple[int, list[Any], np.ndarray | None]] = ()

    def filled(self) -> list[Any]:
        """Return the values for the present arguments."""
        values = [*(self.values or ())]
        for position, cell, memory in self.fills:
            if memory is None:
                values[position] = cell[0]
            else:
                memory[...] = cell[0]
        return values


class RepeatedCalls:
    """The programs of a function by what decides them.

    Parameters
    ----------
    plan : Plan
        Of one stage, as `is_possible` says.
    program : DeviceProgram
    values : DeviceValues

    Attributes
    ----------
    inputs
        What the program is called with.
    order
        For each output of the function its position among those of the program.
    decided_by_value
        The inputs of the function whose values decide the program.
    calls
        The numbers of calls, by which the program that was not used for longest is found.
    """

    def __init__(self, plan: Plan, program: DeviceProgram, values: DeviceValues):
        (stage,) = plan.stages
        self._program, self._values, self._device = program, values, {values.device}
        by_value, by_shape = _what_decides(plan.before_call)
        self.inputs, self.decided_by_value, self.calls = stage.inputs, by_value, program.calls
        read = dict.fromkeys((*stage.inputs, *by_shape, *by_value))
        self._reads = [
            Read(
                values.storage_map[v],
                np.dtype(v.type.dtype),
                v in by_value,
                values.is_kept(v),
            )
            for v in read
        ]
        made = {variable: k for k, variable in enumerate(stage.outputs)}
        self._given = len(stage.inputs)
        self.order = [made[variable] for variable in values.fgraph.outputs]
        self._known: dict[Any, Known] = {}
        self._key: Any = None

    @staticmethod
    def is_possible(plan: Plan, programs: Sequence[Any], values: DeviceValues) -> bool:
        """Return whether a function is one program of the CPU that makes all that the function returns."""
        if len(programs) != 1 or type(programs[0]) is not DeviceProgram:
            return False
        (stage,), (program,) = plan.stages, programs
        inputs = [*stage.inputs, *(v for each in _what_decides(plan.before_call) for v in each)]
        return (
            program.arguments is not None
            and set(values.fgraph.outputs) <= set(stage.outputs)
            and all(is_array(v) and not isinstance(v, Constant) for v in inputs)
        )

    def find(self) -> Known | None:
        """Return the program that is known for the arguments, if there is one that is quick."""
        self._key = None
        key: list[Any] = []
        for read in self._reads:
            value = read.cell[0]
            if read.is_kept:
                # it may have been set, or another engine may have fetched it
                if not is_traced(value) or value.devices() != self._device:
                    return None
            elif type(value) is not np.ndarray or value.dtype != read.dtype:
                return None
            key.append(value.shape)
            if read.by_value:
                key.append(_bytes(value))
        self._key = tuple(key)
        known = self._known.get(self._key)
        if known is None or known.program.is_dropped or not known.program.is_quick:
            return None
        return known

    def run(self, known: Known) -> list[Any]:
        """Return the outputs of the function; shared variables whose memory is used up have theirs."""
        program = known.program
        if known.values is None:
            made = self._run_first(known)
        elif program.donates or program.notes.required:
            made = self._program.placed_call(program, known.filled()).run(self._update)
        else:
            self._program.note_use(program)
            made = program.callable()(*known.filled())
        return [made[k] for k in self.order]

    def _update(self, made: Sequence[Any]) -> None:
        self._values.replace_shared([made[k] for k in self.order])

    def _run_first(self, known: Known) -> list[Any]:
        """Run a program whose arguments have no places, and give them such if they are small."""
        cells = [read.cell for read in self._reads[: self._given]]
        values = [cell[0] for cell in cells]
        if all(is_traced(value) or value.nbytes <= MOST_COPIED for value in values):
            places = [self._place(k, value) for k, value in enumerate(values)]
            if all(array is not None for _, array in places):
                known.fills = [(k, cell, places[k][0]) for k, cell in enumerate(cells)]
                # a value that is replaced after the call is not kept here
                known.values = [None if own is None else array for own, array in places]
                return self._program.placed_call(known.program, known.filled()).run(self._update)
        call = self._program.call_of(known.program, values)
        if call.is_on_device:
            return call.run(self._update)
        with self._values.precision_in_use(), self._values.device_in_use(None):
            return call.run(self._update)

    def _place(self, position: int, value: Any) -> tuple[np.ndarray | None, Any]:
        """Return the memory of a NumPy argument as both arrays; None and the value of any other."""
        arguments = self._program.arguments
        assert arguments is not None
        return (None, value) if is_traced(value) else arguments.place(position, value)

    def remember(self, program: Specialisation) -> None:
        """Take the program of the arguments for which there was none, now that it has run."""
        if self._key is None or program.notes.ragged:
            return
        known = self._known.get(self._key)
        if known is not None and known.program is program:
            return
        kept = {key: one for key, one in self._known.items() if not one.program.is_dropped}
        if len(kept) >= MOST_KNOWN:
            kept.clear()
        self._known = {**kept, self._key: Known(program)}


def _bytes(value: Any) -> bytes:
    return (fetched(value) if is_traced(value) else value).tobytes()


def _what_decides(before_call: Iterable[Variable]) -> tuple[set[Variable], set[Variable]]:
    """Return the inputs of whose values variables are made, and those of whose shapes."""
    by_value: set[Variable] = set()
    by_shape: set[Variable] = set()
    pending: Sequence[Variable] = list(before_call)
    seen: set[Variable] = set()
    while pending:
        variable, *pending = pending
        if variable in seen or isinstance(variable, Constant):
            continue
        seen.add(variable)
        if variable.owner is None:
            by_value.add(variable)
        elif isinstance(variable.owner.op, SHAPES) and variable.owner.inputs[0].owner is None:
            by_shape.add(variable.owner.inputs[0])
        else:
            pending = [*pending, *variable.owner.inputs]
    return by_value, by_shape
