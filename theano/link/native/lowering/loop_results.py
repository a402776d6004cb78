"""The results of a step: which rows they go to, and where they are computed."""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.graph.basic import Variable

from theano.link.native.ir.ir import (
    Argument,
    Buffer,
    CannotLower,
    Scalar,
    Splat,
    Value,
    View,
)
from theano.link.native.lowering.loop import Loop, RowWrite
from theano.link.native.lowering.loop_arguments import LoopArguments, tap_name
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.map import Map


class LoopResults:
    """The results of a step, as rows of arrays."""

    def __init__(self, loop: Loop, arguments: LoopArguments):
        self.loop, self.step, self.arguments = loop, loop.step, arguments
        self.roles = arguments.roles

    def bind(self, outputs: Sequence[Variable], results: Sequence[Value]) -> None:
        """Record which row each result of a step goes to, and have it computed there."""
        computed = self.roles.inner_outputs(list(results))
        states = [a for a in self.loop.arguments if a.kind in ("mit_mot", "ring")]
        untraced = [a for a in self.loop.arguments if a.kind == "untraced"]
        targets: list[tuple[Argument, int, Value]] = []
        for argument, taps, values in zip(states, self.roles.states, computed.states, strict=True):
            targets += [(argument, *pair) for pair in zip(taps.writes, values, strict=True)]
        kinds = self.roles.inner_outputs(list(outputs)).traces
        for k, (variable, value) in enumerate(zip(kinds, computed.traces, strict=True)):
            argument = Argument(f"trace{k}", "trace", variable.type.dtype, value.shape)
            self.arguments.take_sizes(argument, 0, strides=False)
            self.loop.arguments.append(argument)
            targets.append((argument, 0, value))
        targets += [(a, 0, value) for a, value in zip(untraced, computed.untraced, strict=True)]
        if self.roles.may_stop:
            condition = computed.condition
            if not isinstance(condition, Scalar):
                raise CannotLower("a condition that is not one number")
            self.loop.condition = condition
        for argument, tap, value in targets:
            self._write(argument, tap, value)
        self._place()

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
            elif isinstance(value, Splat):
                self.step.append(Copy(View.of(write.row), value.scalar), write.row)
            else:
                self.step.append(Copy(View.of(write.row), self.step.view(value)), write.row)

    def _rows(self) -> list[Buffer]:
        return [row for row, _, _ in self.loop.rows if isinstance(row, Buffer)]

    def _may_update_in_place(self, write: RowWrite, value: Value) -> bool:
        """Return whether nobody reads the row after, or at other elements than, the write of it."""
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
