"""Samples of NumPy's `RandomState`, whose words are an array; see ``render/included/random_state.inc``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytensor.graph.basic import Apply, Constant

from theano.link.native.ir.ir import Buffer, CannotLower, Value, View
from theano.link.native.ir.scalar_types import DTYPES, FLOATS
from theano.link.native.ir.symbolic import compared
from theano.link.native.lowering.operations.sampling.choices import (
    choices,
    multinomial,
    permutations,
)
from theano.link.native.lowering.operations.sampling.context import (
    SamplingContext,
    parameter,
)
from theano.link.native.lowering.operations.shapes import numbers_of
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.tasks import ByDistribution
from theano.support.data_classes import dataclass
from theano.tensor.numpy_samplers.random_function import RandomFunction
from theano.tensor.numpy_samplers.random_samplers import (
    choice_helper,
    multinomial_helper,
    permutation_helper,
    random_integers_helper,
)
from theano.tensor.numpy_samplers.random_state_words import WORDS, SampleFromWords

_INTEGERS = tuple(dtype for dtype in DTYPES if dtype not in FLOATS)
_NUMBERS = tuple(DTYPES)


@dataclass(frozen=True)
class Distribution:
    """The draw of one number, given its parameters.

    Attributes
    ----------
    dtypes
        Of which types each parameter may be.
    name
        What it is called.
    error
        The exception where the parameters are not right.
    """

    dtypes: tuple[tuple[str, ...], ...]
    name: str
    error: tuple[type[Exception], str]


_DISTRIBUTIONS: dict[Any, Distribution] = {
    "uniform": Distribution(
        (_NUMBERS, _NUMBERS),
        "uniform",
        (OverflowError, "Range exceeds valid bounds"),
    ),
    "normal": Distribution(
        (_NUMBERS, _NUMBERS),
        "normal",
        (ValueError, "scale < 0"),
    ),
    "binomial": Distribution(
        (_INTEGERS, _NUMBERS),
        "binomial",
        (ValueError, "n < 0, or p < 0, p > 1 or p is NaN"),
    ),
    "poisson": Distribution(
        (_NUMBERS,),
        "poisson",
        (ValueError, "lam < 0 or lam is NaN, or lam value too large"),
    ),
    random_integers_helper: Distribution(
        (tuple(d for d in _INTEGERS if d != "uint64"),) * 2,
        "integers",
        (ValueError, "low >= high"),
    ),
}


# of these an integer type holds the samples, too
_OF_INTEGERS = (
    "binomial",
    "poisson",
    choice_helper,
    multinomial_helper,
    permutation_helper,
    random_integers_helper,
)


def why_no_code(sampler: RandomFunction, parameters: Sequence[Any]) -> str:
    """Why samples have no code, as far as types of the parameters say; empty where they have."""
    if sampler.outtype.dtype not in (DTYPES if sampler.fn in _OF_INTEGERS else FLOATS):
        return f"random samples of type {sampler.outtype.dtype}"
    if sampler.fn in _DISTRIBUTIONS:
        allowed = _DISTRIBUTIONS[sampler.fn].dtypes
        if len(parameters) == len(allowed) and all(
            parameter.dtype in dtypes for parameter, dtypes in zip(parameters, allowed, strict=True)
        ):
            return ""
        return f"{sampler} with these parameters"
    if sampler.fn is permutation_helper:
        return "" if parameters[0].ndim == 0 else f"{sampler} of an array"
    if sampler.fn is multinomial_helper:
        n, p = parameters
        right = n.dtype in _INTEGERS and p.dtype in FLOATS
        return "" if right else f"{sampler} with these parameters"
    if sampler.fn is choice_helper:
        return _why_no_choice(*parameters)
    return f"the samples {sampler}"


def _why_no_choice(a: Any, replace: object, p: Any) -> str:
    if not isinstance(replace, Constant):
        return "choices that may be with replacement or without"
    if a.ndim > 1 or a.dtype not in _INTEGERS:
        return f"choices of {a.type}"
    if p.ndim != 1 or p.dtype not in FLOATS:
        return f"choices with probabilities of type {p.type}"
    return ""


@lowers(SampleFromWords)
def sample_from_words(step: Step, node: Apply, inputs: list[Value]) -> list[Value]:
    """Return the next state's words, and the samples."""
    sampler = node.op.sampler
    reason = why_no_code(sampler, node.inputs[2:])
    if reason:
        raise CannotLower(reason)
    ndim = sampler.outtype.ndim - sampler.ndim_added
    given = numbers_of(step, inputs[1], ndim, "the size of random samples") if ndim else ()
    shape = tuple(step.size(length, "a size of random samples") for length in given)
    for size in shape:
        step.sizes.check(compared(size, ">=", 0), "a size of random samples that is not negative")
    step.libraries.add("random_state")
    step.sizes.equal(inputs[0].shape[0], WORDS, "the number of words of a generator")
    words = step.copied(inputs[0])
    words.packed = True
    sampling = SamplingContext(step, node, words, shape, step.temporary("int64", (1,)))
    sampled = _MAKERS.get(sampler.fn, _one_by_one)(sampling, inputs[2:])
    result = (
        View.of(sampled) if sampler.outtype.ndim else step.load(View(sampled, (), (), (), (0,)))
    )
    return [View.of(words), result]


def _one_by_one(sampling: SamplingContext, inputs: list[Value]) -> Buffer:
    """Return samples with their own parameters."""
    distribution = _DISTRIBUTIONS[sampling.node.op.sampler.fn]
    parameters = [parameter(sampling, value) for value in inputs]
    where = tuple(where for _, where in parameters)
    sampler = ByDistribution(distribution.name, len(sampling.shape), where)
    return sampling.append(sampler, [view for view, _ in parameters], error=distribution.error)


_MAKERS: dict[Any, Callable[[SamplingContext, list[Value]], Buffer]] = {
    choice_helper: choices,
    multinomial_helper: multinomial,
    permutation_helper: permutations,
}
