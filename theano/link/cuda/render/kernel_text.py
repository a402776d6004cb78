"""A loop as one kernel: each block keeps what it needs of the invariants, and runs its part of all steps."""

from __future__ import annotations

import math
from pathlib import Path

from theano.link.cuda.plan import Plan
from theano.link.cuda.products import BlockProduct, ProductGroup
from theano.link.cuda.refusals import NoKernel
from theano.link.cuda.render.nests import BlockWriter, checked, nest_text
from theano.link.cuda.render.rows import Rows
from theano.link.cuda.schedule.registry import nest_of
from theano.link.native.ir.ir import Buffer, Scalar, View
from theano.link.native.ir.layout import Place, Product
from theano.link.native.ir.partitions import ONE
from theano.link.native.ir.prologue import Element, NameChecked, NameNumber, SizeOperation
from theano.link.native.ir.symbolic import Name, Size, sum_of
from theano.link.native.ir.text import statement_text
from theano.link.native.render.c_text import comment, indented
from theano.link.native.render.numbers_in_c import C_TYPES, literal
from theano.link.native.render.scalar_functions import scalar_text
from theano.link.native.statements.base import Statement
from theano.link.native.statements.gemm import Gemm
from theano.link.native.statements.map_reduce import MapReduce
from theano.link.native.statements.numbers import Assign, Check, Load
from theano.link.native.statements.reduce import Reduce

_INCLUDED = Path(__file__).parent.parent / "included"
_PARTIAL_RESULTS = "scratch"


def device_text() -> str:
    """Return what stands before every kernel."""
    device = (_INCLUDED / "device.h").read_text()
    kernel = (_INCLUDED / "kernel.inc").read_text()
    return f"#ifdef TK_STAND_IN\n#include TK_STAND_IN\n#else\n{device}#endif\n{kernel}"


def kernel_text(plan: Plan, name: str) -> str:
    """Return the source of a kernel of this name.

    Raises
    ------
    NoKernel
        If it has a statement of which there is no form.
    """
    # only what lies in a block's own memory has other strides than in C order
    for buffer in plan.local:
        buffer.strides = plan.local_strides(buffer)
    try:
        return _KernelText(plan, name).text()
    finally:
        for buffer in plan.local:
            buffer.strides = None


class _KernelText:
    """The source of one kernel as it is written."""

    def __init__(self, plan: Plan, name: str):
        self.plan, self.name, self.loop = plan, name, plan.loop
        self.step = plan.loop.step
        self.writer = BlockWriter.of(plan.fixed, self.step.error)
        self.rows = Rows(self.loop, self.writer)
        groups = [one for one in plan.own.places if isinstance(one, ProductGroup)]
        self.kept = {group: f"kept{k}" for k, group in enumerate(groups)}
        self.hazards = _Hazards(self)

    def text(self) -> str:
        steps = self._steps()
        ends = [
            *(self._barrier("stop") if self.plan.blocks > 1 else ["TK_SYNC"]),
            *self.rows.ends(),
            "if (!me) { given.result[0] = step; given.result[1] = status; }",
        ]
        # which numbers of the prologue are needed is known by now
        begins = self._before_steps()
        lines = [
            *self._given(),
            f"TK_KERNEL({self.name}, {self.plan.lanes})(const {self.name}_given given)",
            "{",
            *begins,
            *steps,
            *ends,
            "}",
        ]
        return device_text() + "\n".join(indented(lines)) + "\n"

    # ---- before the steps ----

    def _given(self) -> list[str]:
        count = max(len(self.loop.arguments), 1)
        return [
            comment("The arrays, how many rows they have, and memory."),
            "typedef struct {",
            f"void *arrays[{count}];",
            f"int64_t rows[{count}], steps, *result;",
            "unsigned char *work;",
            "tk_barriers *barriers;",
            f"}} {self.name}_given;",
        ]

    def _before_steps(self) -> list[str]:
        plan = self.plan
        own = self._own_memory()
        return [
            f"enum {{ blocks = {plan.blocks}, lanes = {plan.lanes} }};",
            "const int block = TK_BLOCK, me = block * lanes + TK_LANE;",
            "const int64_t steps = given.steps;",
            *(["TK_SHARED"] if own else []),
            *self._arrays(),
            *self._prologue(),
            *self._ranges(),
            *self._work_memory(),
            *own,
            "int64_t step = 0;",
            "int status = 0;",
            *(["unsigned arrived = 0;"] if plan.blocks > 1 else []),
            *self.rows.starts(),
            *self._keep(),
            *(self._barrier("stop") if plan.blocks > 1 else ["TK_SYNC"]),
        ]

    def _barrier(self, then: str) -> list[str]:
        wait = "tk_barrier(given.barriers, blocks, &arrived)"
        if then == "break":
            return [f"if (!{wait}) {{ status = TK_HUNG; break; }}"]
        return [f"if (status == TK_HUNG || !{wait}) {{", *_HUNG, "}"]

    def _arrays(self) -> list[str]:
        lines = []
        for k, argument in enumerate(self.loop.arguments):
            name = argument.name + ("_out" if argument in self.loop.rings else "")
            kind = C_TYPES[argument.dtype]
            lines.append(f"{kind} *const {name} = ({kind} *)given.arrays[{k}];")
        return lines

    def _prologue(self) -> list[str]:
        """Return the numbers of the prologue that the step reads and shapes do not determine."""
        lines: list[str] = []
        for entry in reversed(self.step.sizes.entries):
            if not isinstance(entry, NameNumber | NameChecked):
                continue
            if entry.name in self.writer.named:
                lines.append(self._named_number(entry))
        return lines[::-1]

    def _named_number(self, entry: NameNumber | NameChecked) -> str:
        dtype = entry.dtype if isinstance(entry, NameNumber) else "int64"
        known = self.plan.fixed.known(Name(entry.name))
        head = f"const {C_TYPES[dtype]} {entry.name} ="
        if known is not None:
            return f"{head} {literal(known, dtype)};"
        if isinstance(entry, NameChecked):
            raise NoKernel("a size that depends on values")
        value = entry.value
        if isinstance(value, Element):
            return f"{head} {value.array}[{self.writer.text(value.offset)}];"
        if isinstance(value, SizeOperation):
            operands = [self._operand(one) for one in value.operands]
            return f"{head} {scalar_text(checked(value.operation), operands, value.dtypes)};"
        return f"{head} {self.writer.text(value)};"

    def _operand(self, operand: Size) -> str:
        if not isinstance(operand, int):
            self.writer.named |= operand.names()
        return self.writer.text(operand) if not isinstance(operand, Name) else operand.name

    def _ranges(self) -> list[str]:
        lines = []
        for k, size in self.plan.ranges.items():
            first, end = (
                f"tk_share({size}, 1, {block}, blocks)" for block in ("block", "block + 1")
            )
            lines.append(f"const int first{k} = {first}, end{k} = {end};")
        return lines

    def _work_memory(self) -> list[str]:
        dtypes = {one.name: one.dtype for one in self.loop.rings}
        lines = []
        for what, offset in self.plan.work.places.items():
            ring = isinstance(what, str)
            name, dtype = (f"{what}_ring", dtypes[what]) if ring else (what.name, what.dtype)
            name += "_rows" if what in self.plan.doubled else ""
            lines.append(_pointer(name, dtype, "given.work", offset))
        return lines

    def _own_memory(self) -> list[str]:
        lines = []
        for what, offset in self.plan.own.places.items():
            if isinstance(what, ProductGroup):
                lines.append(_pointer(self.kept[what], what.first.dtype, "tk_shared", offset))
            else:
                lines += self._local(what, offset)
        if self.plan.scratch:
            lines.append(
                f"unsigned char *const {_PARTIAL_RESULTS} = tk_shared + {self.plan.own.bytes};"
            )
        return lines

    def _local(self, buffer: Buffer, offset: int) -> list[str]:
        """Return where a block has its range of a buffer: the pointer is to where all of it would begin."""
        local, line = self.plan.local[buffer], ""
        line = _pointer(buffer.name, buffer.dtype, "tk_shared", offset)
        if local is not None:
            stride = self.plan.local_strides(buffer)[local.axis]
            line = f"{line[:-1]} - {local.first} * {stride};"
        return [line]

    def _keep(self) -> list[str]:
        """Return what fills a block's memory with its columns of the invariants."""
        lines = []
        for group, name in self.kept.items():
            for position, product in enumerate(group.products):
                right, kind = product.right, C_TYPES[product.dtype]
                start, columns = self._begin(right.place, right.columns, product)
                at = f"{name} + {position * product.n * (product.k | 1)}" if position else name
                lines.append(
                    f"tk_keep<{kind}, {product.n}, {product.k}, lanes>({at}, {start}, "
                    f"{self._stride(right.rows)}, {self._stride(right.columns)}, {columns});"
                )
        return lines

    # ---- the steps ----

    def _steps(self) -> list[str]:
        lines = ["for (; step < steps; step++) {"]
        if 0 in self.plan.waits:
            lines += self._barrier("break")
        lines += [*self.rows.of_step(), *self._by_turns()]
        self.hazards.begin_step()
        for position, statement in enumerate(self.step.statements):
            if position and position in self.plan.waits:
                lines += self._barrier("break")
                self.hazards.clear()
            elif self._begins(position) and self.hazards.conflict(statement):
                lines.append("TK_SYNC")
                self.hazards.clear()
            self.hazards.add(statement)
            lines += [comment(_short(statement_text(statement))), *self._statement(position)]
        count = len(self.step.statements)
        if count and count in self.plan.waits:
            lines += self._barrier("break")
        elif 0 not in self.plan.waits or self.rows.number_writes():
            lines.append("TK_SYNC")
        lines += self.rows.number_writes()
        condition = self.loop.condition
        if condition is not None:
            lines.append(f"if ({self.writer.number(condition)}) {{ step++; break; }}")
        return [*lines, *self.rows.next(), *self._sync_of_numbers(), "}"]

    def _by_turns(self) -> list[str]:
        """Return where those temporaries lie in a step that have rows for two."""
        lines = []
        for buffer in self.plan.doubled:
            kind, count = C_TYPES[buffer.dtype], math.prod(self.plan.fixed.shape(buffer.shape))
            lines.append(
                f"{kind} *const {buffer.name} = {buffer.name}_rows + (step & 1) * {count};"
            )
        return lines

    def _sync_of_numbers(self) -> list[str]:
        """Return what has all lanes see numbers that one of them wrote for the next step."""
        apart = 0 not in self.plan.waits
        return ["TK_SYNC"] if apart and self.rows.number_writes() else []

    def _begins(self, position: int) -> bool:
        """Return whether a statement is not computed together with the one before."""
        is_product = isinstance(self.step.statements[position], Gemm)
        return not is_product or position in self.plan.groups

    def _statement(self, position: int) -> list[str]:
        statement = self.step.statements[position]
        if isinstance(statement, Assign | Check | Load):
            return self._of_numbers(statement)
        if isinstance(statement, Gemm):
            if position not in self.plan.groups:
                # it is computed together with the one before
                return []
            lines = self._products(self.plan.groups[position])
        else:
            nest = nest_of(statement, self.plan.block(), self.plan.share(position))
            lines = nest_text(nest, self.writer)
        one = self.plan.partition(position) == ONE and self.plan.blocks > 1
        return ["if (!block) {", *lines, "}"] if one else lines

    def _of_numbers(self, statement: Assign | Check | Load) -> list[str]:
        writer = self.writer
        if isinstance(statement, Load):
            result = statement.result
            place = self.writer.place(statement.view)
            head = f"const {C_TYPES[result.dtype]} {writer.number(result)} ="
            return [f"{head} *({self._address(place)});"]
        operation = statement.operation if isinstance(statement, Assign) else statement.condition
        operands = [writer.number(one) for one in statement.operands]
        text = scalar_text(checked(operation), operands, [one.dtype for one in statement.operands])
        if isinstance(statement, Check):
            number = self.step.error(statement.kind, statement.text)
            return [f"if (!({text})) {{ status = {number}; break; }}"]
        result = statement.result
        return [f"const {C_TYPES[result.dtype]} {writer.number(result)} = {text};"]

    # ---- products ----

    def _address(self, place: Place) -> str:
        at: Size = Name(place.name)
        for offset in place.offsets:
            at = sum_of(at, offset.size)
        return self.writer.text(at)

    def _stride(self, stride: Product) -> str:
        return self.writer.text(stride.size)

    def _begin(self, place: Place, along: Product, product: BlockProduct) -> tuple[str, str]:
        """Return where a block's columns begin, and how many there are."""
        address, share = self._address(place), product.share
        if share is None:
            return address, str(product.n)
        begin = f"{address} + {share.first} * {self._stride(along)}"
        even = self.plan.is_even(share.first)
        return begin, str(product.n) if even else f"{share.end} - {share.first}"

    def _products(self, group: ProductGroup) -> list[str]:
        first = group.first
        left, right, kind = first.left, first.right, C_TYPES[first.dtype]
        operand = f"{self.kept[group]}, 1, 1" if group in self.kept else ""
        if not operand:
            start, _ = self._begin(right.place, right.columns, first)
            operand = f"{start}, {self._stride(right.rows)}, {self._stride(right.columns)}"
        outs = [one.out for one in group.products]
        begins, (columns, *_) = zip(
            *(self._begin(one.out.place, one.out.columns, one) for one in group.products),
            strict=True,
        )
        results = (
            f"{{{', '.join(begins)}}}",
            f"{{{', '.join(self._stride(out.rows) for out in outs)}}}",
            f"{{{', '.join(self._stride(out.columns) for out in outs)}}}",
        )
        count = len(group.products)
        flags = ", ".join(
            "true" if flag else "false"
            for flag in (first.kept, first.statement.accumulate, self.plan.is_wide(group))
        )
        sizes = f"{first.m}, {first.n}, {first.k}, {count}"
        return [
            f"tk_product<{kind}, {sizes}, {flags}, lanes>::run(",
            f"{self._address(left.place)}, {self._stride(left.rows)}, {self._stride(left.columns)}, "
            f"{operand},",
            f"tk_results<{kind}, {count}>{{{', '.join(results)}}}, {columns}, "
            f"({kind} *){_PARTIAL_RESULTS});",
        ]


_HUNG = ["if (!me) { given.result[0] = step; given.result[1] = TK_HUNG; }", "return;"]


def _pointer(name: str, dtype: str, memory: str, offset: int) -> str:
    kind = C_TYPES[dtype]
    return f"{kind} *const {name} = ({kind} *)({memory} + {offset});"


def _short(text: str) -> str:
    return text if len(text) < 160 else f"{text[:156]} ..."


class _Hazards:
    """The memory that lanes of a block have touched since they last waited for one another."""

    def __init__(self, text: _KernelText):
        loop = text.loop
        self.rows = {row: a.name for row, a, _ in loop.rows if not isinstance(row, Scalar)}
        self.rows |= {w.row: w.argument.name for w in loop.writes if w.row is not None}
        self.read: set = set()
        self.written: set = set()

    def begin_step(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget what was touched: all lanes have waited."""
        self.read, self.written = set(), set()

    def _touched(self, statement: Statement) -> tuple[set, set]:
        def key(buffer):
            root = buffer.root()
            return self.rows.get(root, root)

        values = statement.values_read()
        read = {
            key(one.buffer)
            for one in values
            if isinstance(one, View) and one.buffer.root().role != "invariant"
        }
        written = {self.rows.get(root, root) for root in statement.memory_written()}
        if isinstance(statement, Gemm | Reduce | MapReduce):
            written.add(_PARTIAL_RESULTS)
        return read, written

    def conflict(self, statement: Statement) -> bool:
        """Return whether a lane may touch what another one wrote, or write what another one reads."""
        read, written = self._touched(statement)
        return bool((read | written) & self.written or written & self.read)

    def add(self, statement: Statement) -> None:
        """Note what a statement touches."""
        read, written = self._touched(statement)
        self.read |= read
        self.written |= written
