"""Operations that are graphs of others."""

from __future__ import annotations

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Constant

from theano.link.native.ir.ir import CannotLower, Value
from theano.link.native.lowering.operations.elementwise import constant_value
from theano.link.native.lowering.registry import lowering_of, lowers
from theano.link.native.lowering.step import Step


@lowers(OpFromGraph)
def inlined(step: Step, node, inputs: list[Value]) -> list[Value]:
    """The operations inside, one after the other."""
    graph = node.op.fgraph
    values = dict(zip(graph.inputs, inputs, strict=True))

    def operand(variable) -> Value:
        if variable not in values:
            values[variable] = _constant(step, variable)
        return values[variable]

    for inner in graph.toposort():
        results = lowering_of(inner.op)(step, inner, [operand(x) for x in inner.inputs])
        values.update(zip(inner.outputs, results, strict=True))
    return [operand(variable) for variable in graph.outputs]


def _constant(step: Step, variable) -> Value:
    if not isinstance(variable, Constant):
        raise CannotLower(f"{variable} inside an operation")
    return constant_value(step, variable)
