"""A function of one array is computed in the shape and order of what its operand was computed in.

    tanh(reshape(x + y).T)   ->   reshape(tanh(x + y)).T

PyTensor's canonical form is the other way round. It parts a pass over the elements in two, the
second of which may run across memory, and hides that the same is computed in another shape: in a
loop that attends, and in its gradient.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter


@node_rewriter([Elemwise])
def views_last(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Compute first and view then, where the operand is element-wise work seen in another way."""
    function: Any = node.op
    if len(node.inputs) != 1 or len(node.outputs) != 1 or function.inplace_pattern:
        return None
    seen = node.inputs[0]
    views: list[Apply] = []
    while seen.owner is not None and isinstance(seen.owner.op, Reshape | DimShuffle):
        views.append(seen.owner)
        seen = seen.owner.inputs[0]
    if not views or seen.owner is None or not isinstance(seen.owner.op, Elemwise):
        return None
    (old,) = node.outputs
    result = function(seen)
    copy_stack_trace(old, result)
    for view in reversed(views):
        op: Any = view.op
        result = op(result, *view.inputs[1:])
        copy_stack_trace(view.outputs[0], result)
    return [old.type.filter_variable(result)]
