"""Loop nests as C: the only place that knows how their nodes read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.link.native.ir.ir import Scalar
from theano.link.native.ir.loop_nests import (
    Address,
    Assign,
    Block,
    Call,
    Declare,
    Fail,
    For,
    Form,
    If,
    Kind,
    Lanes,
    Let,
    Load,
    Local,
    Memory,
    Node,
    Number,
    Pointer,
    Poll,
    Polled,
    Result,
    Store,
    Value,
)
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.symbolic import Name, Size, sum_of
from theano.link.native.render.numbers_in_c import C_TYPES, in_c
from theano.link.native.render.polls import declared, going_on, poll_after
from theano.link.native.render.scalar_functions import scalar_text, without_outer_parentheses
from theano.link.native.render.straight_lines import InLanes, OneByOne, is_straight, straight_lines
from theano.link.native.render.writer import Writer

_LONGEST_LINE = 110


def nest_in_c(nodes: Sequence[Node], writer: Writer) -> list[str]:
    """Return the lines of a nest in the C function that a writer is for."""
    return Printer(writer).lines(nodes)


class Printer:
    """A nest as it is written; what its nodes have named is no name of the step.

    Attributes
    ----------
    printers
        By the class of a node, what writes it.
    """

    printers: dict[type, Callable[[Any, Any], list[str]]] = {}

    def __init__(self, writer: Writer):
        self.writer = writer
        self.bound: set[str] = set()

    def lines(self, nodes: Sequence[Node]) -> list[str]:
        return [line for node in nodes for line in self.printers[type(node)](self, node)]

    # ---- numbers and values ----

    def rename(self, name: str) -> str:
        return name if name in self.bound else self.writer.rename(name)

    def size(self, size: Size) -> str:
        return in_c(size if isinstance(size, int) else size.renamed(self.rename))

    def load(self, load: Load) -> str:
        pointer = self.rename(load.pointer)
        return f"{pointer}[{self.size(load.index)}]" if load.index != 0 else f"*{pointer}"

    def number(self, number: Scalar) -> str:
        return self.writer.number(number)

    def address(self, operand: Address | Size) -> str:
        if isinstance(operand, Address):
            return self.size(sum_of(Name(operand.pointer), operand.index))
        return self.size(operand)

    def value(self, value: Value) -> str:
        if isinstance(value, Load):
            return self.load(value)
        if isinstance(value, Local):
            return value.name
        if isinstance(value, Scalar):
            return self.number(value)
        if isinstance(value, Result):
            return self.called(value)
        texts = [self.value(operand) for operand in value.operands]
        return scalar_text(value.operation, texts, value.dtypes)

    def called(self, call: Call | Result) -> str:
        name = f"{'runtime->' if call.of_runtime else 'tn_'}{call.function}"
        return f"{name}({', '.join(map(self.address, call.operands))})"

    # ---- nodes ----

    def _let(self, node: Let) -> list[str]:
        self.bound.add(node.name)
        text, real = self.value(node.value), C_TYPES[node.dtype]
        if node.kind is Kind.NUMBER:
            constant = "" if node.variable else "const "
            return [f"{constant}{real} {node.name} = {without_outer_parentheses(text)};"]
        suffix = SUFFIX[node.dtype]
        is_cast = isinstance(node.value, Scalar) or node.value.dtype != node.dtype
        text = f"({real}){text}" if is_cast else text
        if node.kind is Kind.VECTOR:
            constant = "" if node.variable else "const "
            return [f"{constant}tn_{suffix}v {node.name} = TN_SPLAT_{suffix.upper()}({text});"]
        return [f"const tn_divisor_{suffix} {node.name} = tn_divisor_of_{suffix}({text});"]

    def _declare(self, node: Declare) -> list[str]:
        return [f"{C_TYPES[node.dtype]} {self.rename(node.name)};"]

    def _assign(self, node: Assign) -> list[str]:
        text = without_outer_parentheses(self.value(node.value))
        return [f"{self.rename(node.name)} = {text};"]

    def _number(self, node: Number) -> list[str]:
        line = f"const int64_t {node.name} = {self.size(node.value)};"
        self.bound.add(node.name)
        return [line]

    def _pointer(self, node: Pointer) -> list[str]:
        at: Size = Name(node.base)
        for offset in node.offset:
            at = sum_of(at, offset)
        line = f"{C_TYPES[node.dtype]} *const {node.name} = {self.size(at)};"
        self.bound.add(node.name)
        return [line]

    def _memory(self, node: Memory) -> list[str]:
        self.bound.add(node.name)
        return [f"{C_TYPES[node.dtype]} {node.name}[{node.count}];"]

    def _lanes(self, node: Lanes) -> list[str]:
        self.bound.add(node.name)
        suffix = SUFFIX[node.dtype]
        return [f"tn_{suffix}v {node.name}[{node.count} / TN_WIDTH_{suffix.upper()}];"]

    def _store(self, node: Store) -> list[str]:
        to = self.load(Load(node.pointer, node.value.dtype, node.index))
        return [f"{to} = {without_outer_parentheses(self.value(node.value))};"]

    def _call(self, node: Call) -> list[str]:
        return [f"{self.called(node)};"]

    def _if(self, node: If) -> list[str]:
        head = f"if ({self.size(node.condition)})"
        return headed(head, self.lines(node.body))

    def _block(self, node: Block) -> list[str]:
        return in_braces(self.lines(node.body))

    def _polled(self, node: Polled) -> list[str]:
        return [*declared(1), *self.lines(node.body)]

    def _poll(self, node: Poll) -> list[str]:
        return poll_after(self.size(node.elements), node.every)

    def _fail(self, node: Fail) -> list[str]:
        return [self.writer.fails(node.kind, node.text)]

    def _for(self, node: For) -> list[str]:
        first, end, by = map(self.size, (node.first, node.end, node.by))
        self.bound.add(node.index)
        if node.form is Form.LANES:
            return self._in_lanes(node, first, end)
        i, more = node.index, going_on(int(node.polled))
        step = f"{i}++" if by == "1" else f"{i} += {by}"
        head = f"for (int64_t {i} = {first}; {i} < {end}{more}; {step})"
        if is_straight(node.body):
            body = straight_lines(node.body, OneByOne(self.load, self.number))
        else:
            body = self.lines(node.body)
        independent = ["TN_INDEPENDENT"] if node.form is Form.INDEPENDENT else []
        return [*independent, *headed(head, body)]

    def _in_lanes(self, node: For, first: str, end: str) -> list[str]:
        i, dtype = node.index, node.dtype
        width = f"TN_WIDTH_{SUFFIX[dtype].upper()}"

        def body(part: str) -> list[str]:
            return self._of_lanes(node.body, InLanes(dtype, part, self.address, self.number))

        return [
            f"int64_t {i} = {first};",
            f"for (; {i} + {width} <= {end}; {i} += {width}) {{",
            *body(""),
            "}",
            f"if ({i} < {end}) {{",
            f"const int64_t rest = {end} - {i};",
            *body("rest"),
            "}",
        ]

    def _of_lanes(self, body: Sequence[Node], spelling: InLanes) -> list[str]:
        """Return the lines of what is done in lanes, with loops whose turns follow one another."""
        if is_straight(body):
            return straight_lines(body, spelling)
        lines: list[str] = []
        for node in body:
            if isinstance(node, For):
                before = [one for one in node.body if _is_of_row(one)]
                first, end = self.size(node.first), self.size(node.end)
                head = f"for (int64_t {node.index} = {first}; {node.index} < {end}; {node.index}++)"
                self.bound.add(node.index)
                inside = self.lines(before)
                inside += straight_lines(
                    [one for one in node.body if not _is_of_row(one)], spelling
                )
                lines += headed(head, inside)
            elif isinstance(node, Store):
                lines += straight_lines([node], spelling)
            else:
                lines += self.lines([node])
        return lines


def _is_of_row(node: Node) -> bool:
    """Return whether a node is the same for all lanes of a row."""
    held = isinstance(node, Let) and node.kind in (Kind.VECTOR, Kind.DIVISOR)
    return held or isinstance(node, Pointer)


# a table, since functools.singledispatchmethod keeps whatever it was called on
Printer.printers = {
    Let: Printer._let,
    Declare: Printer._declare,
    Assign: Printer._assign,
    Number: Printer._number,
    Pointer: Printer._pointer,
    Memory: Printer._memory,
    Lanes: Printer._lanes,
    Store: Printer._store,
    Call: Printer._call,
    If: Printer._if,
    Block: Printer._block,
    Polled: Printer._polled,
    Poll: Printer._poll,
    Fail: Printer._fail,
    For: Printer._for,
}


def headed(head: str, body: list[str]) -> list[str]:
    """Return lines under the head of a loop or a condition."""
    if len(body) == 1 and "*const" not in body[0] and len(head) + len(body[0]) < _LONGEST_LINE:
        return [f"{head} {body[0]}"]
    return [f"{head} {{", *body, "}"]


def in_braces(lines: list[str]) -> list[str]:
    """Return lines in their own block, unless they are one statement."""
    depth = 0
    for line in lines[:-1]:
        depth += line.endswith("{") - line.startswith("}")
        if not depth:
            return ["{", *lines, "}"]
    return lines
