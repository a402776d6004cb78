"""Products of stacks of matrices, and of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import Value, View
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.matrices.stacks import stack_shape, stretched
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.costs import ARITHMETIC, MULTIPLY_ADD
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.tasks import MultiplyStacks
from theano.pytensor_base.operations.tensor import BatchedDot


@lowers(BatchedDot)
def batched_dot(step: Step, node, inputs: list[Value]) -> list[Value]:
    a, b = inputs
    step.sizes.equal(a.shape[0], b.shape[0], "numbers of matrices of a batched product")
    return [product_of_stacks(step, a, b, ((False,), (False,)), node.outputs[0].type.dtype)]


def product_of_stacks(
    step: Step, a: Value, b: Value, flags: Sequence[Sequence[bool]], dtype: str
) -> View:
    """``a[..., :, :] @ b[..., :, :]``; ``flags`` says which sizes of the stacks are known as 1."""
    left, right = (step.view(cast(step, value, dtype)) for value in (a, b))
    step.sizes.equal(left.shape[-1], right.shape[-2], "sizes of a product")
    shape = stack_shape(step, (left, right), flags)
    left = stretched(left, shape, flags[0])
    right = stretched(right, shape, flags[1])
    out = step.rows_without_gaps(dtype, (*shape, left.shape[-2], right.shape[-1]))
    each = MULTIPLY_ADD.get(dtype, ARITHMETIC)
    terms = (*out.shape, left.shape[-1])
    takes, computes = [Work(each, terms)], [Work(2, terms)]
    task = MultiplyStacks()
    step.append(Kernel([View.of(out)], [left, right], task, takes=takes, computes=computes), out)
    return View.of(out)
