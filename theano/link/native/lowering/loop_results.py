"""The results of a step: which rows they go to, and where they are computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Variable

from theano.link.native.ir.ir import (
    Argument,
    Buffer,
    CannotLower,
    Scalar,
    Spread,
    Value,
    View,
)
from theano.link.native.lowering.loop import Loop, RowWrite
from theano.link.native.lowering.loop_arguments import LoopArguments, tap_name
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.map import Map
from theano.pytensor_base.scan import Scan


class LoopResults:
    """What a step computes, as rows of arrays."""

    def __init__(self, loop: Loop, op: Scan, arguments: LoopArguments):
        self.loop, self.step, self.info, self.arguments = loop, loop.step, op.info, arguments

    def bind(self, outputs: Sequence[Variable], values: Sequence[Value]) -> None:
        """Say which row each result of a step goes to, and have it computed there."""
        self._bind(values, [variable.type for variable in outputs])
        self._place()

    def _bind(self, results: Sequence[Value], kinds: Sequence[Any]) -> None:
        info = self.info
        states = [a for a in self.loop.arguments if a.kind in ("mit_mot", "ring")]
        targets: list[tuple[Argument, int]] = []
        mit_mots = [a for a in states if a.kind == "mit_mot"]
        for argument, taps in zip(mit_mots, info.mit_mot_out_slices, strict=True):
            targets += [(argument, tap) for tap in taps]
        targets += [(argument, 0) for argument in states if argument.kind == "ring"]
        for k in range(info.n_nit_sot):
            value, kind = results[len(targets)], kinds[len(targets)]
            argument = Argument(f"trace{k}", "trace", kind.dtype, value.shape)
            self.arguments.take_sizes(argument, 0, strides=False)
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
            name = f"{tap_name(argument, tap)}_new"
            write.row = Buffer(name, argument.dtype, argument.shape, "row")
        self.loop.writes.append(write)

    def _place(self) -> None:
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
