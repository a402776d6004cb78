"""The statements of a loop's step, run by NumPy: a second renderer, which knows no C.

It runs steps whose sizes are static, and the kinds of statements that networks consist of; another
kind is a KeyError with its name.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from scipy import special

from theano.link.native.ir.ir import Buffer, Compute, Scalar, View
from theano.link.native.ir.prologue import Element, NameNumber, SizeOperation
from theano.link.native.lowering.loop import Loop
from theano.link.native.passes.dependence import Dependence
from theano.link.native.statements.copy import Combine, Copy
from theano.link.native.statements.gemm import Gemm
from theano.link.native.statements.map import Map
from theano.link.native.statements.map_reduce import MapReduce
from theano.link.native.statements.numbers import Assign, Load
from theano.link.native.statements.reduce import Reduce

SCALAR = {
    "add": lambda *x: reduce(np.add, x),
    "multiply": lambda *x: reduce(np.multiply, x),
    "subtract": np.subtract,
    "divide": np.divide,
    "negate": np.negative,
    "square": np.square,
    "first": lambda *x: x[0],
    "second": lambda *x: x[1],
    "tanh": np.tanh,
    "sigmoid": special.expit,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "maximum": np.maximum,
    "cast": lambda x: x,
}
REDUCTIONS = {"add": np.add, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum}


class Interpreter:
    """One step of a loop.

    Parameters
    ----------
    loop
        The loop, after any of the passes.
    rows, invariants
        The values of its rows, in the order of ``loop.rows``, and of its arguments by name.
    """

    def __init__(self, loop: Loop, rows: list[Any], invariants: dict[str, Any]):
        self.loop, self.invariants = loop, invariants
        self.dependence = Dependence(loop)
        self.arrays: dict[Any, np.ndarray] = {}
        self.numbers: dict[str, Any] = {}
        for (row, _, _), value in zip(loop.rows, rows, strict=True):
            if isinstance(row, Scalar):
                self.numbers[row.expression] = value
            else:
                self.arrays[self.dependence.memory(row)] = np.array(value)

    def results(self) -> list[np.ndarray]:
        """Return what the step gives, in the order of ``loop.writes``."""
        for entry in self.loop.step.sizes.entries:
            if isinstance(entry, NameNumber):
                self.numbers[entry.name] = self._of_prologue(entry.value)
        for statement in self.loop.step.statements:
            self.run(statement)
        return [np.array(self._written(write)) for write in self.loop.writes]

    def run(self, statement: Any) -> None:
        """Do what a statement does."""
        RUN[type(statement)](self, statement)

    def _of_prologue(self, value: Any) -> Any:
        if isinstance(value, Element):
            return np.ravel(self.invariants[value.array])[self.size(value.offset)]
        if isinstance(value, SizeOperation):
            operands = [self.size(operand) for operand in value.operands]
            return SCALAR[value.operation.operation](*operands)
        return self.size(value)

    def _written(self, write: Any) -> Any:
        if write.row is not None:
            return self.memory(write.row)
        return self.value(write.value)

    def size(self, size: Any) -> Any:
        """Return a size, or another number of the prologue."""
        return size if isinstance(size, int) else eval(str(size), {}, self.numbers)

    def shape(self, shape: Any) -> tuple[int, ...]:
        return tuple(map(self.size, shape))

    def memory(self, buffer: Buffer) -> np.ndarray:
        """Return the elements of a buffer, which are nan where nothing was written."""
        if buffer.place is not None:
            return self.elements(buffer.place)
        if buffer.source is not None:
            return self.elements(buffer.source).reshape(self.shape(buffer.shape))
        if buffer.role == "invariant":
            return np.asarray(self.invariants[buffer.name])
        key = self.dependence.memory(buffer)
        if key not in self.arrays:
            self.arrays[key] = np.full(self.shape(buffer.shape), np.nan, buffer.dtype)
        return self.arrays[key]

    def elements(self, view: View) -> np.ndarray:
        """Return the elements that a view shows, which can be written to."""
        index: list[Any] = [self.size(start) for start in view.start]
        order = sorted((axis, d) for d, axis in enumerate(view.axes) if axis is not None)
        for axis, d in order:
            start, count, step = index[axis], self.size(view.shape[d]), view.steps[d]
            stop = start + count * step
            index[axis] = slice(start, None if stop < 0 else stop, step)
        part = self.memory(view.buffer)[tuple(index)]
        present = [d for d in range(view.ndim) if view.axes[d] is not None]
        place = {d: k for k, (_, d) in enumerate(order)}
        turned = part.transpose([place[d] for d in present])
        for d in range(view.ndim):
            if view.axes[d] is None:
                turned = np.expand_dims(turned, d)
        shape = self.shape(view.shape)
        return turned if turned.shape == shape else np.broadcast_to(turned, shape)

    def value(self, operand: Any) -> Any:
        """Return the value of an operand: a view, or a number."""
        if isinstance(operand, View):
            return self.elements(operand)
        if operand.literal is not None:
            return np.asarray(operand.literal, operand.dtype)
        return self.size(operand.symbol)

    def put(self, target: Any, value: Any) -> None:
        """Give a view, or a number, its value."""
        if isinstance(target, Scalar):
            self.numbers[target.expression] = value
        else:
            self.elements(target)[...] = value


def _map(run: Interpreter, statement: Map) -> dict[Compute, Any]:
    done: dict[Compute, Any] = {}
    for compute in statement.body:
        operands = [
            done[one] if isinstance(one, Compute) else np.array(run.value(one))
            for one in compute.operands
        ]
        value = SCALAR[compute.operation.operation](*operands)
        done[compute] = np.broadcast_to(value, run.shape(statement.shape)).astype(compute.dtype)
    for compute, value in done.items():
        if compute.buffer is not None:
            run.memory(compute.buffer)[...] = value
    return done


def _reduced(run: Interpreter, statement: Reduce, source: Any) -> None:
    total = REDUCTIONS[statement.operation].reduce(source.astype(statement.dtype), statement.axes)
    run.put(statement.target, total)


def _map_reduce(run: Interpreter, statement: MapReduce) -> None:
    computed = _map(run, statement)
    for reduction, summed in statement.reduced:
        _reduced(run, reduction, computed[summed])


def _combine(run: Interpreter, statement: Combine) -> None:
    both = run.value(statement.target), run.value(statement.source)
    run.put(statement.target, REDUCTIONS[statement.operation](*both))


def _assign(run: Interpreter, statement: Assign) -> None:
    operands = map(run.value, statement.operands)
    run.put(statement.result, SCALAR[statement.operation.operation](*operands))


RUN: dict[type, Any] = {
    Map: _map,
    MapReduce: _map_reduce,
    Reduce: lambda run, s: _reduced(run, s, run.elements(s.source)),
    Copy: lambda run, s: run.put(s.target, np.array(run.value(s.source))),
    Combine: _combine,
    Gemm: lambda run, s: run.put(s.out, run.elements(s.a) @ run.elements(s.b)),
    Load: lambda run, s: run.put(s.result, run.elements(s.view)[()]),
    Assign: _assign,
}
