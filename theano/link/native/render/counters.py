"""Counters in the code of a function that is profiled: time, calls, operations and bytes.

One clock runs through a function; each counter takes what has passed since the one before it, so
that a statement costs one reading of the clock. Only the first thread of a loop counts.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable

from theano.link.native.ir.ir import Size, View
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Statement
from theano.support.data_classes import dataclass

CLOCK = "int64_t counted = tn_clock();"
FIELDS = ("nanoseconds", "calls", "operations", "bytes")

_CODE = """
struct tn_time { int64_t seconds; long nanoseconds; };
extern int clock_gettime(int clock, struct tn_time *now);
static inline int64_t tn_clock(void)
{
#ifdef __APPLE__
    enum { monotonic = 6 };
#else
    enum { monotonic = 1 };
#endif
    struct tn_time now;
    clock_gettime(monotonic, &now);
    return now.seconds * 1000000000 + now.nanoseconds;
}
/* profile %d of this process: a separate table */
int64_t tn_counters[%d][4];
/* shapes of values, one after the other */
int64_t tn_shapes[%d];
#define TN_COUNT(k, operations, bytes) \\
    if (!thread) { \\
        const int64_t now = tn_clock(); \\
        tn_counters[k][0] += now - counted; \\
        tn_counters[k][1]++; \\
        tn_counters[k][2] += operations; \\
        tn_counters[k][3] += bytes; \\
        counted = now; \\
    }
"""
_serial_numbers = itertools.count()


@dataclass(frozen=True)
class Counter:
    """A counter of a profile.

    Attributes
    ----------
    function
        The name of the C function.
    kind
        'statement', 'numbers' (a few that only compute numbers), 'waiting' (for the other
        threads), or 'between' (from the last statement of a step to the first of the next).
    text
        What the statement does.
    node
        The operation that it was written for, where that is known.
    called
        The name of the C function of the loop that it runs.
    """

    function: str
    kind: str
    text: str
    node: Any = None
    called: str = ""


@dataclass(frozen=True)
class ValueOfNode:
    """A variable of the graph, as a C function has it.

    Attributes
    ----------
    function
        The name of the C function.
    position
        Where its shape begins among the shapes.
    in_memory
        Whether it is an array: what is fused with what reads it is not, and a number neither.
    """

    function: str
    variable: Any
    position: int
    in_memory: bool


class Counters:
    """The counters of a program, in the order of their table.

    Attributes
    ----------
    table
        What each counter counts.
    values
        The variables whose shapes are reported.
    """

    def __init__(self) -> None:
        self.table: list[Counter] = []
        self.values: list[ValueOfNode] = []
        self._shapes = 0
        self._serial = next(_serial_numbers)

    def code(self) -> str:
        """Return what stands before the functions."""
        return _CODE % (self._serial, max(1, len(self.table)), max(1, self._shapes))

    def read(self, address: Callable[[str], int]) -> list[list[int]]:
        """Return the numbers of each counter, in the order of `FIELDS`."""
        table = (ctypes.c_int64 * (4 * len(self.table))).from_address(address("tn_counters"))
        return [list(table[4 * k : 4 * k + 4]) for k in range(len(self.table))]

    def read_shapes(self, address: Callable[[str], int]) -> dict[ValueOfNode, tuple[int, ...]]:
        """Return the shape that each value had last."""
        table = (ctypes.c_int64 * max(1, self._shapes)).from_address(address("tn_shapes"))
        return {v: tuple(table[v.position : v.position + _rank(v.variable)]) for v in self.values}

    def shapes(self, step: Step) -> list[str]:
        """Return the lines that report the shapes of the values of a C function."""
        lines = []
        for variable, value in step.values.items():
            known = ValueOfNode(step.name, variable, self._shapes, _is_in_memory(value))
            self.values.append(known)
            self._shapes += len(value.shape)
            for d, size in enumerate(value.shape):
                place = f"tn_shapes[{known.position + d}]"
                lines.append(f"{place} = {step.sizes.find(size)};")
        return ["if (!thread) {", *lines, "}"] if lines else []

    def between_steps(self, step: Step) -> list[str]:
        return [self._count(Counter(step.name, "between", "between steps"))]

    def waiting(self, step: Step) -> list[str]:
        return [self._count(Counter(step.name, "waiting", "waiting for other threads"))]

    def after(self, step: Step, position: int) -> list[str]:
        """Return the line after a statement; none between those that only compute numbers."""
        statement = step.statements[position]
        node = step.origins.get(statement)
        if not statement.only_numbers:
            return self.after_part(step, statement)
        following = step.statements[position + 1 : position + 2]
        if any(other.only_numbers for other in following):
            return []
        return [self._count(Counter(step.name, "numbers", "numbers", node))]

    def after_part(self, step: Step, statement: Statement) -> list[str]:
        """Return the line after a statement, or a part of one that is repeated."""
        node = step.origins.get(statement)
        text = statement.described()
        counter = Counter(step.name, "statement", text, node, statement.called)
        return [self._count(counter, statement, step)]

    def _count(self, counter: Counter, statement: Any = None, step: Any = None) -> str:
        self.table.append(counter)
        operations = bytes_moved = "0"
        if statement is not None:
            operations = _sum(((each.each, each.shape) for each in statement.operations()), step)
            moved = [(np.dtype(v.dtype).itemsize, v.shape) for v in statement.moved()]
            bytes_moved = _sum(moved, step)
        return f"TN_COUNT({len(self.table) - 1}, {operations}, {bytes_moved})"


def _rank(variable: Variable) -> int:
    return getattr(variable.type, "ndim", 0)


def _is_in_memory(value: object) -> bool:
    if not isinstance(value, View):
        return False
    compute = value.buffer.compute
    return compute is None or compute.materialized


def _sum(terms: Iterable[tuple[int, tuple[Size, ...]]], step: Step) -> str:
    """Return the sum of products of sizes as C."""
    products = [
        " * ".join([str(each), *(f"({step.sizes.find(size)})" for size in shape)])
        for each, shape in terms
    ]
    return " + ".join(products) or "0"
