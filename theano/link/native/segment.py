"""A segment: nodes of a function's graph that become one C function, and what it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant, Variable

import theano.link.native.lowering.scan  # noqa: F401  registers the lowering of Scan
from theano.link.native.ir import Argument, Buffer, CannotLower, Copy, Scalar, Size, Value, View
from theano.link.native.loop import Loop, LowerLoop, loops_of
from theano.link.native.lowering.elementwise import constant_value
from theano.link.native.lowering.registry import lowering_of
from theano.link.native.scalar_types import C_TYPES, has_c_type
from theano.link.native.share_memory import last_uses, share_memory
from theano.link.native.sizes import Sizes
from theano.link.native.step import Step
from theano.link.native.stored import check_types, choose_strides, mark_stored


class NodeCannotLower(CannotLower):
    """The node that cannot be part of a segment, and why."""

    def __init__(self, node: Any, reason: str):
        super().__init__(reason)
        self.node = node


@dataclass(eq=False)
class Output:
    """A variable that others need, where it is stored, and its shape.

    Attributes
    ----------
    overwrites
        The position of the input whose memory it may take.
    element_by_element
        Whether it is computed there, so that no other input may lie in that memory.
    """

    variable: Variable
    argument: Argument
    buffer: Buffer
    overwrites: int | None = None
    element_by_element: bool = False


@dataclass(frozen=True, eq=False)
class Passed:
    """An array that is passed to a segment's C function.

    Attributes
    ----------
    variable
        What it is the value of; none for a constant, which is here.
    name
        What messages call it.
    overwrites, element_by_element
        Of a result, as in `Output`.
    """

    variable: Variable | None
    dtype: str
    ndim: int
    name: str = ""
    constant: np.ndarray | None = None
    overwrites: int | None = None
    element_by_element: bool = False


@dataclass(frozen=True, eq=False)
class SegmentCall:
    """All that is needed to call a segment's C function once it is compiled.

    Attributes
    ----------
    nodes
        What it computes.
    checks, errors
        What a call that fails says, and raises; see `Sizes` and `Step`.
    may_stop_early
        Whether rows of results may be left out.
    """

    name: str
    nodes: tuple[Any, ...]
    inputs: tuple[Passed, ...]
    outputs: tuple[Passed, ...]
    checks: tuple[str, ...]
    errors: tuple[tuple[type[Exception], str], ...]
    may_stop_early: bool

    def __str__(self) -> str:
        return described(self.name, self.nodes)


@dataclass(eq=False)
class Segment:
    """All that is needed to write a segment in C.

    Attributes
    ----------
    inputs
        The arguments that the caller passes, each with its variable, or with none for a constant.
    """

    name: str
    nodes: list[Any]
    step: Step
    inputs: list[tuple[Argument, Variable | None]] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)

    def __str__(self) -> str:
        return described(self.name, self.nodes)

    @property
    def loops(self) -> list[Loop]:
        """The loops that it calls, and those that these call, each after those that it calls."""
        return loops_of(self.step)

    def call(self) -> SegmentCall:
        """How it is called."""
        step = self.step
        return SegmentCall(
            self.name,
            tuple(self.nodes),
            tuple(_passed(variable, argument) for argument, variable in self.inputs),
            tuple(
                replace(
                    _passed(output.variable, output.argument),
                    overwrites=output.overwrites,
                    element_by_element=output.element_by_element,
                )
                for output in self.outputs
            ),
            tuple(step.sizes.checks),
            tuple(step.errors),
            bool(step.rows_reached),
        )


def _passed(variable: Variable | None, argument: Argument) -> Passed:
    name = argument.comment or argument.name
    return Passed(variable, argument.dtype, len(argument.shape), name, argument.constant)


def described(name: str, nodes: Sequence[Any]) -> str:
    """The name of a segment, with how many nodes of which operations it has."""
    counts = Counter(str(node.op).split("{")[0] for node in nodes)
    return f"{name}: " + ", ".join(f"{n} {operation}" for operation, n in counts.items())


def lower_segment(
    name: str, nodes: Sequence[Any], needed: Sequence[Variable], lower_loop: LowerLoop
) -> Segment:
    """Lower nodes, in an order in which they can run, to one C function.

    Parameters
    ----------
    needed
        The results that others use.
    lower_loop
        Lowers the loops; see `lowered_loops.py`.

    Raises
    ------
    NodeCannotLower
        With the first node that has no native code here.
    """
    first = _Builder(name, nodes, needed, None, lower_loop).build()
    if len(nodes) == 1:
        return first
    return _Builder(name, nodes, needed, first.step.sizes, lower_loop).build()


class _Builder:
    def __init__(self, name: str, nodes, needed, known: Sizes | None, lower_loop: LowerLoop):
        step = Step(name, self._constant_array, known, repeats=False, lower_loop=lower_loop)
        self.segment = Segment(name, list(nodes), step)
        self.step, self.needed = step, needed
        self.values: dict[Variable, Value] = {}

    def build(self) -> Segment:
        for node in self.segment.nodes:
            try:
                self._lower(node)
            except CannotLower as reason:
                raise NodeCannotLower(node, str(reason)) from None
        for variable in self.needed:
            try:
                self._output(variable)
            except CannotLower as reason:
                raise NodeCannotLower(variable.owner, str(reason)) from None
        share_memory(self.step.statements)
        overwrite_inputs(self.segment)
        mark_stored(self.step.statements)
        choose_strides([argument for argument, _ in self.segment.inputs], self.step)
        return self.segment

    def _lower(self, node: Any) -> None:
        self.step.node = node
        operands = [self._operand(variable) for variable in node.inputs]
        results = lowering_of(node.op)(self.step, node, operands)
        check_types(self.step, node, results)
        self.values.update(zip(node.outputs, results, strict=True))

    # ---- inputs ----

    def _operand(self, variable: Variable) -> Value:
        if variable not in self.values:
            if isinstance(variable, Constant):
                self.values[variable] = constant_value(self.step, variable)
            else:
                self.values[variable] = self._input(variable)
        return self.values[variable]

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
        argument = self._argument("input", dtype, len(shape), shape, variable.name or "")
        self.segment.inputs.append((argument, variable))
        if not shape:
            name = self.step.sizes.define(C_TYPES[dtype], f"*{argument.name}")
            return Scalar(name, dtype, invariant=True)
        return View.of(Buffer(argument.name, dtype, argument.shape, "invariant"))

    def _argument(self, kind: str, dtype: str, ndim: int, known, comment: str) -> Argument:
        name = f"{kind}{len(self.segment.inputs)}"
        sizes = self.step.sizes
        shape: list[Size] = []
        for d in range(ndim):
            text = f"{name}_array->shape[{d}]"
            what = f"{comment or name}, size of dimension {d}"
            if known[d] is not None:
                if kind == "input":
                    sizes.check(f"{text} == {known[d]}", what)
                shape.append(known[d])
            else:
                shape.append(sizes.argument(f"{name}_n{d}", text, what))
        return Argument(name, kind, dtype, tuple(shape), comment=comment)

    # ---- outputs ----

    def _output(self, variable: Variable) -> None:
        value = self._operand(variable)
        name = f"output{len(self.segment.outputs)}"
        buffer = Buffer(name, value.dtype, tuple(value.shape), "row")
        argument = Argument(name, "output", value.dtype, tuple(value.shape))
        argument.comment = variable.name or ""
        self.segment.outputs.append(Output(variable, argument, buffer))
        if isinstance(value, Scalar):
            self.step.append(Copy(View.of(buffer), value), buffer)
        else:
            self.step.place(value, View.of(buffer))


def overwrite_inputs(segment: Segment) -> None:
    """Have outputs take the memory of inputs that the graph allows to be destroyed.

    Check: an output is a copy of the whole input, and nothing reads the input after the copy.
    """
    allowed = _destroyed_inputs(segment)
    positions = {argument.name: k for k, (argument, v) in enumerate(segment.inputs) if v in allowed}
    last = last_uses(segment.step.statements)
    taken: set[int] = set()
    for position, statement in enumerate(segment.step.statements):
        if not isinstance(statement, Copy) or not isinstance(statement.source, View):
            continue
        source, target = statement.source, statement.target
        k = positions.get(source.buffer.name)
        if k is None or k in taken or not (source.whole and target.whole):
            continue
        for output in segment.outputs:
            if target.buffer.root() is output.buffer and last[source.buffer] <= position:
                place = target.buffer.place
                if target.buffer is output.buffer or (place is not None and place.whole):
                    output.overwrites, statement.may_be_same = k, True
                    taken.add(k)


def _destroyed_inputs(segment: Segment) -> set[Variable]:
    """The inputs that a node of the segment changes in place."""
    inputs = {variable for _, variable in segment.inputs if variable is not None}
    destroyed = set()
    for node in segment.nodes:
        for positions in node.op.destroy_map.values():
            for position in positions:
                variable = node.inputs[position]
                while variable not in inputs and variable.owner is not None:
                    viewed = variable.owner.op.view_map.get(variable.owner.outputs.index(variable))
                    if not viewed:
                        break
                    variable = variable.owner.inputs[viewed[0]]
                destroyed.add(variable)
    return destroyed & inputs
