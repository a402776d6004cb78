"""Operations that are graphs of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import io_toposort
from pytensor.tensor.basic import Alloc, Join, MakeVector, ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape
from pytensor.tensor.subtensor import Subtensor

from theano.link.native.ir.ir import CannotLower, Value
from theano.link.native.lowering.operations.elementwise import constant_value
from theano.link.native.lowering.registry import lowering_of, lowers
from theano.link.native.lowering.step import Step
from theano.pytensor_internals.graphs.graph import copy_of_graph_inside

# what computes sizes
_OF_SIZES = (
    Alloc,
    CAReduce,
    DimShuffle,
    Elemwise,
    Join,
    MakeVector,
    Reshape,
    ScalarFromTensor,
    Subtensor,
    TensorFromScalar,
)
# elements of an array that is one of sizes
_FEW = 256


@lowers(OpFromGraph)
def inlined(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the operations inside, one after the other."""
    graph = node.op.fgraph
    known = {
        inside: variable
        for inside, variable in zip(graph.inputs, node.inputs, strict=True)
        if isinstance(variable, Constant)
    }
    return _computed(step, graph.inputs, graph.outputs, inputs, known)


def inlined_on_stacks(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the same, each of them on stacks; there may be none."""
    graph = copy_of_graph_inside(node.op.core_op)
    stacks = [variable.type() for variable in node.inputs]
    given = dict(zip(graph.inputs, stacks, strict=True))
    return _computed(step, stacks, vectorize_graph(graph.outputs, given), inputs, {})


def _computed(
    step: Step,
    graph_inputs: Sequence[Variable],
    outputs: Any,
    inputs: Sequence[Value],
    known: dict[Variable, Constant],
) -> list[Value]:
    # known: those of the inputs that are constants, and then what is computed of constants
    values = dict(zip(graph_inputs, inputs, strict=True))

    def operand(variable: Variable) -> Value:
        if variable not in values:
            values[variable] = _constant(step, known.get(variable, variable))
        return values[variable]

    # PyTensor begins with what the last of some results is computed from
    for inner in io_toposort(graph_inputs, outputs[::-1]):
        if (found := _integers(inner, known)) is not None:
            known[inner.outputs[0]] = found
            continue
        results = lowering_of(inner.op)(step, inner, [operand(x) for x in inner.inputs])
        values.update(zip(inner.outputs, results, strict=True))
    return [operand(variable) for variable in outputs]


def _integers(node: Apply, known: Mapping[Variable, Constant]) -> Constant | None:
    """Return what few integers a node makes of constants alone, such as sizes and bounds."""
    operands = [known.get(variable, variable) for variable in node.inputs]
    if not isinstance(node.op, _OF_SIZES) or np.dtype(node.outputs[0].type.dtype).kind not in "iu":
        return None
    values = [x.data for x in operands if isinstance(x, Constant) and np.size(x.data) <= _FEW]
    if len(values) < len(operands):
        return None
    if isinstance(node.op, Alloc) and prod(map(int, values[1:])) > _FEW:
        return None
    storage: list[list[Any]] = [[None]]
    try:
        node.op.perform(node, values, storage)
    except (IndexError, ValueError):
        # the call warns the user
        return None
    kind = node.outputs[0].type
    return kind.make_constant(kind.filter(storage[0][0]))


def _constant(step: Step, variable: Variable) -> Value:
    if not isinstance(variable, Constant):
        raise CannotLower(f"{variable} inside an operation")
    return constant_value(step, variable)
