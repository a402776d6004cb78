"""Factors of tridiagonal matrices, and solutions by them, in time that grows as the diagonals do."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import CannotLower, Value, View
from theano.link.native.ir.scalar_types import FLOATS, SUFFIX
from theano.link.native.ir.symbolic import compared
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.matrices.stacks import stack_shape, stretched
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.call_runtime import CallRuntime, OfStack
from theano.pytensor_internals.operations.tensor import (
    LUFactorTridiagonal,
    SolveLUFactorTridiagonal,
)

# nanoseconds for a row: a division, and what waits for it
_ROW = 8.0

_Flags = Sequence[Sequence[bool]]


@lowers(LUFactorTridiagonal)
def factors(step: Step, node, inputs: list[Value]) -> list[Value]:
    return factors_of_stack(step, node, inputs, [()] * len(inputs))


@lowers(SolveLUFactorTridiagonal)
def solution(step: Step, node, inputs: list[Value]) -> list[Value]:
    return solutions_of_stack(step, node, inputs, [()] * len(inputs))


def factors_of_stack(step: Step, node, inputs: list[Value], flags: _Flags) -> list[Value]:
    """Multipliers, three diagonals of the upper factor, and which row came to each place."""
    dtype = node.outputs[0].type.dtype
    views = _views(step, inputs, flags, [dtype] * 3)
    stack, n = views[1].shape[:-1], views[1].shape[-1]
    step.sizes.check(compared(n, ">=", 2), "a tridiagonal matrix of two rows or more")
    for alongside in (views[0], views[2]):
        both = step.sizes.binary(alongside.shape[-1], "+", 1)
        step.sizes.equal(both, n, "lengths of the diagonals of a matrix")
    lengths = [views[0].shape[-1], n, views[2].shape[-1], step.sizes.binary(n, "-", 2), n]
    outs = [
        step.rows_without_gaps(variable.type.dtype, (*stack, length))
        for variable, length in zip(node.outputs, lengths, strict=True)
    ]
    results = [View.of(out) for out in outs]
    arguments = (n, *(OfStack(5 + k, 1) for k in range(3)), *map(OfStack, range(5)))
    function = f"factor_tridiagonal_{SUFFIX[dtype]}"
    takes = [Work(_ROW, (n,))]
    step.append(CallRuntime(function, results, views, arguments, stack, takes), *outs)
    return list(results)


def solutions_of_stack(step: Step, node, inputs: list[Value], flags: _Flags) -> list[Value]:
    """Solutions of systems, or of those of the transposed matrices, by such factors."""
    op = getattr(node.op, "core_op", node.op)
    dtype = node.outputs[0].type.dtype
    views = _views(step, inputs, flags, [*[dtype] * 4, "int32", dtype])
    sides, stacked = views[5], views[1].ndim - 1
    n = step.sizes.equal(views[1].shape[-1], sides.shape[stacked], "rows of a system")
    step.sizes.check(compared(n, ">=", 2), "a tridiagonal system of two rows or more")
    for k, fewer in enumerate((1, 0, 1, 2, 0)):
        length = step.sizes.binary(views[k].shape[-1], "+", fewer)
        step.sizes.equal(length, n, "lengths of the factors of a tridiagonal matrix")
    out = step.rows_without_gaps(dtype, sides.shape)
    m = sides.shape[-1] if op.b_ndim == 2 else 1
    factors = (OfStack(1 + k, 1) for k in range(5))
    arguments = (n, m, int(op.transposed), *factors, OfStack(6, 2), OfStack(0))
    function, result = f"solve_tridiagonal_{SUFFIX[dtype]}", View.of(out)
    stack, takes = out.shape[:stacked], [Work(_ROW, (n, m))]
    step.append(CallRuntime(function, [result], views, arguments, stack, takes), out)
    return [result]


def _views(step: Step, inputs: Sequence[Value], flags: _Flags, dtypes: Sequence[str]) -> list[View]:
    """Return the operands in memory, all with the stack that theirs broadcast to."""
    if dtypes[0] not in FLOATS:
        raise CannotLower(f"linear algebra in {dtypes[0]}")
    views = [step.view(cast(step, v, dtype)) for v, dtype in zip(inputs, dtypes, strict=True)]
    stack = stack_shape(step, views, flags)
    return [stretched(view, stack, known) for view, known in zip(views, flags, strict=True)]
