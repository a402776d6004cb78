"""An operator that PyTensor made from a graph becomes the graph, where Python runs it.

Such an operator compiles its graph when it is first run, each node of it by the C++ compiler,
whatever the mode of the function: the first log-sum-exp in ``FAST_COMPILE`` would take seconds.
"""

from __future__ import annotations

from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.replace import clone_replace

from theano.pytensor_internals.functions.compiling import GradientsInContext
from theano.pytensor_internals.graphs.graph import copy_of_graph_inside
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter


def _is_users(op: Op) -> bool:
    """Return whether a user made an operator with Theano's class, or said how it is to be compiled."""
    message = set(getattr(op, "kwargs", ())) - {"on_unused_input"}
    return isinstance(op, GradientsInContext) or bool(message or op.destroy_map)


@node_rewriter([OpFromGraph])
def operators_as_graphs(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """``OpFromGraph(*inputs)`` -> what it computes."""
    op: Any = node.op
    if _is_users(op):
        return None
    graph = copy_of_graph_inside(op)
    given = dict(zip(graph.inputs, node.inputs, strict=True))
    results = [
        old.type.filter_variable(new)
        for old, new in zip(
            node.outputs, clone_replace(graph.outputs, given, rebuild_strict=False), strict=True
        )
    ]
    copy_stack_trace(node.outputs, results)
    return results
