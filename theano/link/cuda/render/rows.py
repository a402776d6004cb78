"""The rows of sequences, states and traces in a kernel."""

from __future__ import annotations

import math

from theano.link.cuda.render.nests import BlockWriter
from theano.link.native.ir.ir import Argument, Scalar
from theano.link.native.lowering.loop import Loop
from theano.link.native.render.numbers_in_c import C_TYPES

_WITH_ROWS = ("ring", "untraced", "mit_mot", "trace")


class Rows:
    """The text about rows of one kernel."""

    def __init__(self, loop: Loop, writer: BlockWriter):
        self.loop, self.writer = loop, writer
        self.positions = {id(a): k for k, a in enumerate(loop.arguments)}

    def _given(self, argument: Argument) -> str:
        """Return how many rows the caller has of an array."""
        return f"given.rows[{self.positions[id(argument)]}]"

    def elements(self, argument: Argument) -> int:
        """Return how many elements a row has."""
        return math.prod(self.writer.fixed.shape(argument.shape))

    def starts(self) -> list[str]:
        """Return where states and traces lie, and which row is the first."""
        lines = []
        for argument in self.loop.arguments:
            name, given, history = argument.name, self._given(argument), argument.history
            if argument.kind in ("ring", "untraced"):
                lines += [
                    f"const int64_t {name}_rows = {given} > {history} ? {given} : {history + 1};",
                    f"{C_TYPES[argument.dtype]} *const {name} = "
                    f"{given} > {history} ? {name}_out : {name}_ring;",
                    f"if ({name} != {name}_out) tk_begin_ring({name}, {name}_out, {history}, "
                    f"{self.elements(argument)}, me, blocks * lanes);",
                    f"int64_t {name}_at_row = {history};",
                ]
                if argument.in_place:
                    # all steps but the last write over the first row, which they read
                    lines.append(f"const int {name}_stays = {name}_rows == 2;")
            elif argument.kind in ("trace", "mit_mot"):
                first = "0"
                if argument.kind == "mit_mot":
                    first = f"tk_wrapped({history} % {name}_rows, {name}_rows)"
                lines.append(f"const int64_t {name}_rows = {given};")
                lines.append(f"int64_t {name}_at_row = {first};")
        return lines

    def of_step(self) -> list[str]:
        """Return where the rows of a step lie."""
        lines = []
        for row, argument, tap in self.loop.rows:
            address, kind = self._address(argument, tap), C_TYPES[argument.dtype]
            if isinstance(row, Scalar):
                lines.append(f"const {kind} {row.expression} = *({address});")
            else:
                lines.append(f"{kind} *const {row.name} = {address};")
        for write in self.loop.writes:
            if write.row is not None:
                kind = C_TYPES[write.argument.dtype]
                address = self._address(write.argument, write.tap)
                lines.append(f"{kind} *const {write.row.name} = {address};")
        return lines

    def _address(self, argument: Argument, tap: int) -> str:
        name, size = argument.name, self.elements(argument)
        row = "step"
        if argument.kind != "sequence":
            row = f"{name}_at_row"
            if tap:
                sign = "+" if tap > 0 else "-"
                row = f"tk_wrapped({row} {sign} {abs(tap)}, {name}_rows)"
            elif argument.in_place:
                row = f"({name}_stays && step + 1 < steps ? 0 : {row})"
        return f"{name} + {row} * {size}" if size != 1 else f"{name} + {row}"

    def number_writes(self) -> list[str]:
        """Return the lines that write results that are single numbers."""
        lines = []
        for write in self.loop.writes:
            if write.row is None:
                assert isinstance(write.value, Scalar)
                address = self._address(write.argument, write.tap)
                lines.append(f"if (!me) *({address}) = {self.writer.number(write.value)};")
        return lines

    def next(self) -> list[str]:
        """Go on to the next row of each."""
        return [
            f"if ({f'!{a.name}_stays && ' if a.in_place else ''}"
            f"++{a.name}_at_row == {a.name}_rows) {a.name}_at_row = 0;"
            for a in self.loop.arguments
            if a.kind in _WITH_ROWS
        ]

    def ends(self) -> list[str]:
        """Have the rows of states and traces in order, where the caller has them."""
        lines = []
        for argument in self.loop.arguments:
            name, given, size = argument.name, self._given(argument), self.elements(argument)
            if argument.kind in ("ring", "untraced"):
                written = f"step + {argument.history}"
                if argument.in_place:
                    written = f"{name}_stays && step ? 2 : {written}"
                lines += [
                    f"if ({name} == {name}_out) tk_order_rows({name}, {name}_rows, {size}, {written}, "
                    "me, blocks * lanes);",
                    f"else tk_end_ring({name}, {name}_out, {name}_rows, {given}, {size}, {written}, "
                    "me, blocks * lanes);",
                ]
            elif argument.kind == "trace":
                lines.append(
                    f"tk_order_rows({name}, {name}_rows, {size}, step, me, blocks * lanes);"
                )
        return lines
