"""Rewrites of PyTensor's that ask whether lengths agree, with the error of what they replace.

An operation on arrays that do not fit raises ValueError; what PyTensor asserts in its place would
raise AssertionError.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.raise_op import Assert, CheckAndRaise

from theano.pytensor_base.graphs.rewriting import copy_stack_trace
from theano.schedule.rewrites.of_pytensor.guarded import Guarded


class WithErrorOfLengths(Guarded):
    """A rewrite of one result, which may assert that operands of what it makes fit."""

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        """What the rewrite gives, whose new assertions raise ValueError."""
        replaced = super().transform(fgraph, node, *args, **kwargs)
        if not replaced:
            return replaced
        (made,) = replaced
        operands = [_as_value_error(v, fgraph) for v in made.owner.inputs] if made.owner else []
        if not operands or operands == made.owner.inputs:
            return replaced
        checked = made.owner.clone_with_new_inputs(operands).outputs[0]
        copy_stack_trace(node.outputs, checked)
        return [checked]


def _as_value_error(operand: Variable, fgraph: FunctionGraph) -> Any:
    node = operand.owner
    if node is None or type(node.op) is not Assert or node in fgraph.apply_nodes:
        return operand
    return CheckAndRaise(ValueError, node.op.msg)(*node.inputs)
