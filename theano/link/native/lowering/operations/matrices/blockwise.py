"""Operations on matrices, applied to each of a stack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.linalg import PivotToPermutations
from pytensor.tensor.math import Dot
from pytensor.tensor.sort import ArgSortOp, SortOp
from pytensor.tensor.subtensor import AdvancedSubtensor

from theano.link.native.ir.ir import CannotLower, Value
from theano.link.native.lowering.operations.convolution import convolutions_of_stacks
from theano.link.native.lowering.operations.graphs import inlined_on_stacks
from theano.link.native.lowering.operations.indexing.gathers_from_stacks import gather_from_each
from theano.link.native.lowering.operations.matrices.batched_products import product_of_stacks
from theano.link.native.lowering.operations.matrices.block_diagonal import block_diagonals
from theano.link.native.lowering.operations.matrices.linear_algebra import (
    on_stacks,
    permutation,
    routine_of,
)
from theano.link.native.lowering.operations.matrices.tridiagonal import (
    factors_of_stack,
    solutions_of_stack,
)
from theano.link.native.lowering.operations.sorting import STABLE, order_along, sorted_along
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.pytensor_internals.operations.tensor import (
    BlockDiagonal,
    Convolve1d,
    LUFactorTridiagonal,
    SolveLUFactorTridiagonal,
)

# takes the step, the node, its inputs, and which sizes of their stacks are known as 1
_OnStacks = Callable[[Step, Any, list, list], list]


def _product(step: Step, node, inputs: list[Value], flags) -> list[Value]:
    a, b = inputs
    return [product_of_stacks(step, a, b, flags, node.outputs[0].type.dtype)]


def _sort(step: Step, node, inputs: list[Value], flags) -> list[Value]:
    op = node.op.core_op
    if len(node.op.inputs_sig[0]) != 1:
        raise CannotLower(f"the operation {type(op).__name__} of matrices on stacks")
    if isinstance(op, ArgSortOp):
        return [order_along(step, inputs[0], -1)]
    return [sorted_along(step, inputs[0], -1, op.kind in STABLE)]


def _permutation(step: Step, node, inputs: list[Value], flags) -> list[Value]:
    return [permutation(step, step.view(inputs[0]), node.op.core_op.inverse)]


_RULES: Mapping[type, _OnStacks] = {
    AdvancedSubtensor: gather_from_each,
    ArgSortOp: _sort,
    BlockDiagonal: block_diagonals,
    Convolve1d: convolutions_of_stacks,
    Dot: _product,
    LUFactorTridiagonal: factors_of_stack,
    PivotToPermutations: _permutation,
    SolveLUFactorTridiagonal: solutions_of_stack,
    SortOp: _sort,
}


@lowers(Blockwise)
def blockwise(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Products, factors, solutions of systems, blocks, sorts, gathers, graphs; stacks are broadcast."""
    op = node.op.core_op
    flags = [
        variable.type.broadcastable[: variable.type.ndim - len(names)]
        for variable, names in zip(node.inputs, node.op.inputs_sig, strict=True)
    ]
    if isinstance(op, OpFromGraph):
        return inlined_on_stacks(step, node, inputs)
    if type(op) in _RULES:
        return _RULES[type(op)](step, node, inputs, flags)
    routine = routine_of(op)
    if routine is None:
        raise CannotLower(f"the operation {type(op).__name__} on stacks")
    return on_stacks(step, node, routine, inputs, flags)
