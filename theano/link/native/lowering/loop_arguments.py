"""Arguments of a loop: arrays, and the rows of them that a step reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pytensor.graph.basic import Variable

from theano.link.native.ir.ir import (
    FIRST_SIZE,
    Argument,
    Buffer,
    CannotLower,
    Scalar,
    Value,
    View,
)
from theano.link.native.ir.prologue import Element
from theano.link.native.ir.scalar_types import has_c_type
from theano.link.native.ir.symbolic import Item, Size, compared
from theano.link.native.lowering.loop import Loop
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.loop.roles import MIT_MOT, Roles


class LoopArguments:
    """The arrays that a loop is called with, and the rows of them that a step reads.

    Attributes
    ----------
    number_count
        How many numbers the caller passes.
    """

    def __init__(self, loop: Loop, op: Scan, outer_names: Sequence[str | None]):
        self.loop, self.step, self.roles = loop, loop.step, Roles.of(op)
        self.names, self.number_count = outer_names, FIRST_SIZE

    def constant_array(self, data: np.ndarray) -> View:
        """Return a view of an array that is known when the code is made."""
        data = np.ascontiguousarray(data)
        name = f"constant{len(self.loop.arguments)}"
        argument = Argument(name, "invariant", str(data.dtype), data.shape, constant=data)
        self.take_sizes(argument, data.ndim, strides=True)
        self.loop.arguments.append(argument)
        return View.of(Buffer(name, argument.dtype, data.shape, "invariant"))

    def bind(self, inputs: Sequence[Variable], values: dict[Variable, Value]) -> None:
        """Make the values of the inputs of a step."""
        read = self.roles.inner_inputs(list(inputs))
        for k, variable in enumerate(read.sequences):
            argument = self._argument(f"sequence{k}", "sequence", variable, (0,))
            self._bind_row(values, argument, variable, 0)
        for k, (taps, variables) in enumerate(zip(self.roles.states, read.states, strict=True)):
            kind = "mit_mot" if taps.kind == MIT_MOT else "ring"
            argument = self._argument(f"state{k}", kind, variables[0], taps.reads)
            for tap, variable in zip(taps.reads, variables, strict=True):
                self._bind_row(values, argument, variable, tap)
        for k, variable in enumerate(read.untraced):
            argument = self._argument(f"untraced{k}", "untraced", variable, (-1,))
            self._bind_row(values, argument, variable, -1)
        for k, variable in enumerate(read.invariants):
            argument = self._argument(f"invariant{k}", "invariant", variable, ())
            self._bind_invariant(values, argument, variable)

    def _argument(self, name: str, kind: str, variable: Variable, taps) -> Argument:
        kind_of = variable.type
        if not has_c_type(kind_of):
            raise CannotLower(f"an input of type {kind_of}")
        outer = self.names[len(self.loop.arguments)] if self.names else None
        argument = Argument(name, kind, kind_of.dtype, (), taps, outer or variable.name or "")
        ndim = getattr(kind_of, "ndim", 0)
        self.take_sizes(argument, ndim, strides=kind == "invariant")
        shape: list[Size] = []
        for d in range(ndim):
            size = kind_of.shape[d]
            given = Item("numbers", argument.first_size + 1 + d)
            what = f"{argument.comment or name}, size of dimension {d}"
            if size is not None:
                self.step.sizes.check(compared(given, "==", size), what)
                shape.append(size)
            else:
                shape.append(self.step.sizes.argument(f"{name}_n{d}", given, what))
        argument.shape = tuple(shape)
        self.loop.arguments.append(argument)
        return argument

    def take_sizes(self, argument: Argument, ndim: int, strides: bool) -> None:
        """Record where the sizes of an array are among the numbers."""
        # of each array: its number of rows or the stride between them, the shape of a row, and
        # for an invariant its strides
        argument.first_size = self.number_count
        self.number_count += 1 + ndim * (2 if strides else 1)

    def _bind_row(
        self, values: dict[Variable, Value], argument: Argument, variable: Variable, tap: int
    ) -> None:
        label = tap_name(argument, tap)
        row: Buffer | Scalar
        if not argument.shape and getattr(variable.type, "ndim", 0) == 0:
            row = Scalar(label, argument.dtype)
            values[variable] = row
        else:
            row = Buffer(f"{label}_row", argument.dtype, argument.shape, "row")
            values[variable] = View.of(row)
        self.loop.rows.append((row, argument, tap))

    def _bind_invariant(
        self, values: dict[Variable, Value], argument: Argument, variable: Variable
    ) -> None:
        if getattr(variable.type, "ndim", 0) == 0:
            name = self.step.sizes.define(argument.dtype, Element(argument.name))
            values[variable] = Scalar(name, argument.dtype, invariant=True)
        else:
            buffer = Buffer(argument.name, argument.dtype, argument.shape, "invariant")
            values[variable] = View.of(buffer)


def tap_name(argument: Argument, tap: int) -> str:
    """Return how a row of an array is called."""
    if tap == 0:
        return f"{argument.name}_now"
    return f"{argument.name}_{'before' if tap < 0 else 'after'}{abs(tap)}"
