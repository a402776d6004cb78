"""In the steps of loops, a lazy choice between what cannot fail is an element-wise choice.

    ifelse(c, 2 * x, x + y)   ->   switch(c, 2 * x, x + y)

Engines have code for the second. It computes both, so that what a branch alone needs must be
element-wise work on numbers, or on arrays whose lengths are known to fit.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Pow
from pytensor.tensor.basic import Alloc, ScalarFromTensor, TensorFromScalar, switch
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import Shape_i
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.operations.tensor import IfElse
from theano.rewriting.rewrites.of_pytensor.guards import same_length

_CANNOT_FAIL = (DimShuffle, ScalarFromTensor, Shape_i, TensorFromScalar)


@node_rewriter([IfElse])
def choice_at_once(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """``ifelse`` -> ``switch``, where nothing that only a branch needs can fail."""
    op: Any = node.op
    condition, *branches = node.inputs
    shapes = getattr(graph, "shape_feature", None)
    pairs = list(zip(branches[: op.n_outs], branches[op.n_outs :], strict=True))
    if not all(_of_one_shape(shapes, [x, y, result]) for (x, y), result in _with(pairs, node)):
        return None
    if not all(_cannot_fail(shapes, inner) for inner in _needed_by_branches_alone(graph, node)):
        return None
    results = []
    for (x, y), old in _with(pairs, node):
        result = switch(condition, x, y)
        copy_stack_trace(old, result)
        results.append(old.type.filter_variable(result))
    return results


def _with(pairs: list[tuple[Variable, Variable]], node: Apply):
    return zip(pairs, node.outputs, strict=True)


def _of_one_shape(shapes: object, variables: Collection[Any]) -> bool:
    """Return whether variables are arrays that are known to have the same lengths."""
    if not all(isinstance(variable.type, TensorType) for variable in variables):
        return False
    first, *others = variables
    return all(
        same_length(shapes, first, axis, other, axis)
        for other in others
        for axis in range(first.type.ndim)
    )


def _cannot_fail(shapes: object, node: Apply) -> bool:
    op = node.op
    if isinstance(op, _CANNOT_FAIL):
        return True
    if isinstance(op, Alloc):
        return not node.inputs[0].type.ndim  # type: ignore[attr-defined]
    # a negative exponent of an integer is an error
    if not isinstance(op, Elemwise) or isinstance(op.scalar_op, Pow):
        return False
    result: Any = node.outputs[0]
    for axis in range(result.type.ndim):
        long: list[Any] = [v for v in node.inputs if not v.type.broadcastable[axis]]  # type: ignore[attr-defined]
        if not all(same_length(shapes, long[0], axis, other, axis) for other in long[1:]):
            return False
    return True


def _needed_by_branches_alone(graph: FunctionGraph, choice: Apply) -> list[Apply]:
    """Return the nodes that run only for the sake of a branch."""
    alone: set[Apply] = set()
    waiting = [v.owner for v in choice.inputs[1:] if v.owner is not None]
    while waiting:
        node = waiting.pop()
        uses = [use for output in node.outputs for use in graph.clients[output]]
        inside = all(use in alone or (use is choice and position) for use, position in uses)
        if node not in alone and inside:
            alone.add(node)
            waiting += [v.owner for v in node.inputs if v.owner is not None]
    return list(alone)
