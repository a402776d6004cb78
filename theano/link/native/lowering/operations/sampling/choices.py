"""Permutations, choices and multinomial samples of a `RandomState`."""

from __future__ import annotations

import functools

import numpy as np

from theano.link.native.ir.ir import Buffer, Size, Value
from theano.link.native.ir.symbolic import compared
from theano.link.native.lowering.operations.sampling.context import (
    SamplingContext,
    parameter,
    places_in,
)
from theano.link.native.statements.tasks import (
    ChoicesByProbability,
    EvenChoices,
    Multinomial,
    Permutations,
)


def permutations(sampling: SamplingContext, inputs: list[Value]) -> Buffer:
    """Integers below a number, shuffled for each sample."""
    count = sampling.step.size(inputs[0], "the length of permutations")
    sampling.step.sizes.check(compared(count, ">=", 0), "a length that is not negative")
    ndim, order = len(sampling.shape), sampling.step.rows_without_gaps("int64", (count,))

    return sampling.append(Permutations(ndim), [], [count], added=[count], scratch=[order])


def choices(sampling: SamplingContext, inputs: list[Value]) -> Buffer:
    """Elements of a vector, or integers below a number."""
    _, _, _, replace, p = sampling.node.inputs
    even = p.type.shape == (0,)
    if replace.data:  # type: ignore[attr-defined]
        if even:
            return _even_choices(sampling, inputs[0])
        return _choices_by_probability(sampling, inputs[0], inputs[2])
    if even:
        return _choices_without_replacement(sampling, inputs[0])
    return _different_choices_by_probability(sampling, inputs[0], inputs[2])


def _even_choices(sampling: SamplingContext, a: Value) -> Buffer:
    ndim, vector = len(sampling.shape), a.ndim == 1
    numbers = [a.shape[0]] if vector else []

    error = ValueError, "a must be greater than 0 unless no samples are taken"
    sampler = EvenChoices(ndim, vector, replace=True)
    return sampling.append(sampler, [sampling.step.view(a)], numbers, error=error)


def _choices_without_replacement(sampling: SamplingContext, a: Value) -> Buffer:
    """Return the first of a permutation."""
    step, vector = sampling.step, a.ndim == 1
    count = a.shape[0] if vector else step.size(a, "a number of choices")
    wanted = step.sizes.product(sampling.shape)
    step.sizes.check(compared(wanted, "<=", count), "as many elements as are chosen")
    ndim, order = len(sampling.shape), step.rows_without_gaps("int64", (count,))

    sampler = EvenChoices(ndim, vector, replace=False)
    return sampling.append(sampler, [step.view(a)], [count], scratch=[order])


def _choices_by_probability(sampling: SamplingContext, a: Value, p: Value) -> Buffer:
    """Return the first at which the sum of the probabilities, scaled to 1, exceeds a uniform sample."""
    step, vector, count = sampling.step, a.ndim == 1, _count_of_probabilities(sampling, a, p)
    sums = step.rows_without_gaps("float64", (count,))
    ndim = len(sampling.shape)

    error = ValueError, "probabilities are negative or NaN, or do not sum to 1"
    sampler = ChoicesByProbability(ndim, vector, True, _tolerance(p))
    reads = [step.view(a), step.view(p)]
    return sampling.append(sampler, reads, [count], scratch=[sums], error=error)


def _different_choices_by_probability(sampling: SamplingContext, a: Value, p: Value) -> Buffer:
    """Return the same, except that nothing is chosen twice."""
    step, vector, count = sampling.step, a.ndim == 1, _count_of_probabilities(sampling, a, p)
    wanted = step.sizes.product(sampling.shape)
    step.sizes.check(compared(wanted, "<=", count), "as many elements as are chosen")
    left, sums = (step.rows_without_gaps("float64", (count,)) for _ in range(2))
    found = step.rows_without_gaps("int64", (wanted,))
    ndim = len(sampling.shape)

    error = ValueError, "probabilities are not right, or too few of them are not 0"
    reads, scratch = [step.view(a), step.view(p)], [left, sums, found]
    sampler = ChoicesByProbability(ndim, vector, False, _tolerance(p))
    return sampling.append(sampler, reads, [count, wanted], scratch=scratch, error=error)


def _count_of_probabilities(sampling: SamplingContext, a: Value, p: Value) -> Size:
    """Return how many there are, one for each element that may be chosen."""
    step, (count,) = sampling.step, p.shape
    step.sizes.check(compared(count, ">", 0), "probabilities")
    number = a.shape[0] if a.ndim == 1 else step.size(a, "a")
    step.sizes.equal(number, count, "as many probabilities")
    return count


def _tolerance(p: Value) -> float:
    """Return how far from 1 NumPy allows a sum to be: further where the probabilities are float32."""
    return float(max(np.finfo(dtype).eps for dtype in (p.dtype, "float64")) ** 0.5)


def multinomial(sampling: SamplingContext, inputs: list[Value]) -> Buffer:
    """Return how often each category occurs, one after the other, of the trials that are left."""
    step, (trials, p) = sampling.step, inputs
    view, ndim, count = step.view(p), len(sampling.shape), p.shape[-1]
    step.sizes.check(compared(count, ">", 0), "a category")
    number, of_number = parameter(sampling, trials)
    of_row = places_in(sampling, p.shape[:-1])
    row = step.rows_without_gaps(p.dtype, (count,))
    sampler = Multinomial(ndim, of_number, of_row, _skips_certain_numbers())

    error = ValueError, "multinomial: probabilities are negative or sum to more than 1, or n < 0"
    reads = [number, view]
    return sampling.append(sampler, reads, [count], added=[count], scratch=[row], error=error)


@functools.cache
def _skips_certain_numbers() -> bool:
    """Return whether NumPy draws nothing for a category of probability 0: so did 1.17 to 2.4, no other."""
    sampled, untouched = np.random.RandomState(0), np.random.RandomState(0)
    sampled.multinomial(1, [0.0, 1.0])
    return bool(sampled.random_sample() == untouched.random_sample())
