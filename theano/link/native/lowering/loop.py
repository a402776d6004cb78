"""A loop: the step of a PyTensor Scan in the intermediate form, and what it reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.fg import FunctionGraph

from theano.link.native.ir.ir import (
    FIRST_SIZE,
    Argument,
    Buffer,
    CannotLower,
    Scalar,
    Size,
    Spread,
    Value,
    View,
)
from theano.link.native.ir.prologue import Element
from theano.link.native.ir.scalar_types import C_TYPES, has_c_type
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Item, compared
from theano.link.native.lowering.operations.elementwise import constant_value
from theano.link.native.lowering.registry import lowering_of
from theano.link.native.lowering.step import Step
from theano.link.native.passes.column_products import split_products
from theano.link.native.passes.share_memory import share_memory
from theano.link.native.passes.stored import check_types, choose_strides, mark_stored
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.map import Map
from theano.link.step_graph import prepared
from theano.pytensor_base.scan import Scan


@dataclass(eq=False)
class RowWrite:
    """A result of the step and the row it goes to."""

    argument: Argument
    tap: int
    value: Value
    row: Buffer | None = None


@dataclass(eq=False)
class Loop:
    """All that is needed to write a loop in C."""

    name: str
    step: Step
    arguments: list[Argument]
    writes: list[RowWrite]
    rows: list[tuple[Buffer | Scalar, Argument, int]] = field(default_factory=list)
    condition: Scalar | None = None
    number_count: int = 0


# from a Scan, the names of its arrays, and what calls it as which loop, to the loop
LowerLoop = Callable[[Scan, Sequence[str | None], str], "Loop"]


def lower_scan(
    op: Scan, outer_names: Sequence[str | None], name: str, lower_loop: LowerLoop
) -> Loop:
    """Lower the step of a Scan to what becomes a C function of this name.

    Parameters
    ----------
    lower_loop
        Lowers the loops inside.

    Raises
    ------
    CannotLower
        With the first reason found.
    """
    graph = prepared(op)
    # What is found out about sizes at the end of the step decides what is fused at its beginning.
    first = _LoopBuilder(op, graph, outer_names, name, None, lower_loop).build()
    return _LoopBuilder(op, graph, outer_names, name, first.step.sizes, lower_loop).build()


def loops_of(step: Step) -> list[Loop]:
    """The loops that a step calls, and those that these call, each after those that it calls."""
    found: list[Loop] = []
    for loop in step.loops:
        found += [*loops_of(loop.step), loop]
    return found


class _LoopBuilder:
    def __init__(
        self,
        op: Scan,
        graph: FunctionGraph,
        outer_names,
        name: str,
        known: Sizes | None,
        lower_loop: LowerLoop,
    ):
        self.op, self.info, self.graph = op, op.info, graph
        self.step = Step(name, self._constant_array, known, lower_loop=lower_loop)
        self.names = outer_names
        self.values: dict[Variable, Value] = {}
        self.loop = Loop(op.name or "scan", self.step, [], [])
        self.next_size = FIRST_SIZE

    def build(self) -> Loop:
        self._bind_inputs()
        for node in self.graph.toposort():
            self.step.node = node
            operands = [self._operand(variable) for variable in node.inputs]
            results = lowering_of(node.op)(self.step, node, operands)
            check_types(self.step, node, results)
            self.values.update(zip(node.outputs, results, strict=True))
        self._bind_outputs()
        self._place_outputs()
        split_products(self.step)
        share_memory(self.step.statements)
        mark_stored(self.step.statements)
        choose_strides(self.loop.arguments, self.step)
        self.loop.number_count = self.next_size
        return self.loop

    # ---- inputs ----

    def _operand(self, variable: Variable) -> Value:
        if variable in self.values:
            return self.values[variable]
        if not isinstance(variable, Constant):
            raise CannotLower(f"the input {variable}")
        self.values[variable] = constant_value(self.step, variable)
        return self.values[variable]

    def _constant_array(self, data: np.ndarray) -> View:
        data = np.ascontiguousarray(data)
        name = f"constant{len(self.loop.arguments)}"
        argument = Argument(name, "invariant", str(data.dtype), data.shape, constant=data)
        self._take_sizes(argument, data.ndim, strides=True)
        self.loop.arguments.append(argument)
        return View.of(Buffer(name, argument.dtype, data.shape, "invariant"))

    def _bind_inputs(self) -> None:
        info, inputs = self.info, list(self.graph.inputs)
        position = 0
        for k in range(info.n_seqs):
            argument = self._argument(f"sequence{k}", "sequence", inputs[position], (0,))
            self._bind_row(argument, inputs[position], 0)
            position += 1
        groups = [("mit_mot", taps) for taps in info.mit_mot_in_slices]
        groups += [("ring", taps) for taps in (*info.mit_sot_in_slices, *info.sit_sot_in_slices)]
        for k, (kind, taps) in enumerate(groups):
            argument = self._argument(f"state{k}", kind, inputs[position], tuple(taps))
            for tap in taps:
                self._bind_row(argument, inputs[position], tap)
                position += 1
        for k in range(info.n_untraced_sit_sot):
            argument = self._argument(f"untraced{k}", "untraced", inputs[position], (-1,))
            self._bind_row(argument, inputs[position], -1)
            position += 1
        for k in range(info.n_non_seqs):
            argument = self._argument(f"invariant{k}", "invariant", inputs[position], ())
            self._bind_invariant(argument, inputs[position])
            position += 1

    def _argument(self, name: str, kind: str, variable: Variable, taps) -> Argument:
        kind_of = variable.type
        if not has_c_type(kind_of):
            raise CannotLower(f"an input of type {kind_of}")
        outer = self.names[len(self.loop.arguments)] if self.names else None
        argument = Argument(name, kind, kind_of.dtype, (), taps, outer or variable.name or "")
        ndim = getattr(kind_of, "ndim", 0)
        self._take_sizes(argument, ndim, strides=kind == "invariant")
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

    def _take_sizes(self, argument: Argument, ndim: int, strides: bool) -> None:
        # of each array: its number of rows or the stride between them, the shape of a row, and
        # for an invariant its strides
        argument.first_size = self.next_size
        self.next_size += 1 + ndim * (2 if strides else 1)

    def _bind_row(self, argument: Argument, variable: Variable, tap: int) -> None:
        label = _tap_name(argument, tap)
        row: Buffer | Scalar
        if not argument.shape and getattr(variable.type, "ndim", 0) == 0:
            row = Scalar(label, argument.dtype)
            self.values[variable] = row
        else:
            row = Buffer(f"{label}_row", argument.dtype, argument.shape, "row")
            self.values[variable] = View.of(row)
        self.loop.rows.append((row, argument, tap))

    def _bind_invariant(self, argument: Argument, variable: Variable) -> None:
        if getattr(variable.type, "ndim", 0) == 0:
            name = self.step.sizes.define(C_TYPES[argument.dtype], Element(argument.name))
            self.values[variable] = Scalar(name, argument.dtype, invariant=True)
        else:
            buffer = Buffer(argument.name, argument.dtype, argument.shape, "invariant")
            self.values[variable] = View.of(buffer)

    # ---- outputs ----

    def _bind_outputs(self) -> None:
        info = self.info
        results = [self._operand(variable) for variable in self.graph.outputs]
        kinds = [variable.type for variable in self.graph.outputs]
        states = [a for a in self.loop.arguments if a.kind in ("mit_mot", "ring")]
        targets: list[tuple[Argument, int]] = []
        mit_mots = [a for a in states if a.kind == "mit_mot"]
        for argument, taps in zip(mit_mots, info.mit_mot_out_slices, strict=True):
            targets += [(argument, tap) for tap in taps]
        targets += [(argument, 0) for argument in states if argument.kind == "ring"]
        for k in range(info.n_nit_sot):
            value, kind = results[len(targets)], kinds[len(targets)]
            argument = Argument(f"trace{k}", "trace", kind.dtype, value.shape)
            self._take_sizes(argument, 0, strides=False)
            self.loop.arguments.append(argument)
            targets.append((argument, 0))
        untraced = [a for a in self.loop.arguments if a.kind == "untraced"]
        targets += [(argument, 0) for argument in untraced]
        if info.as_while:
            condition = results[len(targets)]
            if not isinstance(condition, Scalar):
                raise CannotLower("a condition that is not one number")
            self.loop.condition = condition
        for (argument, tap), value in zip(targets, results, strict=False):
            self._write(argument, tap, value)

    def _write(self, argument: Argument, tap: int, value: Value) -> None:
        if value.dtype != argument.dtype:
            raise CannotLower(f"a state of type {argument.dtype} that becomes {value.dtype}")
        for size, expected in zip(value.shape, argument.shape, strict=True):
            self.step.sizes.equal(expected, size, f"the shape of {argument.name} stays the same")
        write = RowWrite(argument, tap, value)
        if argument.shape:
            name = f"{_tap_name(argument, tap)}_new"
            write.row = Buffer(name, argument.dtype, argument.shape, "row")
        self.loop.writes.append(write)

    def _place_outputs(self) -> None:
        """Have results computed where they are wanted; what is updated in place comes last."""
        for write in self.loop.writes:
            if write.row is not None and write.argument.kind != "mit_mot":
                self.step.place(write.value, View.of(write.row))
        late = [w for w in self.loop.writes if w.row is not None and w.argument.kind == "mit_mot"]
        sources = []
        for write in late:
            value = write.value
            if isinstance(value, View) and any(value.buffer.root() is row for row in self._rows()):
                # the row may be overwritten before it is copied
                value = View.of(self.step.copied(value))
            sources.append(value)
        for write, value in zip(late, sources, strict=True):
            assert write.row is not None
            if self._may_update_in_place(write, value):
                self.step.place(value, View.of(write.row))
            elif isinstance(value, Spread):
                self.step.append(Copy(View.of(write.row), value.scalar), write.row)
            else:
                self.step.append(Copy(View.of(write.row), self.step.view(value)), write.row)

    def _rows(self) -> list[Buffer]:
        return [row for row, _, _ in self.loop.rows if isinstance(row, Buffer)]

    def _may_update_in_place(self, write: RowWrite, value: Value) -> bool:
        """Whether nobody reads the row after, or at other elements than, the write of it."""
        if not isinstance(value, View) or value.buffer.compute is None:
            return False
        for row, argument, tap in self.loop.rows:
            if argument is not write.argument or tap != write.tap or isinstance(row, Scalar):
                continue
            for position, statement in enumerate(self.step.statements):
                for view in statement.views():
                    if view.buffer.root() is not row:
                        continue
                    aligned = view.whole and view.buffer is row and isinstance(statement, Map)
                    limit = value.buffer.defined_at
                    if position > limit or (position == limit and not aligned):
                        return False
        return True


def _tap_name(argument: Argument, tap: int) -> str:
    if tap == 0:
        return f"{argument.name}_now"
    return f"{argument.name}_{'before' if tap < 0 else 'after'}{abs(tap)}"
