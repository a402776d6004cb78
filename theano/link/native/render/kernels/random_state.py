"""Samples of NumPy's `RandomState`, whose words are an array; see ``included/random_state.inc``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.render.arrays import Array, indices, loops
from theano.link.native.render.registry import writes_task
from theano.link.native.statements.tasks import (
    ByDistribution,
    ChoicesByProbability,
    EvenChoices,
    Multinomial,
    Permutations,
    SampleFromWords,
    Where,
)


@writes_task(SampleFromWords)
def sample_from_words(task: SampleFromWords, polls: int, *given: Any) -> list[str]:
    """Return the samples; ``words`` is the state, and what is wrong becomes 1 where a parameter is not right."""
    own, rest = given[: 1 + task.works], given[1 + task.works :]
    words, wrong, _, *others = rest
    named = f"unsigned int *const words = {words.name};"
    lines = _SAMPLES[type(task.sampler)](task.sampler, *own, wrong.at("0"), *others)
    return [f"{wrong.at('0')} = 0;", named, *lines]


def over_samples(y: Array, body: Sequence[str], ndim: int) -> list[str]:
    """Return loops over samples around a body."""
    return loops(indices("i", ndim), y.shape[:ndim], body)


def sample_at(y: Array, ndim: int, *more: str) -> str:
    """Return the sample of these loops, or an element of it."""
    return y.at(*indices("i", ndim), *more) if ndim or more else y.at("0")


def indices_of(where: Where) -> list[str]:
    """Return where in a parameter the one of a sample is."""
    return ["0" if d is None else f"i{d}" for d in where]


# ---- single numbers ----

# Integers from low to high: NumPy is given the number above the last, in the type of `high`.
_END = "(int64_t)({t1})((uint64_t){p1} + 1)"

# distribution -> the sample, of the state ``words``, the parameters and their C types, and when these
# are right
_DISTRIBUTIONS = {
    "uniform": (
        "tn_mt_uniform(words, {p0}, {p1})",
        "__builtin_isfinite((double){p1} - (double){p0})",
    ),
    "normal": (
        "tn_mt_normal(words, {p0}, {p1})",
        "(__builtin_isnan((double){p1}) || !__builtin_signbit((double){p1}))",
    ),
    "binomial": (
        "tn_mt_binomial(words, {p0}, {p1})",
        "((int64_t){p0} >= 0 && {p1} >= 0 && {p1} <= 1)",
    ),
    "poisson": (
        "tn_mt_poisson(words, {p0})",
        "({p0} >= 0 && {p0} <= 9223372006484770816.0)",
    ),
    "integers": (
        f"(int64_t){{p0}} + (int64_t)tn_mt_up_to(words, (uint64_t)({_END} - 1 - (int64_t){{p0}}))",
        f"((int64_t){{p0}} < {_END})",
    ),
}


def _by_distribution(sampler: ByDistribution, y: Array, wrong: str, *given: Array) -> list[str]:
    names: dict[str, str] = {}
    for k, (where, x) in enumerate(zip(sampler.where, given, strict=True)):
        names |= {f"p{k}": x.at(*indices_of(where)), f"t{k}": x.kind}
    sampled, valid = (text.format(**names) for text in _DISTRIBUTIONS[sampler.distribution])
    place = sample_at(y, sampler.ndim)
    return over_samples(
        y, [f"if ({valid}) {place} = {sampled};", f"else {wrong} = 1;"], sampler.ndim
    )


# ---- permutations, choices and multinomial samples ----


def _permutations(
    sampler: Permutations, y: Array, order: Array, wrong: str, count: str
) -> list[str]:
    kept = f"{sample_at(y, sampler.ndim, 'k')} = {order.at('k')};"
    body = [
        f"tn_mt_permutation(words, {count}, {order.name});",
        *loops(["k"], [count], [kept]),
    ]
    return over_samples(y, body, sampler.ndim)


def _chosen(a: Array, of_vector: bool, index: str) -> str:
    return a.at(index) if of_vector else index


def _even_choices(sampler: EvenChoices, y: Array, *given: Any) -> list[str]:
    ndim, vector = sampler.ndim, sampler.of_vector
    if not sampler.replace:
        # the first of a permutation
        order, _, a, count = given
        body = [f"{sample_at(y, ndim)} = {_chosen(a, vector, order.at('at++'))};"]
        shuffled = f"tn_mt_permutation(words, {count}, {order.name});"
        return [shuffled, "int64_t at = 0;", *over_samples(y, body, ndim)]
    wrong, a, *length = given
    count = length[0] if vector else f"(int64_t){a.at('0')}"
    index = f"tn_mt_up_to(words, (uint64_t){count} - 1)"
    body = [
        f"if ({count} > 0) {sample_at(y, ndim)} = {_chosen(a, vector, index)};",
        f"else {wrong} = 1;",
    ]
    return over_samples(y, body, ndim)


def _choices_by_probability(sampler: ChoicesByProbability, y: Array, *given: Any) -> list[str]:
    """Return the first at which the sum of the probabilities, scaled to 1, exceeds a uniform sample."""
    if not sampler.replace:
        return _different_choices(sampler, y, *given)
    sums, wrong, a, p, count = given
    index = f"tn_mt_above({sums.name}, {count}, tn_mt_double(words))"
    summed = [f"{sums.at('k')} = {p.at('k')};"]
    chosen = f"{sample_at(y, sampler.ndim)} = {_chosen(a, sampler.of_vector, index)};"
    return [
        *loops(["k"], [count], summed),
        f"if (!tn_mt_summed({sums.name}, {count}, {sampler.tolerance!r})) {wrong} = 1;",
        "else {",
        *over_samples(y, [chosen], sampler.ndim),
        "}",
    ]


def _different_choices(sampler: ChoicesByProbability, y: Array, *given: Any) -> list[str]:
    """Return the same, except that nothing is chosen twice."""
    left, sums, found, wrong, a, p, count, wanted = given
    copied = f"{left.at('k')} = {sums.at('k')} = {p.at('k')};"
    probable = f"tn_mt_summed({sums.name}, {count}, {sampler.tolerance!r})"
    places = f"words, {left.name}, {sums.name}, {count}, {found.name}, {wanted}"
    body = [f"{sample_at(y, sampler.ndim)} = {_chosen(a, sampler.of_vector, found.at('at++'))};"]
    return [
        *loops(["k"], [count], [copied]),
        f"if (!{probable} || !tn_mt_different({places})) {wrong} = 1;",
        "else {",
        "int64_t at = 0;",
        *over_samples(y, body, sampler.ndim),
        "}",
    ]


def _multinomial(sampler: Multinomial, y: Array, row: Array, wrong: str, *given: Any) -> list[str]:
    """One category after the other, of the trials that are left."""
    trials, p, count = given
    copied = f"{row.at('k')} = {p.at(*indices_of(sampler.of_row), 'k')};"
    category = f"{row.at('k')} / rest, k, {count}, {int(sampler.skips)}"
    below_one = f"tn_mt_below_one_{SUFFIX[p.dtype]}({row.name}, {count})"
    body = [
        *loops(["k"], [count], [copied]),
        f"int64_t left = {trials.at(*indices_of(sampler.of_number))};",
        "double rest = 1;",
        f"if (left < 0 || !{below_one}) {wrong} = 1;",
        "else",
        f"for (int64_t k = 0; k < {count}; k++) {{",
        f"const int64_t sampled = tn_mt_next_count(words, left, {category});",
        f"{sample_at(y, sampler.ndim, 'k')} = sampled;",
        "left -= sampled;",
        f"rest -= {row.at('k')};",
        "}",
    ]
    return over_samples(y, body, sampler.ndim)


_SAMPLES: dict[type, Callable[..., list[str]]] = {
    ByDistribution: _by_distribution,
    ChoicesByProbability: _choices_by_probability,
    EvenChoices: _even_choices,
    Multinomial: _multinomial,
    Permutations: _permutations,
}
