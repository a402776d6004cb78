"""Constants are computed by the C code that users wrote for scalar operations.

PyTensor computes them in Python: by another method, or, where there is none, not at all and with a
report of a failed rewrite.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import constant
from pytensor.tensor.elemwise import Elemwise

from theano.gof.user_operations.code import thunk_of_folding
from theano.pytensor_internals.graphs.graph import MethodNotDefined
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, in2out, node_rewriter
from theano.pytensor_internals.graphs.scan import FrozenWhenAsked, Scan
from theano.pytensor_internals.operations.tensor_rewrites import (
    constant_folding,
    topo_constant_folding,
)


@node_rewriter(None)
def fold_constants(graph: FunctionGraph, node: Apply) -> list[Variable] | bool | None:
    """Return what is computed from constants -> constants."""
    if not all(v.owner is None and is_a(v, Constant) for v in node.inputs):
        return None
    steps: Any = node.inputs[0] if node.inputs else None
    if is_a(node.op, Scan) and not is_a(node.op, FrozenWhenAsked) and not steps.data:
        # a loop that one of PyTensor's rewrites has made: without steps it gives arrays without columns
        return None
    if is_a(node.op, Elemwise) and node.op.do_constant_folding(graph, node):
        computed = _by_own_code(node)
        if computed is not None:
            return computed
    try:
        folded: list[Variable] | bool | None = constant_folding.transform(graph, node)
    except MethodNotDefined:
        # nothing but its C computes it, and there is no compiler
        return None
    return folded


def _by_own_code(node: Apply) -> list[Variable] | None:
    inputs: Any = node.inputs
    storage = {v: [v.data] for v in inputs} | {v: [None] for v in node.outputs}
    there = {v: [True] for v in inputs} | {v: [False] for v in node.outputs}
    thunk = thunk_of_folding(node, storage, there, [])
    if thunk is None:
        return None
    thunk()
    made: list[Variable] = []
    for old in node.outputs:
        new = constant(storage[old][0], dtype=old.type.dtype)  # type: ignore[attr-defined]
        copy_stack_trace(old, new)
        made.append(new)
    return made


FOLD_CONSTANTS = in2out(fold_constants, ignore_newtrees=True, name=topo_constant_folding.name)
# profiles and reports know both by PyTensor's names
fold_constants.name = constant_folding.__name__
FOLD_CONSTANTS.name = topo_constant_folding.name

# PyTensor's rewrite of graphs, the last of an equilibrium -> what takes its place
LAST_INSTEAD = {topo_constant_folding: FOLD_CONSTANTS}
