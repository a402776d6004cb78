"""The rows of sequences, states and traces in a loop's C function."""

from __future__ import annotations

from theano.link.native.ir.ir import FIRST_RESULT, Argument, Scalar
from theano.link.native.ir.sizes import bytes_of
from theano.link.native.ir.symbolic import Name
from theano.link.native.lowering.loop import Loop
from theano.link.native.render.memory import Memory, elements
from theano.link.native.render.numbers_in_c import C_TYPES, in_c, number_in_c


class Rows:
    """Which rows a step reads and writes, and how they move from step to step."""

    def __init__(self, loop: Loop, memory: Memory):
        self.loop, self.step, self.memory = loop, loop.step, memory
        self.sizes = loop.step.sizes

    def ring_memory(self) -> list[str]:
        """States of which fewer rows are kept than a step needs get a ring of their own."""
        lines = []
        for argument in self._rings():
            name, history = argument.name, argument.history
            shape = tuple(map(self.sizes.find, argument.shape))
            lines += [
                f"const int64_t {name}_stored = numbers[{argument.first_size}];",
                f"const int {name}_short = {name}_stored <= {history};",
                f"const int64_t {name}_rows = {name}_short ? {history + 1} : {name}_stored;",
                f"const int64_t {name}_ring_rows = {name}_short ? {history + 1} : 0;",
                f"const int64_t {name}_size = {in_c(bytes_of(shape, 1))};",
            ]
            ring = self.memory.bytes_of(argument.dtype, (Name(f"{name}_ring_rows"), *shape))
            self.memory.take(f"{name}_ring", argument.dtype, ring)
        return lines

    def _rings(self) -> list[Argument]:
        return [a for a in self.loop.arguments if a.kind in ("ring", "untraced")]

    def trace_shapes(self) -> list[str]:
        """The lines that answer the shapes of the rows of traces."""
        lines, position = [], FIRST_RESULT
        for argument in self.loop.arguments:
            if argument.kind == "trace":
                for size in argument.shape:
                    lines.append(f"result[{position}] = {in_c(size)};")
                    position += 1
        return lines

    def starts(self) -> list[str]:
        """Where states and traces lie, and which row is the first."""
        lines = []
        for argument in self._rings():
            name, history = argument.name, argument.history
            kind = C_TYPES[argument.dtype]
            lines.append(f"{kind} *const {name} = {name}_short ? {name}_ring : {name}_out;")
            lines.append(
                f"if ({name}_short && !thread) __builtin_memcpy({name}, {name}_out, "
                f"{history} * {name}_size * sizeof *{name});"
            )
            lines.append(f"int64_t {name}_at_row = {history};")
        for argument in self.loop.arguments:
            name, first = argument.name, argument.first_size
            if argument.kind == "trace":
                lines.append(f"const int64_t {name}_rows = numbers[{first}];")
                lines.append(f"int64_t {name}_at_row = 0;")
            elif argument.kind == "mit_mot":
                lines.append(f"const int64_t {name}_rows = numbers[{first}];")
                start = f"tn_wrapped({argument.history} % {name}_rows, {name}_rows)"
                lines.append(f"int64_t {name}_at_row = {start};")
        return lines

    def _address(self, argument: Argument, tap: int) -> str:
        name, size = argument.name, elements(self.step, argument.shape)
        if argument.kind == "sequence":
            return f"{name} + step * numbers[{argument.first_size}]"
        row = f"{name}_at_row"
        if tap:
            row = f"tn_wrapped({row} {'+' if tap > 0 else '-'} {abs(tap)}, {name}_rows)"
        return f"{name} + {row} * ({size})" if size != "1" else f"{name} + {row}"

    def pointers(self) -> list[str]:
        """Where the rows of a step lie."""
        lines = []
        for row, argument, tap in self.loop.rows:
            address, kind = self._address(argument, tap), C_TYPES[argument.dtype]
            if isinstance(row, Scalar):
                lines.append(f"const {kind} {row.expression} = *({address});")
            else:
                lines.append(f"{kind} *const {row.name} = {address};")
        for write in self.loop.writes:
            if write.row is not None:
                address = self._address(write.argument, write.tap)
                lines.append(
                    f"{C_TYPES[write.argument.dtype]} *const {write.row.name} = {address};"
                )
        return lines

    def number_writes(self) -> list[str]:
        """The lines that write results that are single numbers."""
        lines = []
        for write in self.loop.writes:
            if write.row is None:
                address = self._address(write.argument, write.tap)
                assert isinstance(write.value, Scalar)
                lines.append(f"if (!thread) *({address}) = {number_in_c(write.value)};")
        return lines

    def advance(self) -> list[str]:
        """Go on to the next row of each."""
        return [
            f"if (++{a.name}_at_row == {a.name}_rows) {a.name}_at_row = 0;"
            for a in self.loop.arguments
            if a.kind in ("ring", "untraced", "mit_mot", "trace")
        ]

    def ends(self) -> list[str]:
        """Have the rows of states and traces in order, where the caller looks for them."""
        lines = []
        for argument in self._rings():
            name, history = argument.name, argument.history
            lines += [
                f"if ({name}_short) {{",
                f"for (int64_t k = 0; k < {name}_stored; k++) {{",
                f"const int64_t row = ({history} + step - {name}_stored + k) % {name}_rows;",
                f"__builtin_memcpy({name}_out + k * {name}_size, {name} + row * {name}_size, "
                f"{name}_size * sizeof *{name});",
                "}",
                "}",
            ]
        for argument in self.loop.arguments:
            name, stored = argument.name, f"numbers[{argument.first_size}]"
            row = f"{elements(self.step, argument.shape)} * (int64_t)sizeof *{name}"
            if argument.kind == "ring":
                ordered = (
                    f"runtime->order_rows({name}, {stored}, {row}, step + {argument.history});"
                )
                lines.append(f"if (!{name}_short) {ordered}")
            elif argument.kind == "trace":
                lines.append(f"runtime->order_rows({name}, {stored}, {row}, step);")
        return lines
