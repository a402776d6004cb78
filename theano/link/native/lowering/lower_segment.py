"""Lower the nodes of a segment, one after the other, to one C function."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Variable

from theano.link.native.ir.ir import Argument, Buffer, CannotLower, Scalar, Size, Value, View
from theano.link.native.ir.prologue import Element
from theano.link.native.ir.scalar_types import has_c_type
from theano.link.native.ir.symbolic import SizeOfArray, compared
from theano.link.native.lowering.loop import LowerLoop
from theano.link.native.lowering.nodes import Nodes
from theano.link.native.lowering.registry import lowering_of
from theano.link.native.lowering.segment import Output, Segment
from theano.link.native.lowering.step import Step
from theano.link.native.statements.copy import Copy


class NodeCannotLower(CannotLower):
    """The node that cannot be part of a segment, and why."""

    def __init__(self, node: Apply, reason: str):
        super().__init__(reason)
        self.node = node


def lower_segment(
    name: str,
    nodes: Sequence[Any],
    needed: Sequence[Variable],
    lower_loop: LowerLoop,
    in_columns: Collection[Variable] = (),
) -> Segment:
    """Lower nodes, in an order in which they can run, to one C function.

    Parameters
    ----------
    needed
        The results that others use.
    lower_loop
        Lowers the loops; see `lowered_loops.py`.
    in_columns
        The inputs that lie in Fortran's order.

    Raises
    ------
    NodeCannotLower
        With the first node that has no native code here.
    """
    return _Builder(name, nodes, needed, lower_loop, in_columns).build()


class _Builder:
    def __init__(self, name: str, nodes, needed, lower_loop: LowerLoop, in_columns):
        step = Step(name, repeats=False, lower_loop=lower_loop)
        step.constant_array = self._constant_array
        self.segment = Segment(name, list(nodes), step)
        self.step, self.needed, self.in_columns = step, needed, in_columns
        self.nodes = Nodes(step, self._input)

    def build(self) -> Segment:
        for node in self.segment.nodes:
            try:
                self.nodes.lower(node)
            except CannotLower as reason:
                raise NodeCannotLower(node, str(reason)) from None
        for variable in self.needed:
            try:
                self._output(variable)
            except CannotLower as reason:
                raise NodeCannotLower(variable.owner, str(reason)) from None
        return self.segment

    # ---- inputs ----

    def _constant_array(self, data: np.ndarray) -> View:
        data = np.array(data, order="C")
        argument = self._argument("constant", str(data.dtype), data.ndim, data.shape, "")
        argument.constant = data
        self.segment.inputs.append((argument, None))
        return View.of(Buffer(argument.name, argument.dtype, argument.shape, "invariant"))

    def _input(self, variable: Variable) -> Value:
        kind: Any = variable.type
        if not has_c_type(kind):
            raise CannotLower(f"an input of type {kind}")
        dtype, shape = kind.dtype, getattr(kind, "shape", ())
        if variable.owner is not None and not _has_lowering(variable.owner):
            # an operator's author may be wrong about lengths, which PyTensor does not look at
            shape = [1 if length == 1 else None for length in shape]
        argument = self._argument("input", dtype, len(shape), shape, variable.name or "")
        self.segment.inputs.append((argument, variable))
        if not shape:
            name = self.step.sizes.define(dtype, Element(argument.name))
            return Scalar(name, dtype, invariant=True)
        if variable in self.in_columns:
            argument.in_columns = True
            columns = View.of(Buffer(argument.name, dtype, argument.shape[::-1], "invariant"))
            return replace(columns, shape=argument.shape, axes=columns.axes[::-1])
        return View.of(Buffer(argument.name, dtype, argument.shape, "invariant"))

    def _argument(self, kind: str, dtype: str, ndim: int, known, comment: str) -> Argument:
        name = f"{kind}{len(self.segment.inputs)}"
        sizes = self.step.sizes
        shape: list[Size] = []
        for d in range(ndim):
            given = SizeOfArray(name, d)
            what = f"{comment or name}, size of dimension {d}"
            if known[d] is not None:
                if kind == "input":
                    sizes.check(compared(given, "==", known[d]), what)
                shape.append(known[d])
            else:
                shape.append(sizes.argument(f"{name}_n{d}", given, what))
        return Argument(name, kind, dtype, tuple(shape), comment=comment)

    # ---- outputs ----

    def _output(self, variable: Variable) -> None:
        value = self.nodes.value(variable)
        name = f"output{len(self.segment.outputs)}"
        buffer = Buffer(name, value.dtype, tuple(value.shape), "row")
        argument = Argument(name, "output", value.dtype, tuple(value.shape))
        argument.comment = variable.name or ""
        self.segment.outputs.append(Output(variable, argument, buffer))
        if isinstance(value, Scalar):
            self.step.append(Copy(View.of(buffer), value), buffer)
        else:
            self.step.place(value, View.of(buffer))


def _has_lowering(node: Apply) -> bool:
    try:
        lowering_of(node.op)
    except CannotLower:
        return False
    return True
