"""Samples of NumPy's `Generator`, whose words are an array; see ``included/generators.inc``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.link.native.render.arrays import Array, indices, loops
from theano.link.native.render.kernels.generator_distributions import (
    AFTER_OTHERS,
    DISTRIBUTIONS,
    Sampler,
)
from theano.link.native.render.kernels.random_state import indices_of, over_samples, sample_at
from theano.link.native.render.numbers_in_c import C_TYPES
from theano.link.native.render.registry import writes_task
from theano.link.native.statements.tasks import (
    AfterOthers,
    ByDistribution,
    Categories,
    DifferentByChance,
    DifferentRows,
    Dirichlet,
    Multinomial,
    NormalRows,
    Permutations,
    SampleFromGenerator,
    Shuffled,
    Where,
)

# Samples of one call of a function that draws many: calls cost little then, and the block stays in
# the first-level cache.
BLOCK = 1024


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


def _names_of(where: Sequence[Where], given: Sequence[Array]) -> dict[str, str]:
    """Return what stands for each parameter where it belongs to a sample, and for its type."""
    names: dict[str, str] = {}
    for k, (place, x) in enumerate(zip(where, given, strict=True)):
        names[f"p{k}"] = x.at(*indices_of(place))
        names[f"t{k}"] = x.kind
    return names


def _by_distribution(sampler: ByDistribution, y: Array, wrong: str, *given: Array) -> list[str]:
    """Return samples of single numbers; of none NumPy looks at parameters that no sample has."""
    ndim, written = sampler.ndim, DISTRIBUTIONS[sampler.distribution]
    names = _names_of(sampler.where, given)
    alone = all(d is None for place in sampler.where for d in place)
    names |= {
        "alone": f"{alone:d}",
        "count": " * ".join(map(str, y.shape[:ndim])) or "1",
        "wrong": wrong,
    }
    shared: list[str] = []
    if alone:
        # what all samples share is read, and looked at, once
        shared = [f"const {x.kind} p{k} = {names[f'p{k}']};" for k, x in enumerate(given)]
        names |= {f"p{k}": f"p{k}" for k in range(len(given))}
    right = written.right.format(**names)
    kept = f"{sample_at(y, ndim)} = {written.sampled.format(**names)};"
    if alone:
        many = written.fill and ndim
        body = _in_blocks(sampler, y, names, written) if many else over_samples(y, [kept], ndim)
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


def _in_blocks(
    sampler: ByDistribution, y: Array, names: dict[str, str], written: Sampler
) -> list[str]:
    """Draws along the last dimension by a function that draws many at once."""
    *around, last = indices("i", sampler.ndim)
    size = y.shape[sampler.ndim - 1]
    element = written.element.format(**names, drawn="block[k]")
    body = [
        f"for (int64_t {last} = 0; {last} < {size}; {last} += {BLOCK}) {{",
        f"const int64_t count = tn_smaller({size} - {last}, {BLOCK});",
        f"{written.block} block[{BLOCK}];",
        f"{written.fill.format(**names)};",
        f"for (int64_t k = 0; k < count; k++) {y.at(*around, f'{last} + k')} = {element};",
        "}",
    ]
    return loops(around, y.shape[: sampler.ndim - 1], body)


def _after_others(
    sampler: AfterOthers, y: Array, first: Array, wrong: str, *given: Array
) -> list[str]:
    ndim, written = sampler.ndim, AFTER_OTHERS[sampler.distribution]
    place = sample_at(first, ndim)
    own = {d for where in sampler.where for d in where if d is not None}
    names = _names_of(sampler.where, given) | {
        "first": place,
        "alone": f"{not own:d}",
        # how many parameters there are
        "rows": " * ".join(str(y.shape[d]) for d in sorted(own)) or "1",
    }
    right, drawn, sampled = (
        text.format(**names) for text in (written.right, written.first, written.sampled)
    )
    body = [
        *over_samples(y, [f"if ({right}) {place} = {drawn};", f"else {wrong} = 1;"], ndim),
        *over_samples(y, [f"if (!{wrong}) {sample_at(y, ndim)} = {sampled};"], ndim),
    ]
    if written.scale is None:
        return body
    return _unless_all_are_zero(given[written.scale], wrong, body)


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


# how many arrays NumPy's loop for a factor writes
_WRITTEN = {"cholesky": 1, "eigh": 2, "svd": 3}


def _normal_rows(sampler: NormalRows, y: Array, *given: Any) -> list[str]:
    matrix, factor, rest, values, drawn, row, wrong, mean, covariances, count = given
    source = covariances.at(*indices_of(sampler.of_matrix), "k", "l")
    copied = loops(["k", "l"], [count, count], [f"{matrix.at(f'k * {count} + l')} = {source};"])
    names = ", ".join(array.name for array in (matrix, factor, values, rest))
    loop = f"&g.numpy->{sampler.factor}"
    found = f"tn_factor({loop}, {_WRITTEN[sampler.factor]}, {count}, {names})"
    has_factor = f"({loop})->function && {count} > 0"
    sampled = [
        f"tn_normal_row(&g, {count}, {factor.name}, {drawn.name}, {row.name});",
        *loops(
            ["k"],
            [count],
            [f"{sample_at(y, sampler.ndim, 'k')} = {row.at('k')} + {_row(mean, sampler.of_mean)};"],
        ),
    ]
    if all(d is None for d in sampler.of_matrix):
        return [
            *copied,
            f"if (!({has_factor} && {found})) {wrong} = 1;",
            "else {",
            *over_samples(y, sampled, sampler.ndim),
            "}",
        ]
    each = [
        f"if ({wrong}) break;",
        *copied,
        f"if (!{found}) {wrong} = 1;",
        "else {",
        *sampled,
        "}",
    ]
    return [
        f"if (!({has_factor})) {wrong} = 1;",
        "else {",
        *over_samples(y, each, sampler.ndim),
        "}",
    ]


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
    return [
        f"if ({wanted} > {count}) {wrong} = 1;",
        "else {",
        f"tn_different_rows(&g, {count}, {wanted}, {table}, {order.name}, {found.name});",
        *_found_rows(sampler, y, found, x),
        "}",
    ]


def _different_by_chance(sampler: DifferentByChance, y: Array, *given: Any) -> list[str]:
    chance, sums, drawn, found, wrong, *x, p, count, wanted = given
    names = ", ".join(array.name for array in (chance, sums, drawn, found))
    return [
        *_copied(chance, p.at("k"), count),
        f"if (!tn_different_by_chance(&g, {count}, {wanted}, {names})) {wrong} = 1;",
        "else {",
        *_found_rows(sampler, y, found, x),
        "}",
    ]


def _found_rows(
    sampler: DifferentRows | DifferentByChance, y: Array, found: Array, x: Sequence[Array]
) -> list[str]:
    """Write the rows of an array, or their positions, that were found."""
    more = indices("r", len(y.shape) - sampler.ndim)
    source = x[0].at("row", *more) if sampler.of_array else "row"
    kept = f"{sample_at(y, sampler.ndim, *more)} = {source};"
    body = [
        f"const int64_t row = {found.at('at++')};",
        *loops(more, y.shape[sampler.ndim :], [kept]),
    ]
    return ["int64_t at = 0;", *over_samples(y, body, sampler.ndim)]


_SAMPLES: dict[type, Callable[..., list[str]]] = {
    AfterOthers: _after_others,
    ByDistribution: _by_distribution,
    Categories: _categories,
    DifferentByChance: _different_by_chance,
    DifferentRows: _different_rows,
    Dirichlet: _dirichlet,
    Multinomial: _multinomial,
    NormalRows: _normal_rows,
    Permutations: _permutations,
    Shuffled: _shuffled,
}
