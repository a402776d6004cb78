"""A loop: the step of a PyTensor Scan in the intermediate form, and what it reads and writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scan.op import Scan
from pytensor.tensor.type import TensorType

from theano.link.native.inner_graph import prepared
from theano.link.native.ir import (
    Buffer,
    CannotLower,
    Combine,
    Compute,
    Copy,
    Gather,
    Gemm,
    Load,
    Map,
    Reduce,
    Scalar,
    Scatter,
    Size,
    Spread,
    Statement,
    Value,
    View,
)
from theano.link.native.lowering import lowering_of
from theano.link.native.lowering.elementwise import constant_value
from theano.link.native.scalar_types import C_TYPES
from theano.link.native.sizes import Sizes
from theano.link.native.step import Step


@dataclass(eq=False)
class Argument:
    """An array that the caller passes.

    Attributes
    ----------
    kind
        'sequence', 'invariant', 'ring' (a state of which rows are read and written),
        'mit_mot' (a buffer whose rows are updated), 'trace' or 'untraced'.
    shape
        Of one row; of the whole array for an invariant or an untraced state.
    taps
        The rows that a step reads, relative to the one that it writes.
    free_strides
        Whether the code takes any strides within a row.
    first_size
        Where the sizes of the array begin among the numbers that the caller passes.
    """

    name: str
    kind: str
    dtype: str
    shape: tuple[Size, ...]
    taps: tuple[int, ...] = ()
    comment: str = ""
    free_strides: bool = False
    first_size: int = 0
    static_shape: tuple[int | None, ...] = ()
    constant: np.ndarray | None = None

    @property
    def history(self) -> int:
        """How many rows before the one written a step reads."""
        return -min(self.taps) if self.taps else 0


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


def lower_scan(op: Scan, outer_names: list[str | None]) -> Loop:
    """Lower the step of a Scan.

    Raises
    ------
    CannotLower
        With the first reason found.
    """
    graph = prepared(op)
    # What is found out about sizes at the end of the step decides what is fused at its beginning.
    first = _LoopBuilder(op, graph, outer_names, None).build()
    return _LoopBuilder(op, graph, outer_names, first.step.sizes).build()


# The numbers that the caller passes begin with: whether to run, the number of steps.
FIRST_SIZE = 2


class _LoopBuilder:
    def __init__(self, op: Scan, graph: FunctionGraph, outer_names, known: Sizes | None):
        self.op, self.info, self.graph = op, op.info, graph
        self.step = Step(known)
        self.names = outer_names
        self.values: dict[Variable, Value] = {}
        self.loop = Loop(op.name or "scan", self.step, [], [])
        self.next_size = FIRST_SIZE

    def build(self) -> Loop:
        self._bind_inputs()
        for node in self.graph.toposort():
            operands = [self._operand(variable) for variable in node.inputs]
            results = lowering_of(node.op)(self.step, node, operands)
            self._check_types(node, results)
            self.values.update(zip(node.outputs, results, strict=True))
        self._bind_outputs()
        self._place_outputs()
        _mark_stored(self.step.statements)
        self._choose_strides()
        self.loop.number_count = self.next_size
        return self.loop

    def _check_types(self, node, results: list[Value]) -> None:
        for variable, value in zip(node.outputs, results, strict=True):
            ndim = getattr(variable.type, "ndim", 0)
            if value.ndim != ndim or value.dtype != variable.type.dtype:
                raise CannotLower(
                    f"{node.op} as {value.dtype} with {value.ndim} dimensions instead of "
                    f"{variable.type}"
                )
            for d, size in enumerate(getattr(variable.type, "shape", ())):
                if size is not None:
                    self.step.sizes.equal(value.shape[d], size, f"a static size of {node.op}")

    # ---- inputs ----

    def _operand(self, variable: Variable) -> Value:
        if variable in self.values:
            return self.values[variable]
        if not isinstance(variable, Constant):
            raise CannotLower(f"the input {variable}")
        self.values[variable] = self._constant(variable)
        return self.values[variable]

    def _constant(self, variable: Constant) -> Value:
        if getattr(variable.type, "dtype", None) is None:
            # None among the sizes of SpecifyShape, or a slice
            return Scalar("0", "int64", invariant=True)
        if variable.type.dtype not in C_TYPES:
            raise CannotLower(f"a constant of type {variable.type}")
        value = constant_value(self.step, variable)
        if value is not None:
            return value
        data = np.ascontiguousarray(variable.data)
        name = f"constant{len(self.loop.arguments)}"
        argument = Argument(name, "invariant", variable.type.dtype, data.shape, constant=data)
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
        if not isinstance(kind_of, TensorType) and not hasattr(kind_of, "dtype"):
            raise CannotLower(f"an input of type {kind_of}")
        if kind_of.dtype not in C_TYPES:
            raise CannotLower(f"an input of type {kind_of}")
        outer = self.names[len(self.loop.arguments)] if self.names else None
        argument = Argument(name, kind, kind_of.dtype, (), taps, outer or variable.name or "")
        ndim = getattr(kind_of, "ndim", 0)
        self._take_sizes(argument, ndim, strides=kind == "invariant")
        shape: list[Size] = []
        for d in range(ndim):
            size = kind_of.shape[d]
            text = f"numbers[{argument.first_size + 1 + d}]"
            what = f"{argument.comment or name}, size of dimension {d}"
            if size is not None:
                self.step.sizes.check(f"{text} == {size}", what)
                shape.append(size)
            else:
                shape.append(self.step.sizes.argument(f"{name}_n{d}", text, what))
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
            name = self.step.sizes.define(C_TYPES[argument.dtype], f"*{argument.name}")
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
                for view in views_of(statement):
                    if view.buffer.root() is not row:
                        continue
                    aligned = view.whole and view.buffer is row and isinstance(statement, Map)
                    limit = value.buffer.defined_at
                    if position > limit or (position == limit and not aligned):
                        return False
        return True

    def _choose_strides(self) -> None:
        """Invariants that only products read may have any strides; others are in C order."""
        buffers: dict[str, Buffer] = {}
        strict: set[str] = set()
        for statement in self.step.statements:
            packed = isinstance(statement, Gemm) and statement.packed is not None
            for view in views_of(statement):
                root = view.buffer.root()
                if root.role == "invariant":
                    buffers[root.name] = root
                    by_product = isinstance(statement, Gemm) and view.buffer is root
                    if not (packed or by_product):
                        strict.add(root.name)
        for view in self.step.packed:
            buffers[view.buffer.root().name] = view.buffer.root()
        for argument in self.loop.arguments:
            root = buffers.get(argument.name)  # type: ignore[assignment]
            if root is not None and argument.name not in strict and argument.constant is None:
                argument.free_strides = True
                root.strides = tuple(f"{argument.name}_s{d}" for d in range(len(root.shape)))


def _tap_name(argument: Argument, tap: int) -> str:
    if tap == 0:
        return f"{argument.name}_now"
    return f"{argument.name}_{'before' if tap < 0 else 'after'}{abs(tap)}"


def views_of(statement: Statement) -> list[View]:
    """All views that a statement reads or writes, but for the results of a map."""
    candidates: list[Any] = []
    if isinstance(statement, Map):
        candidates = [operand for compute in statement.body for operand in compute.operands]
    elif isinstance(statement, Copy | Combine):
        candidates = [statement.target, statement.source]
    elif isinstance(statement, Load):
        candidates = [statement.view]
    elif isinstance(statement, Gemm):
        candidates = [statement.a, statement.b, statement.out]
    elif isinstance(statement, Reduce):
        candidates = [statement.source, statement.target]
    elif isinstance(statement, Gather | Scatter):
        candidates = [statement.target, statement.source, statement.index]
    return [candidate for candidate in candidates if isinstance(candidate, View)]


def _mark_stored(statements: list[Statement]) -> None:
    """Results of maps that anything reads from memory, or that are stored for the caller."""
    for statement in statements:
        for view in views_of(statement):
            _store(view.buffer)
        if isinstance(statement, Map):
            for compute in statement.body:
                if compute.buffer is not None and compute.buffer.place is not None:
                    compute.stored = True


def _store(buffer: Buffer | None) -> None:
    while buffer is not None:
        if isinstance(buffer.compute, Compute):
            buffer.compute.stored = True
        buffer = buffer.source.buffer if buffer.source is not None else None
