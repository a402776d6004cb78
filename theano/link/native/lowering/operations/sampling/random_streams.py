"""Samples of the generator MRG31k3p: uniform ones, and nearer ones in place of normal samples."""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, CannotLower, Scalar, Value, View
from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.ir.symbolic import Operation, compared
from theano.link.native.lowering.operations.shapes import numbers_of
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.costs import ARITHMETIC
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.tasks import SampleTruncated, SampleUniforms
from theano.sandbox.mrg31k3p import (
    M1,
)
from theano.sandbox.mrg_truncated import mrg_truncated
from theano.sandbox.mrg_uniform import mrg_uniform

# a sample on one thread, roughly: some thirty operations on vectors of integers
_NANOSECONDS = 30 * ARITHMETIC


@lowers(mrg_uniform)
def sample_uniforms(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the next states, and numbers between 0 and 1: the i-th from row ``i % streams``."""
    kind = node.op.output_type
    if kind.dtype not in FLOATS:
        raise CannotLower(f"random samples of type {kind.dtype}")
    states = _states(step, inputs[0])
    lengths = numbers_of(step, inputs[1], kind.ndim, "the size of random samples")
    shape = [_length(step, length) for length in lengths]
    count = step.sizes.product(shape)
    step.sizes.check(compared(count, "<=", M1), "at most 2**31 - 1 random samples")
    sampled = step.temporary(kind.dtype, (count,))

    read = View.of(states)
    takes = [Work(_NANOSECONDS, sampled.shape)]
    writes = [View.of(sampled), View.of(states)]
    step.append(Kernel(writes, [read], SampleUniforms(), takes=takes), sampled, states)
    return [View.of(states), step.reshaped(View.of(sampled), tuple(shape))]


@lowers(mrg_truncated)
def sample_again(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the next states, and the samples with nearer ones in place of those beyond the farthest."""
    dtype = node.op.output_type.dtype
    if dtype not in FLOATS:
        raise CannotLower(f"random samples of type {dtype}")
    states, samples, directions = _states(step, inputs[0]), *map(step.view, inputs[1:])
    (count,) = samples.shape
    step.sizes.equal(count, directions.shape[0], "the number of directions")
    half = count // 2 if isinstance(count, int) else step.sizes.name(Operation("/", count, 2))
    step.sizes.check(compared(step.sizes.binary(half, "*", 2), "==", count), "an even number")
    sampled = step.temporary(dtype, (count,))

    takes = [Work(_NANOSECONDS, sampled.shape)]
    writes, reads = [View.of(sampled), View.of(states)], [View.of(states), samples, directions]
    step.append(Kernel(writes, reads, SampleTruncated(), [half], takes=takes), sampled, states)
    return [View.of(states), View.of(sampled)]


def _states(step: Step, value: Value) -> Buffer:
    """Return a copy of the states, to be moved forward."""
    states = step.copied(value)
    streams, columns = states.shape
    step.sizes.check(compared(columns, "==", 6), "states of six numbers")
    step.sizes.check(compared(streams, ">", 0), "at least one stream")
    return states


def _length(step: Step, length: Scalar):
    size = step.size(length, "a size of random samples")
    step.sizes.check(compared(size, ">=", 0), "a size of random samples that is not negative")
    return size
