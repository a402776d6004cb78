"""The statements of a loop's step, of which those that become loop nests are run as such, by NumPy.

Vectors are one element after the other here, and functions of the runtime a few lines of NumPy: a nest
says what is to be done without a word of C.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tests_scan_grad.native.passes.interpreter import REDUCTIONS, SCALAR, Interpreter
from theano.link.native.ir.ir import Buffer, Scalar
from theano.link.native.ir.loop_nests import (
    Address,
    Apply,
    Assign,
    Block,
    Call,
    Declare,
    For,
    If,
    Lanes,
    Let,
    Load,
    Local,
    Memory,
    Number,
    Pointer,
    Polled,
    Result,
    Store,
)
from theano.link.native.ir.symbolic import Call as Function
from theano.link.native.ir.symbolic import Choice, Name, Negative, Operation
from theano.link.native.schedule.registry import nest_of, schedule_of

OPERATORS = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv},
    **{"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge},
    **{"==": operator.eq, "!=": operator.ne, "&&": operator.and_, "||": operator.or_},
}


def _share(size: int, unit: int, thread: int, threads: int) -> int:
    return min(-(-size // unit) * thread // threads * unit, size)


FUNCTIONS = {
    "smaller": min,
    "share": _share,
    "parts_of_number": lambda elements: min(max(elements // 2**15, 1), 64),
}
ACCUMULATED = {"maximum so far": np.maximum, "minimum so far": np.minimum}


class NestInterpreter(Interpreter):
    """One step of a loop, whose statements become nests where they can."""

    def run(self, statement: Any) -> None:
        if schedule_of(type(statement)) is None:
            super().run(statement)
            return
        roots = {buffer.root() for buffer in (*statement.written(), *statement.memory_touched())}
        nest = _Nest(self, {root.name: root for root in roots})
        nest.run(nest_of(statement, self.loop.step.sizes, False, None))


class _Nest:
    """A nest as it runs: the values of names, and pointers as an array and a position in it."""

    def __init__(self, step: Interpreter, memory: dict[str, Buffer]):
        self.step, self.memory = step, memory
        self.names: dict[str, Any] = {}

    def run(self, nodes) -> None:
        for node in nodes:
            RUN[type(node)](self, node)

    def size(self, size: Any) -> Any:
        if isinstance(size, int):
            return size
        if isinstance(size, Name):
            return self.names[size.name] if size.name in self.names else self.step.size(size)
        if isinstance(size, Operation):
            return OPERATORS[size.operator](self.size(size.a), self.size(size.b))
        if isinstance(size, Negative):
            return -self.size(size.a)
        if isinstance(size, Choice):
            return self.size(size.yes if self.size(size.condition) else size.no)
        assert isinstance(size, Function)
        return FUNCTIONS[size.function](*map(self.size, size.operands))

    def at(self, pointer: str, index: Any = 0) -> tuple[np.ndarray, int]:
        if pointer not in self.names:
            array = self.step.memory(self.memory[pointer])
            assert array.flags.c_contiguous
            return array.reshape(-1), self.size(index)
        array, first = self.names[pointer]
        return array, first + self.size(index)

    def value(self, value: Any) -> Any:
        if isinstance(value, Load):
            array, index = self.at(value.pointer, value.index)
            return array[index]
        if isinstance(value, Local):
            return self.names[value.name]
        if isinstance(value, Scalar):
            return self.step.value(value)
        if isinstance(value, Result):
            (array, _), kind = self.at(value.operands[0].pointer), value.function.split("_")[0]
            return REDUCTIONS[kind].reduce(array)
        assert isinstance(value, Apply)
        operation = value.operation
        operands = [np.asarray(self.value(one)) for one in value.operands]
        if operation.operand_dtype is not None:
            operands = [one.astype(operation.operand_dtype) for one in operands]
        known = ACCUMULATED.get(operation.operation) or SCALAR.get(operation.operation)
        compute = known or {"divided": np.divide}[operation.operation]
        return compute(*operands).astype(operation.dtype)

    def _let(self, node: Let) -> None:
        self.names[node.name] = np.asarray(self.value(node.value)).astype(node.dtype)

    def _declare(self, node: Declare) -> None:
        self.step.numbers[node.name] = np.nan

    def _assign(self, node: Assign) -> None:
        known = self.names if node.name in self.names else self.step.numbers
        known[node.name] = self.value(node.value)

    def _number(self, node: Number) -> None:
        self.names[node.name] = self.size(node.value)

    def _pointer(self, node: Pointer) -> None:
        array, first = self.at(node.base)
        self.names[node.name] = array, first + sum(map(self.size, node.offset))

    def _memory(self, node: Memory) -> None:
        self.names[node.name] = np.full(node.count, np.nan).astype(node.dtype), 0

    def _lanes(self, node: Lanes) -> None:
        self.names[node.name] = np.full(node.count, np.nan).astype(node.dtype), 0

    def _store(self, node: Store) -> None:
        array, index = self.at(node.pointer, node.index)
        assert index >= 0
        array[index] = self.value(node.value)

    def _call(self, node: Call) -> None:
        given = [self.at(o.pointer, o.index) for o in node.operands if isinstance(o, Address)]
        numbers = [self.size(o) for o in node.operands if not isinstance(o, Address)]
        kind, part = node.function.split("_")[:2] if "_" in node.function else ("copy", "")
        (to, first), *rest = given
        if part == "begin":
            to[:] = {"add": 0, "multiply": 1, "maximum": -np.inf, "minimum": np.inf}[kind]
            return
        ((source, start),) = rest
        if kind == "copy":
            count = numbers[0] // to.itemsize
            to[first : first + count] = source[start : start + count]
        elif kind == "store":
            to[first : first + numbers[0]] = source[start : start + numbers[0]]
        elif part == "rows":
            apart, count, many = numbers
            sums = to[first : first + many]
            for row in range(start, start + count * apart, apart) if apart else [start] * count:
                sums[:] = REDUCTIONS[kind](sums, source[row : row + many])
        else:
            for position in range(*numbers):
                lane = position % len(to)
                to[lane] = REDUCTIONS[kind](to[lane], source[start + position])

    def _for(self, node: For) -> None:
        for index in range(self.size(node.first), self.size(node.end), self.size(node.by)):
            self.names[node.index] = index
            self.run(node.body)

    def _if(self, node: If) -> None:
        if self.size(node.condition):
            self.run(node.body)

    def _block(self, node: Block) -> None:
        self.run(node.body)

    def _polled(self, node: Polled) -> None:
        self.run(node.body)


RUN = {
    Let: _Nest._let,
    Declare: _Nest._declare,
    Assign: _Nest._assign,
    Number: _Nest._number,
    Pointer: _Nest._pointer,
    Memory: _Nest._memory,
    Lanes: _Nest._lanes,
    Store: _Nest._store,
    Call: _Nest._call,
    For: _Nest._for,
    If: _Nest._if,
    Block: _Nest._block,
    Polled: _Nest._polled,
}
