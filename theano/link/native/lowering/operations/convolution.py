"""Convolutions of vectors, and of vectors on stacks, term by term."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import CannotLower, IndexVector, Scalar, Size, Splat, Value, View
from theano.link.native.ir.symbolic import Call, Choice, compared
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.matrices.stacks import stack_shape, stretched
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.costs import ARITHMETIC, MULTIPLY_ADD
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.tasks import Convolve
from theano.pytensor_internals.operations.tensor import Convolve1d


@lowers(Convolve1d)
def convolution(step: Step, node, inputs: list[Value]) -> list[Value]:
    return convolutions_of_stacks(step, node, inputs, [()] * len(inputs))


def convolutions_of_stacks(
    step: Step, node, inputs: list[Value], flags: Sequence[Sequence[bool]]
) -> list[Value]:
    """Return sums of products of a vector and of another one backwards, at each shift.

    They are the whole convolution, or the part for which all of the shorter vector is used.
    """
    dtype = node.outputs[0].type.dtype
    if dtype == "bool":
        raise CannotLower("a convolution of booleans")
    signal, kernel = (step.view(cast(step, value, dtype)) for value in inputs[:2])
    for size in (signal.shape[-1], kernel.shape[-1]):
        step.sizes.check(compared(size, ">=", 1), "what is convolved is not empty")
    shape = stack_shape(step, (signal, kernel), flags[:2])
    signal, kernel = (
        stretched(view, shape, known) for view, known in zip((signal, kernel), flags, strict=False)
    )
    first = _first_shift(step, inputs[2], signal.shape[-1], kernel.shape[-1])
    sizes = step.sizes
    whole = sizes.binary(sizes.binary(signal.shape[-1], "+", kernel.shape[-1]), "-", 1)
    length = sizes.binary(whole, "-", sizes.binary(first, "*", 2))
    out = step.rows_without_gaps(dtype, (*shape, length))
    terms = (*out.shape, kernel.shape[-1])
    takes, computes = [Work(MULTIPLY_ADD.get(dtype, ARITHMETIC), terms)], [Work(2, terms)]
    given, task = [signal, kernel], Convolve()
    step.append(Kernel([View.of(out)], given, task, [first], takes=takes, computes=computes), out)
    return [View.of(out)]


def _first_shift(step: Step, full: Value, n: Size, k: Size) -> Size:
    """Return how many terms of the shorter vector, but one, are left out at either end."""
    if isinstance(n, int) and isinstance(k, int):
        shorter: Size = min(n, k)
    else:
        shorter = step.sizes.name(Call("smaller", (n, k)))
    fewer = step.sizes.binary(shorter, "-", 1)
    flag = _number(full)
    if flag.literal is not None:
        return 0 if flag.literal else fewer
    if not flag.invariant:
        raise CannotLower("a convolution whose mode is not constant")
    return step.sizes.name(Choice(flag.symbol, 0, fewer))


def _number(value: Value) -> Scalar:
    if isinstance(value, IndexVector) and len(value.items) == 1:
        return value.items[0]
    if isinstance(value, Splat):
        return value.scalar
    if isinstance(value, Scalar):
        return value
    raise CannotLower("convolutions of a stack with different modes")
