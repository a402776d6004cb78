"""PyTensor rewrites that ask whether lengths agree, with the error of what they replace.

An operation on arrays that do not fit raises ValueError; what PyTensor asserts in its place would
raise AssertionError.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.raise_op import Assert, CheckAndRaise
from pytensor.tensor.basic import Alloc, AllocEmpty
from pytensor.tensor.subtensor import IncSubtensor

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace
from theano.rewriting.lengths import static_length
from theano.rewriting.rewrites.of_pytensor.guarded import Guarded


class WithErrorOfLengths(Guarded):
    """A rewrite of one result, which may assert that operands of what it makes fit."""

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        """Return what the rewrite gives, whose new assertions raise ValueError."""
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


class FilledRows(WithErrorOfLengths):
    """Rows that are filled are written with the value itself, in place of an array that is filled with it.

    Where the array was given the lengths of the memory that it is written to, nothing has to be
    asserted: the sums of a loop's gradients begin so, and PyTensor works out three shapes of each.
    """

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: object, **kwargs: object) -> Any:
        """Return what the rewrite gives, at once where the lengths are the same variables."""
        if not _is_filled_to_fit(node):
            return super().transform(fgraph, node, *args, **kwargs)
        memory, rows, *index = node.inputs
        written = node.op(memory, rows.owner.inputs[0], *index)  # type: ignore[union-attr]
        copy_stack_trace(node.outputs, written)
        return [written]


def _is_filled_to_fit(node: Apply) -> bool:
    """Return whether a node writes one filled row, or that for all, to rows of memory as long as it."""
    if not is_a(node.op, IncSubtensor):
        return False
    memory, rows = (v.owner for v in node.inputs[:2])
    if rows is None or type(rows.op) is not Alloc or memory is None:
        return False
    index = node.op.idx_list  # type: ignore[attr-defined]
    if type(memory.op) is not AllocEmpty or len(index) != 1 or not isinstance(index[0], slice):
        return False
    one, *lengths = rows.inputs[1:]
    return static_length(one) == 1 and lengths == memory.inputs[1:]


def _as_value_error(operand: Variable, fgraph: FunctionGraph) -> Any:
    node = operand.owner
    if node is None or type(node.op) is not Assert or node in fgraph.apply_nodes:
        return operand
    return CheckAndRaise(ValueError, node.op.msg)(*node.inputs)
