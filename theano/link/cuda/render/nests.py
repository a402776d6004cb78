"""Nests of a block as CUDA C: sizes are numbers, passes over elements are shared by lanes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from theano.link.cuda.fixed_sizes import FixedSizes
from theano.link.cuda.nodes import BeginChecks, EndChecks, ForLanes, Scratch, Sync
from theano.link.cuda.refusals import NoKernel
from theano.link.native.ir.ir import Scalar
from theano.link.native.ir.loop_nests import Apply, Fail, For, Number, Value
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.symbolic import Size
from theano.link.native.render.loop_nests import Printer, headed
from theano.link.native.render.numbers_in_c import C_TYPES, in_c, literal
from theano.link.native.render.scalar_functions import scalar_text
from theano.link.native.render.writer import Writer

# functions with their own files on a CPU that kernel.inc has
_FUNCTIONS = frozenset(
    "erf erfc sin cos tan asin acos atan atan2 exp2 log2 log10 sinh cosh asinh acosh atanh gamma "
    "gammaln power softplus".split()
)


class BlockWriter(Writer):
    """The writer of a kernel's step: numbers that shapes determine are literals.

    Attributes
    ----------
    named
        The names of numbers that were written as names.
    """

    fixed: FixedSizes
    named: set[str]

    @classmethod
    def of(cls, fixed: FixedSizes, error: Any) -> BlockWriter:
        """Return the writer of a step of fixed sizes."""
        writer = cls(fixed.sizes, False, error)
        writer.fixed, writer.named = fixed, set()
        return writer

    def number(self, scalar: Scalar) -> str:
        """Return a number, which is a literal if shapes determine it."""
        value = self.fixed.value(scalar)
        if value is not None:
            return literal(value, scalar.dtype)
        self.named.update(re.findall(r"[A-Za-z_]\w*", scalar.expression))
        return scalar.expression

    def text(self, size: Size) -> str:
        """Return a size."""
        folded = self.fixed.fold(size)
        if not isinstance(folded, int):
            self.named |= folded.names()
        return in_c(folded)


def checked(expression: Expression) -> Expression:
    """Return an operation that kernels have.

    Raises
    ------
    NoKernel
        If they have not.
    """
    if expression.library and expression.operation not in _FUNCTIONS:
        raise NoKernel(f"kernels have no function {expression.operation}")
    return expression


class BlockPrinter(Printer):
    """Nests of a block as they are written."""

    writer: BlockWriter

    def size(self, size: Size) -> str:
        return self.writer.text(size)

    def value(self, value: Value) -> str:
        if isinstance(value, Apply):
            texts = [self.value(operand) for operand in value.operands]
            return scalar_text(checked(value.operation), texts, value.dtypes)
        return super().value(value)

    def _number(self, node: Number) -> list[str]:
        return [f"const int {node.name} = {self.size(node.value)};"]

    def _for(self, node: For) -> list[str]:
        first, end, by = map(self.size, (node.first, node.end, node.by))
        step = f"{node.index}++" if by == "1" else f"{node.index} += {by}"
        head = f"for (int {node.index} = {first}; {node.index} < {end}; {step})"
        return headed(head, self.lines(node.body))

    def _for_lanes(self, node: ForLanes) -> list[str]:
        return [
            f"TK_LANES({node.index}, {self.size(node.count)}) {{",
            *self.lines(node.body),
            "}",
        ]

    def _sync(self, node: Sync) -> list[str]:
        return ["TK_SYNC"]

    def _scratch(self, node: Scratch) -> list[str]:
        kind = C_TYPES[node.dtype]
        return [f"{kind} *const {node.name} = ({kind} *)scratch;"]

    def _fail(self, node: Fail) -> list[str]:
        return ["failed = 1;"]

    def _begin_checks(self, node: BeginChecks) -> list[str]:
        return ["int failed = 0;"]

    def _end_checks(self, node: EndChecks) -> list[str]:
        number = self.writer.error(node.kind, node.text)
        return [f"if (TK_ANY(failed)) {{ status = {number}; break; }}"]


BlockPrinter.printers = {
    **Printer.printers,
    BeginChecks: BlockPrinter._begin_checks,
    EndChecks: BlockPrinter._end_checks,
    Fail: BlockPrinter._fail,
    For: BlockPrinter._for,
    ForLanes: BlockPrinter._for_lanes,
    Number: BlockPrinter._number,
    Scratch: BlockPrinter._scratch,
    Sync: BlockPrinter._sync,
}


def nest_text(nodes: Sequence[Any], writer: BlockWriter) -> list[str]:
    """Return the lines of a nest."""
    return BlockPrinter(writer).lines(nodes)
