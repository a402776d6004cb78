"""Samples of NumPy's `Generator`, whose words are an array; see ``included/generators.inc``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.link.native.render.arrays import Array, indices, loops
from theano.link.native.render.kernels.random_state import indices_of, over_samples, sample_at
from theano.link.native.render.numbers_in_c import C_TYPES
from theano.link.native.render.registry import writes_task
from theano.link.native.statements.tasks import (
    BetaBinomial,
    ByDistribution,
    Categories,
    DifferentRows,
    Dirichlet,
    Multinomial,
    Permutations,
    SampleFromGenerator,
    Shuffled,
    Where,
)
from theano.support.data_classes import dataclass


@writes_task(SampleFromGenerator)
def sample_from_generator(task: SampleFromGenerator, polls: int, *given: Any) -> list[str]:
    """Return the samples; ``words`` is the state, and what is wrong becomes 1 where a parameter is not right."""
    own, rest = given[: 1 + task.works], given[1 + task.works :]
    words, wrong, _, *others = rest
    sampled = _SAMPLES[type(task.sampler)](task.sampler, *own, wrong.at("0"), *others)
    return [
        "tn_generator g;",
        f"{wrong.at('0')} = 0;",
        f"tn_begin_draws(&g, {words.name});",
        *sampled,
        f"tn_end_draws(&g, {words.name});",
    ]


@dataclass(frozen=True)
class _Sampler:
    """A sample in C, given the parameters ``p0``, ``p1``... and their types, and when these are right.

    Attributes
    ----------
    scale
        The position of SciPy's scale: nothing is sampled where all of it is 0.
    fill
        Draws ``count`` numbers into ``block``.
    """

    sampled: str
    right: str = "1"
    scale: int | None = None
    fill: str = ""


def _of_numpy(function: str, count: int, right: str = "1") -> _Sampler:
    """Return a draw by a NumPy function, of so many parameters."""
    parameters = "".join(f", {{p{k}}}" for k in range(count))
    return _Sampler(f"g.numpy->{function}(g.bits{parameters})", right)


_NOT_NEGATIVE = "tn_not_negative({p0})", "tn_not_negative({p1})"
_BOTH_NOT_NEGATIVE = " && ".join(_NOT_NEGATIVE)
_BOTH_POSITIVE = "tn_positive({p0}) && tn_positive({p1})"
_GOOD_AND_BAD = "(uint64_t){p0} < 1000000000 && (uint64_t){p1} < 1000000000"

# distribution -> its sample
_DISTRIBUTIONS = {
    "uniform": _Sampler(
        "g.numpy->uniform(g.bits, {p0}, (double){p1} - (double){p0})",
        "tn_range((double){p1} - (double){p0})",
    ),
    "normal": _of_numpy("normal", 2, _NOT_NEGATIVE[1]),
    "lognormal": _of_numpy("lognormal", 2, _NOT_NEGATIVE[1]),
    "exponential": _of_numpy("exponential", 1, _NOT_NEGATIVE[0]),
    "gamma": _of_numpy("gamma", 2, _BOTH_NOT_NEGATIVE),
    "invgamma": _Sampler(
        "1 / g.numpy->gamma(g.bits, {p0}, ({t1})1 / {p1})",
        "tn_not_negative({p0}) && tn_not_negative(({t1})1 / {p1})",
    ),
    "beta": _of_numpy("beta", 2, _BOTH_POSITIVE),
    "clipped_beta": _Sampler(
        "tn_inside_of_one(g.numpy->beta(g.bits, {p0}, {p1}))", "{p0} > 0 && {p1} > 0"
    ),
    "weibull": _of_numpy("weibull", 1, _NOT_NEGATIVE[0]),
    "logistic": _of_numpy("logistic", 2, _NOT_NEGATIVE[1]),
    "laplace": _of_numpy("laplace", 2, _NOT_NEGATIVE[1]),
    "vonmises": _of_numpy("vonmises", 2, _NOT_NEGATIVE[1]),
    "wald": _of_numpy("wald", 2, _BOTH_POSITIVE),
    "shifted_wald": _Sampler("g.numpy->wald(g.bits, {p0}, {p1}) + {p2}", _BOTH_POSITIVE),
    "triangular": _of_numpy("triangular", 3, "!({p0} > {p1}) && !({p1} > {p2}) && {p0} != {p2}"),
    "halfnormal": _Sampler(
        "tn_scaled_draw(__builtin_fabs(g.numpy->standard_normal(g.bits)), {p1}, {p0})",
        "{p1} >= 0",
        scale=1,
    ),
    "t": _Sampler(
        "tn_scaled_draw(g.numpy->standard_t(g.bits, {p0}), {p2}, {p1})",
        "{p0} > 0 && {p2} >= 0",
        scale=2,
    ),
    "poisson": _of_numpy("poisson", 1, "tn_mean_of_counts({p0})"),
    "geometric": _of_numpy("geometric", 1, "tn_some_chance({p0})"),
    "negative_binomial": _of_numpy(
        "negative_binomial", 2, "tn_counts_before({p0}, {p1}) && tn_some_chance({p1})"
    ),
    "hypergeometric": _of_numpy(
        "hypergeometric", 3, f"{_GOOD_AND_BAD} && {{p2}} >= 0 && {{p2}} <= {{p0}} + {{p1}}"
    ),
    "bernoulli": _Sampler("tn_binomial_draw(&g, 1, {p0})", "tn_chance({p0})"),
    "binomial": _Sampler("tn_binomial_draw(&g, {p0}, {p1})", "{p0} >= 0 && tn_chance({p1})"),
    "integers": _Sampler(
        "tn_integer_draw(&g, {p0}, {p1})",
        "(int64_t){p0} < (int64_t){p1}",
        fill="tn_integer_draws(&g, {p0}, {p1}, count, block)",
    ),
    "integers_to": _Sampler(
        # SciPy adds 1 in the parameter's own type
        "tn_integer_draw(&g, (int64_t){p0}, (int64_t)({t1})({p1} + 1))",
        "{p0} == (int64_t){p0} && {p1} == (int64_t){p1} && {p0} < ({t1})({p1} + 1)",
    ),
}


def _names_of(where: Sequence[Where], given: Sequence[Array]) -> dict[str, str]:
    """Return what stands for each parameter where it belongs to a sample, and for its type."""
    names: dict[str, str] = {}
    for k, (place, x) in enumerate(zip(where, given, strict=True)):
        names[f"p{k}"] = x.at(*indices_of(place))
        names[f"t{k}"] = x.kind
    return names


def _by_distribution(sampler: ByDistribution, y: Array, wrong: str, *given: Array) -> list[str]:
    """Return samples of single numbers; of none NumPy looks at parameters that no sample has."""
    ndim, written = sampler.ndim, _DISTRIBUTIONS[sampler.distribution]
    names = _names_of(sampler.where, given)
    alone = all(d is None for place in sampler.where for d in place)
    shared: list[str] = []
    if alone:
        # what all samples share is read, and looked at, once
        shared = [f"const {x.kind} p{k} = {names[f'p{k}']};" for k, x in enumerate(given)]
        names |= {f"p{k}": f"p{k}" for k in range(len(given))}
    right = written.right.format(**names)
    kept = f"{sample_at(y, ndim)} = {written.sampled.format(**names)};"
    if alone:
        many = written.fill and ndim
        body = (
            _in_blocks(sampler, y, names, written.fill) if many else over_samples(y, [kept], ndim)
        )
        drawn = [*shared, f"if (!({right})) {wrong} = 1;", "else {", *body, "}"]
    else:
        drawn = over_samples(y, [f"if ({right}) {kept}", f"else {wrong} = 1;"], ndim)
    if written.scale is not None:
        drawn = _unless_all_are_zero(given[written.scale], wrong, drawn)
    empty = " || ".join(f"!{size}" for size in y.shape[:ndim])
    return [*([f"if ({empty}) {wrong} = 1;"] if ndim else []), *drawn]


def _unless_all_are_zero(scale: Array, wrong: str, drawn: Sequence[str]) -> list[str]:
    """Leave it to SciPy, which draws nothing where all scales are 0."""
    at = [*indices("j", len(scale.shape))] or ["0"]
    return [
        "int scaled = 0;",
        *loops(at, scale.shape, [f"scaled |= {scale.at(*at)} != 0;"]),
        f"if (!scaled) {wrong} = 1;",
        "else {",
        *drawn,
        "}",
    ]


def _in_blocks(sampler: ByDistribution, y: Array, names: dict[str, str], fill: str) -> list[str]:
    """Draws along the last dimension by a function that draws many at once."""
    *around, last = indices("i", sampler.ndim)
    size = y.shape[sampler.ndim - 1]
    body = [
        f"for (int64_t {last} = 0; {last} < {size}; {last} += 64) {{",
        f"const int64_t count = tn_smaller({size} - {last}, 64);",
        "uint64_t block[64];",
        f"{fill.format(**names)};",
        f"for (int64_t k = 0; k < count; k++) {y.at(*around, f'{last} + k')} = (int64_t)block[k];",
        "}",
    ]
    return loops(around, y.shape[: sampler.ndim - 1], body)


def _beta_binomial(
    sampler: BetaBinomial, y: Array, chances: Array, wrong: str, *given: Array
) -> list[str]:
    names, place = _names_of(sampler.where, given), sample_at(chances, sampler.ndim)
    beta = "g.numpy->beta(g.bits, {p1}, {p2})".format(**names)
    right = "{p0} >= 0 && {p1} > 0 && {p2} > 0".format(**names)
    counted = f"tn_binomial_draw(&g, {names['p0']}, {place})"
    return [
        *over_samples(y, [f"if ({right}) {place} = {beta};", f"else {wrong} = 1;"], sampler.ndim),
        *over_samples(
            y, [f"if (!{wrong}) {sample_at(y, sampler.ndim)} = {counted};"], sampler.ndim
        ),
    ]


# ---- rows ----


def _copied(target: Array, source: str, count: str) -> list[str]:
    return loops(["k"], [count], [f"{target.at('k')} = {source};"])


def _row(x: Array, where: Where) -> str:
    """Return an element of a row of parameters."""
    return x.at(*indices_of(where), "k")


def _sampled_rows(y: Array, ndim: int, row: Array, wrong: str, right: str, count: str) -> list[str]:
    """Rows that a function draws one by one into their own row."""
    kept = loops(["k"], [count], [f"{sample_at(y, ndim, 'k')} = {row.at('k')};"])
    return [f"if (!{right}) {wrong} = 1;", "else {", *kept, "}"]


def _dirichlet(
    sampler: Dirichlet, y: Array, alpha: Array, after: Array, share: Array, wrong: str, *given: Any
) -> list[str]:
    rows, count = given
    sampled = f"tn_shares(&g, {count}, {alpha.name}, {after.name}, {share.name})"
    body = [
        *_copied(alpha, _row(rows, sampler.of_row), count),
        *_sampled_rows(y, sampler.ndim, share, wrong, sampled, count),
    ]
    return over_samples(y, body, sampler.ndim)


def _multinomial(
    sampler: Multinomial, y: Array, chance: Array, counts: Array, wrong: str, *given: Any
) -> list[str]:
    trials, p, count = given
    number = trials.at(*indices_of(sampler.of_number))
    sampled = f"tn_outcomes(&g, {number}, {count}, {chance.name}, {counts.name})"
    body = [
        *_copied(chance, _row(p, sampler.of_row), count),
        *_sampled_rows(y, sampler.ndim, counts, wrong, sampled, count),
    ]
    return over_samples(y, body, sampler.ndim)


def _categories(sampler: Categories, y: Array, sums: Array, wrong: str, *given: Any) -> list[str]:
    """Return the first of the sums of probabilities that a uniform number does not exceed."""
    p, count = given
    added = [f"sum += {_row(p, sampler.of_row)};", f"{sums.at('k')} = (double)sum;"]
    summed = [
        "{",
        f"{C_TYPES[sampler.dtype]} sum = 0;",
        *loops(["k"], [count], added),
        "}",
    ]
    drawn = [
        "const double drawn = g.numpy->standard_uniform(g.bits);",
        f"{sample_at(y, sampler.ndim)} = tn_first_not_below({sums.name}, {count}, drawn);",
    ]
    if all(d is None for d in sampler.of_row):
        return [*summed, *over_samples(y, drawn, sampler.ndim)]
    return over_samples(y, [*summed, *drawn], sampler.ndim)


def _permutations(
    sampler: Permutations, y: Array, order: Array, wrong: str, count: str
) -> list[str]:
    kept = [f"{sample_at(y, sampler.ndim, 'k')} = {order.at('k')};"]
    body = [f"tn_shuffled_order(&g, {count}, {order.name});", *loops(["k"], [count], kept)]
    return over_samples(y, body, sampler.ndim)


def _shuffled(sampler: Shuffled, y: Array, order: Array, wrong: str, *given: Any) -> list[str]:
    x, count = given
    first = indices_of(sampler.of_array)
    more = indices("r", len(y.shape) - sampler.ndim - 1)
    kept = [f"{sample_at(y, sampler.ndim, 'k', *more)} = {x.at(*first, order.at('k'), *more)};"]
    body = [
        f"tn_shuffled_order(&g, {count}, {order.name});",
        *loops(["k", *more], [count, *y.shape[sampler.ndim + 1 :]], kept),
    ]
    return over_samples(y, body, sampler.ndim)


def _different_rows(
    sampler: DifferentRows, y: Array, order: Array, found: Array, wrong: str, *given: Any
) -> list[str]:
    *x, count, wanted, table = given
    more = indices("r", len(y.shape) - sampler.ndim)
    source = x[0].at("row", *more) if sampler.of_array else "row"
    kept = f"{sample_at(y, sampler.ndim, *more)} = {source};"
    body = [
        f"const int64_t row = {found.at('at++')};",
        *loops(more, y.shape[sampler.ndim :], [kept]),
    ]
    return [
        f"if ({wanted} > {count}) {wrong} = 1;",
        "else {",
        f"tn_different_rows(&g, {count}, {wanted}, {table}, {order.name}, {found.name});",
        "int64_t at = 0;",
        *over_samples(y, body, sampler.ndim),
        "}",
    ]


_SAMPLES: dict[type, Callable[..., list[str]]] = {
    BetaBinomial: _beta_binomial,
    ByDistribution: _by_distribution,
    Categories: _categories,
    DifferentRows: _different_rows,
    Dirichlet: _dirichlet,
    Multinomial: _multinomial,
    Permutations: _permutations,
    Shuffled: _shuffled,
}
