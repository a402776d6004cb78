"""Maps that replace other statements: what they compute, and where their results go."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import Buffer, Compute, Scalar, View
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.lowering.step import Step


def computed(
    result: Buffer, expression: Expression, operands: Sequence[View | Scalar | Compute]
) -> Compute:
    """Return the computation of a buffer of a map."""
    dtypes = tuple(operand.dtype for operand in operands)
    name = f"e{result.name[1:]}"
    result.compute = Compute(name, expression.dtype, expression, [*operands], dtypes, result)
    return result.compute


def result_in(step: Step, target: View) -> Buffer:
    """Return the buffer of a map's result that is to be where something else was written.

    It is the target's own, where that is all of it, so that a pass finds what is computed there.
    """
    buffer = target.buffer
    if target.whole and buffer.role == "temporary" and buffer.source is None:
        return buffer
    result = step.temporary(target.dtype, target.shape)
    result.place = target
    return result
