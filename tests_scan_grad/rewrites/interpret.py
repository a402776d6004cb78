"""The values of variables, by each node's own `perform`: no C, no rewrites."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.mode import Mode as PyTensorMode
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.ifelse import IfElse
from pytensor.link.vm import VMLinker
from pytensor.scalar.basic import Add, Composite, Mul
from pytensor.scan.op import Scan
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.type import TensorType

# of the steps of loops, which PyTensor compiles
AS_WRITTEN = PyTensorMode(VMLinker(use_cloop=False, c_thunks=False), None)


@dataclass(frozen=True)
class Failed:
    """In place of a value: what was raised, and where."""

    node: Apply
    error: BaseException

    def __str__(self) -> str:
        return f"{type(self.error).__name__} of {self.node.op}: {str(self.error).splitlines()[:1]}"


class Interpreter:
    """Values of variables, each computed once.

    Parameters
    ----------
    given
        The values of the inputs, which are never overwritten.
    """

    def __init__(self, given: dict[Variable, Any]):
        self.values: dict[Variable, Any] = dict(given)

    def value(self, variable: Variable) -> Any:
        """The value of a variable, or `Failed`."""
        waiting = [variable]
        while waiting:
            now = waiting[-1]
            if now in self.values:
                waiting.pop()
                continue
            if isinstance(now, Constant):
                self.values[now] = now.data
                continue
            node = now.owner
            assert node is not None, f"{now} has no value"
            missing = [v for v in node.inputs if v not in self.values]
            if missing:
                waiting.extend(missing)
                continue
            operands = [self.values[v] for v in node.inputs]
            overwritten = {i for places in node.op.destroy_map.values() for i in places}
            # a shallow copy of a generator of random numbers would share its state
            kept = [copy.deepcopy(v) if i in overwritten else v for i, v in enumerate(operands)]
            self.values.update(zip(node.outputs, results(node, kept), strict=True))
        return self.values[variable]


def run_in_order(graph: FunctionGraph, given: Iterable[Any]) -> list[Any]:
    """The values of a graph's outputs, computed in its order with what is overwritten."""
    values: dict[Variable, Any] = {
        variable: copy.deepcopy(value) for variable, value in zip(graph.inputs, given, strict=True)
    }
    for variable in graph.variables:
        if isinstance(variable, Constant):
            values[variable] = copy.deepcopy(variable.data)
    for node in graph.toposort():
        computed = results(node, [values[v] for v in node.inputs])
        values.update(zip(node.outputs, computed, strict=True))
    return [values[v] for v in graph.outputs]


def results(node: Apply, operands: list[Any]) -> list[Any]:
    """Return what a node computes from values, or `Failed` for each output."""
    if isinstance(node.op, IfElse):
        return _branch(node, operands)
    for operand in operands:
        if isinstance(operand, Failed):
            return [operand] * len(node.outputs)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            made = _performed(node, operands)
            return [np.asarray(v) if isinstance(v, np.generic) else v for v in made]
    except Exception as error:
        return [Failed(node, error)] * len(node.outputs)


def _branch(node: Apply, operands: list[Any]) -> list[Any]:
    condition, *values = operands
    if isinstance(condition, Failed):
        return [condition] * len(node.outputs)
    n = len(node.outputs)
    return values[:n] if condition else values[n:]


# Of more than two operands, Python's arithmetic has other types than NumPy's.
_TWO_AT_A_TIME = {Add: np.add, Mul: np.multiply}


def _of_inner_graph(op: Composite, operands: list[Any]) -> list[Any]:
    """Compute fused operations one after the other, and return their results."""
    inside = dict(zip(op.fgraph.inputs, operands, strict=True))

    def value(variable: Variable) -> Any:
        return np.asarray(variable.data) if isinstance(variable, Constant) else inside[variable]

    for node in op.fgraph.toposort():
        arrays = [value(v) for v in node.inputs]
        types = [
            TensorType(str(a.dtype), [n if n == 1 else None for n in a.shape])() for a in arrays
        ]
        whole = Elemwise(node.op).make_node(*types)
        computed = results(whole, arrays)
        for inner, outcome in zip(node.outputs, computed, strict=True):
            if isinstance(outcome, Failed):
                raise outcome.error
            inside[inner] = np.asarray(outcome, dtype=inner.type.dtype)
    return [value(v) for v in op.fgraph.outputs]


def _performed(node: Apply, operands: list[Any]) -> list[Any]:
    if isinstance(node.op, OpFromGraph):
        inner = Interpreter(dict(zip(node.op.inner_inputs, operands, strict=True)))
        return [inner.value(v) for v in node.op.inner_outputs]
    if isinstance(node.op, Scan):
        op = node.op.clone()
        op.mode, op._fn = AS_WRITTEN, None
        node = Apply(op, node.inputs, [v.type() for v in node.outputs])
    elif isinstance(node.op, AllocEmpty):
        return [np.zeros([int(n) for n in operands], node.outputs[0].type.dtype)]
    elif isinstance(getattr(node.op, "core_op", None), AllocEmpty):
        batch = np.broadcast_shapes(*(n.shape for n in operands))
        lengths = [int(n.flat[0]) for n in operands]
        return [np.zeros([*batch, *lengths], node.outputs[0].type.dtype)]
    elif isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Composite):
        return _of_inner_graph(node.op.scalar_op, operands)
    elif (
        isinstance(node.op, Elemwise)
        and len(operands) > 2
        and type(node.op.scalar_op) in _TWO_AT_A_TIME
    ):
        function, dtype = _TWO_AT_A_TIME[type(node.op.scalar_op)], node.outputs[0].type.dtype
        return [reduce(partial(function, dtype=dtype), operands)]
    elif hasattr(node.op, "prepare_node"):
        node.op.prepare_node(node, None, None, "py")
    storage: list[list[Any]] = [[None] for _ in node.outputs]
    node.op.perform(node, operands, storage)
    return [cell[0] for cell in storage]
