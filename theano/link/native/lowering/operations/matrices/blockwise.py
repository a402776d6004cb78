"""Operations on matrices, applied to each of a stack."""

from __future__ import annotations

from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.linalg import PivotToPermutations
from pytensor.tensor.math import Dot
from pytensor.tensor.sort import ArgSortOp, SortOp

from theano.link.native.ir.ir import CannotLower, Value
from theano.link.native.lowering.operations.matrices.batched_products import product_of_stacks
from theano.link.native.lowering.operations.matrices.linear_algebra import (
    on_stacks,
    permutation,
    routine_of,
)
from theano.link.native.lowering.operations.sorting import sorted_along
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step


@lowers(Blockwise)
def blockwise(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Products of matrices, factors, solutions of systems, sorts; stacks are broadcast."""
    op = node.op.core_op
    ranks = [len(names) for names in node.op.inputs_sig]
    flags = [
        variable.type.broadcastable[: variable.type.ndim - rank]
        for variable, rank in zip(node.inputs, ranks, strict=True)
    ]
    if isinstance(op, Dot):
        a, b = inputs
        return [product_of_stacks(step, a, b, flags, node.outputs[0].type.dtype)]
    if isinstance(op, SortOp | ArgSortOp) and ranks[0] == 1:
        return [sorted_along(step, inputs[0], -1, isinstance(op, ArgSortOp))]
    if isinstance(op, PivotToPermutations):
        return [permutation(step, step.view(inputs[0]), op.inverse)]
    routine = routine_of(op)
    if routine is None:
        raise CannotLower(f"the operation {type(op).__name__} on stacks")
    return on_stacks(step, node, routine, inputs, flags)
