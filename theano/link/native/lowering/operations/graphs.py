"""Operations that are graphs of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import io_toposort

from theano.link.native.ir.ir import CannotLower, Value
from theano.link.native.lowering.operations.elementwise import constant_value
from theano.link.native.lowering.registry import lowering_of, lowers
from theano.link.native.lowering.step import Step
from theano.pytensor_base.graphs.graph import copy_of_graph_inside


@lowers(OpFromGraph)
def inlined(step: Step, node, inputs: list[Value]) -> list[Value]:
    """The operations inside, one after the other."""
    graph = node.op.fgraph
    return _computed(step, graph.inputs, graph.outputs, inputs)


def inlined_on_stacks(step: Step, node, inputs: list[Value]) -> list[Value]:
    """The same, each of them on stacks; there may be none."""
    graph = copy_of_graph_inside(node.op.core_op)
    stacks = [variable.type() for variable in node.inputs]
    given = dict(zip(graph.inputs, stacks, strict=True))
    return _computed(step, stacks, vectorize_graph(graph.outputs, given), inputs)


def _computed(
    step: Step, graph_inputs: Sequence[Variable], outputs: Any, inputs: Sequence[Value]
) -> list[Value]:
    values = dict(zip(graph_inputs, inputs, strict=True))

    def operand(variable: Variable) -> Value:
        if variable not in values:
            values[variable] = _constant(step, variable)
        return values[variable]

    # PyTensor begins with what the last of some results is computed from
    for inner in io_toposort(graph_inputs, outputs[::-1]):
        results = lowering_of(inner.op)(step, inner, [operand(x) for x in inner.inputs])
        values.update(zip(inner.outputs, results, strict=True))
    return [operand(variable) for variable in outputs]


def _constant(step: Step, variable: Variable) -> Value:
    if not isinstance(variable, Constant):
        raise CannotLower(f"{variable} inside an operation")
    return constant_value(step, variable)
