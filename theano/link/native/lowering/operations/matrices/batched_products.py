"""Products of stacks of matrices, and of integers."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import Value, View
from theano.link.native.ir.scalar_types import FLOATS, SUFFIX
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.matrices.stacks import stack_shape, stretched
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Statement, Work
from theano.link.native.statements.call_runtime import CallRuntime, OfStack
from theano.link.native.statements.costs import ARITHMETIC, MULTIPLY_ADD
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.tasks import MultiplyStacks
from theano.pytensor_internals.operations.tensor import BatchedDot


@lowers(BatchedDot)
def batched_dot(step: Step, node, inputs: list[Value]) -> list[Value]:
    a, b = inputs
    step.sizes.equal(a.shape[0], b.shape[0], "numbers of matrices of a batched product")
    return [product_of_stacks(step, a, b, ((False,), (False,)), node.outputs[0].type.dtype)]


def product_of_stacks(
    step: Step, a: Value, b: Value, flags: Sequence[Sequence[bool]], dtype: str
) -> View:
    """Return ``a[..., :, :] @ b[..., :, :]``; ``flags`` says which sizes of the stacks are known as 1."""
    left, right = (step.view(cast(step, value, dtype)) for value in (a, b))
    step.sizes.equal(left.shape[-1], right.shape[-2], "sizes of a product")
    shape = stack_shape(step, (left, right), flags)
    left = stretched(left, shape, flags[0])
    right = stretched(right, shape, flags[1])
    out = step.rows_without_gaps(dtype, (*shape, left.shape[-2], right.shape[-1]))
    step.append(_product(dtype, View.of(out), left, right), out)
    return View.of(out)


def _product(dtype: str, out: View, left: View, right: View) -> Statement:
    rows, columns, inner = *out.shape[-2:], left.shape[-1]
    stack, terms = out.shape[:-2], (rows, columns, inner)
    if dtype in FLOATS:
        arguments = (*terms, OfStack(1, 2), OfStack(2, 2), OfStack(0, 1))
        takes, computes = [Work(MULTIPLY_ADD[dtype], terms)], [Work(2, terms)]
        function = f"gemm_{SUFFIX[dtype]}"
        return CallRuntime(function, [out], [left, right], arguments, stack, takes, computes)
    takes, computes = [Work(ARITHMETIC, (*stack, *terms))], [Work(2, (*stack, *terms))]
    return Kernel([out], [left, right], MultiplyStacks(), takes=takes, computes=computes)
