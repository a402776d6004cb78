"""A lazy choice of which the result is known before the function runs.

    ifelse(1, x, y)                ->   x
    ifelse(c, x, x)                ->   x
    ifelse(c, ifelse(c, x, y), z)  ->   ifelse(c, x, z)

A flag that a function fixes by `givens` thus costs nothing, in loops and outside.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.operations.tensor import IfElse


@node_rewriter([IfElse])
def known_choice(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Return what is chosen, or a choice between what the same condition would choose next."""
    op: Any = node.op
    condition, *branches = node.inputs
    chosen, others = branches[: op.n_outs], branches[op.n_outs :]
    if isinstance(condition, Constant):
        results = chosen if condition.data else others
    elif all(x is y for x, y in zip(chosen, others, strict=True)):
        results = chosen
    else:
        nearer = [_of_condition(v, condition, True) for v in chosen]
        nearer += [_of_condition(v, condition, False) for v in others]
        if nearer == branches:
            return None
        results = op(condition, *nearer, return_list=True)
        copy_stack_trace(node.outputs, results)
    pairs = zip(node.outputs, results, strict=True)
    return [old.type.filter_variable(new) for old, new in pairs]


def _of_condition(variable: Variable, condition: Variable, holds: bool) -> Variable:
    """Return what a variable is where a condition holds, or does not."""
    node = variable.owner
    if node is None or not isinstance(node.op, IfElse) or node.inputs[0] is not condition:
        return variable
    assert variable.index is not None
    return node.inputs[1 + variable.index + (0 if holds else node.op.n_outs)]
