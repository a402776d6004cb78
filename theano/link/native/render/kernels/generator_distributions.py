"""The expressions in C of single numbers of each distribution; see ``included/generators.inc``."""

from __future__ import annotations

from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Sampler:
    """A sample in C, given the parameters ``p0``, ``p1``... and their types, and when these are right.

    Attributes
    ----------
    scale
        The position of SciPy's scale: nothing is sampled where all of it is 0.
    fill
        Draws ``count`` numbers into ``block``, an array of this type.
    element
        A sample, given a number ``{drawn}`` of the block.
    """

    sampled: str
    right: str = "1"
    scale: int | None = None
    fill: str = ""
    block: str = "double"
    element: str = "{drawn}"


def _of_numpy(function: str, count: int, right: str = "1") -> Sampler:
    """Return a draw by a NumPy function, of so many parameters."""
    parameters = "".join(f", {{p{k}}}" for k in range(count))
    return Sampler(f"g.numpy->{function}(g.bits{parameters})", right)


_NOT_NEGATIVE = "tn_not_negative({p0})", "tn_not_negative({p1})"
_BOTH_NOT_NEGATIVE = " && ".join(_NOT_NEGATIVE)
_BOTH_POSITIVE = "tn_positive({p0}) && tn_positive({p1})"
_GOOD_AND_BAD = "(uint64_t){p0} < 1000000000 && (uint64_t){p1} < 1000000000"


def _pareto(single: str) -> Sampler:
    """Return the draw of Pareto numbers, given when it is of a single number in Python."""
    exponent = "({t0})-1 / {p0}"
    return Sampler(
        f"tn_scaled_draw(tn_pareto_draw(&g, {exponent}, {{alone}}, {single}), {{p1}}, 0)",
        "g.numpy->power.function && {p0} > 0 && {p1} >= 0 &&"
        f" ({single} || {{alone}} || !tn_is_short_power({exponent}))",
        scale=1,
        fill=f"tn_pareto_draws(&g, {exponent}, {single}, count, block)",
        element="tn_scaled_draw({drawn}, {p1}, 0)",
    )


# distribution -> its sample; ``alone`` is whether all samples share the parameters, ``count`` how many
# samples there are, and ``wrong`` what becomes 1 where Python has to draw
DISTRIBUTIONS = {
    "uniform": Sampler(
        "g.numpy->uniform(g.bits, {p0}, (double){p1} - (double){p0})",
        "tn_range((double){p1} - (double){p0})",
    ),
    "normal": _of_numpy("normal", 2, _NOT_NEGATIVE[1]),
    "lognormal": _of_numpy("lognormal", 2, _NOT_NEGATIVE[1]),
    "exponential": _of_numpy("exponential", 1, _NOT_NEGATIVE[0]),
    "gamma": _of_numpy("gamma", 2, _BOTH_NOT_NEGATIVE),
    "invgamma": Sampler(
        "1 / g.numpy->gamma(g.bits, {p0}, ({t1})1 / {p1})",
        "tn_not_negative({p0}) && tn_not_negative(({t1})1 / {p1})",
    ),
    "beta": _of_numpy("beta", 2, _BOTH_POSITIVE),
    "clipped_beta": Sampler(
        "tn_inside_of_one(g.numpy->beta(g.bits, {p0}, {p1}))", "{p0} > 0 && {p1} > 0"
    ),
    "weibull": _of_numpy("weibull", 1, _NOT_NEGATIVE[0]),
    "logistic": _of_numpy("logistic", 2, _NOT_NEGATIVE[1]),
    "laplace": _of_numpy("laplace", 2, _NOT_NEGATIVE[1]),
    "vonmises": _of_numpy("vonmises", 2, _NOT_NEGATIVE[1]),
    "wald": _of_numpy("wald", 2, _BOTH_POSITIVE),
    "shifted_wald": Sampler("g.numpy->wald(g.bits, {p0}, {p1}) + {p2}", _BOTH_POSITIVE),
    "triangular": _of_numpy("triangular", 3, "!({p0} > {p1}) && !({p1} > {p2}) && {p0} != {p2}"),
    "halfnormal": Sampler(
        "tn_scaled_draw(__builtin_fabs(g.numpy->standard_normal(g.bits)), {p1}, {p0})",
        "{p1} >= 0",
        scale=1,
    ),
    "t": Sampler(
        "tn_scaled_draw(g.numpy->standard_t(g.bits, {p0}), {p2}, {p1})",
        "{p0} > 0 && {p2} >= 0",
        scale=2,
    ),
    "cauchy": Sampler(
        "tn_scaled_draw(tn_cauchy_draw(&g, &{wrong}), {p1}, {p0})",
        "g.numpy->cauchy_ppf.function && {p1} >= 0",
        scale=1,
    ),
    "halfcauchy": Sampler(
        "tn_scaled_draw(tn_half_cauchy_draw(&g), {p1}, {p0})",
        "g.numpy->tan.function && {p1} >= 0",
        fill="tn_half_cauchy_draws(&g, count, block)",
        element="tn_scaled_draw({drawn}, {p1}, {p0})",
        scale=1,
    ),
    "gumbel": Sampler(
        "tn_scaled_draw(tn_gumbel_draw(&g), {p1}, {p0})",
        "g.numpy->log.function && {p1} >= 0",
        fill="tn_gumbel_draws(&g, count, block)",
        element="tn_scaled_draw({drawn}, {p1}, {p0})",
        scale=1,
    ),
    "moyal": Sampler(
        "tn_scaled_draw(tn_moyal_draw(&g), {p1}, {p0})",
        "g.numpy->log.function && {p1} >= 0",
        fill="tn_moyal_draws(&g, count, block)",
        element="tn_scaled_draw({drawn}, {p1}, {p0})",
        scale=1,
    ),
    "pareto": _pareto("{count} == 1"),
    "pareto_of_size": _pareto("0"),
    "gengamma": Sampler(
        "tn_scaled_draw(tn_gamma_power_draw(&g, {p0} / {p1}, ({t1})1 / {p1}, {alone}), {p2}, 0)",
        "g.numpy->power.function && {p0} / {p1} > 0 && __builtin_isfinite({p1}) && {p1} != 0"
        " && {p2} >= 0 && ({alone} || !tn_is_short_power(({t1})1 / {p1}))",
        fill="tn_gamma_power_draws(&g, {p0} / {p1}, ({t1})1 / {p1}, count, block)",
        element="tn_scaled_draw({drawn}, {p2}, 0)",
        scale=2,
    ),
    "truncexpon": Sampler(
        "tn_scaled_draw(tn_cut_exponential_draw(&g, {p0}), {p2}, {p1})",
        "g.numpy->expm1.function && g.numpy->log1p.function && {p0} > 0 && {p2} >= 0",
        fill="tn_cut_exponential_draws(&g, {p0}, count, block)",
        element="tn_scaled_draw({drawn}, {p2}, {p1})",
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
    "bernoulli": Sampler("tn_binomial_draw(&g, 1, {p0})", "tn_chance({p0})"),
    "binomial": Sampler("tn_binomial_draw(&g, {p0}, {p1})", "{p0} >= 0 && tn_chance({p1})"),
    "integers": Sampler(
        "tn_integer_draw(&g, {p0}, {p1})",
        "(int64_t){p0} < (int64_t){p1}",
        fill="tn_integer_draws(&g, {p0}, {p1}, count, block)",
        block="uint64_t",
        element="(int64_t){drawn}",
    ),
    "integers_to": Sampler(
        # SciPy adds 1 in the parameter's own type
        "tn_integer_draw(&g, (int64_t){p0}, (int64_t)({t1})({p1} + 1))",
        "{p0} == (int64_t){p0} && {p1} == (int64_t){p1} && {p0} < ({t1})({p1} + 1)",
    ),
}


@dataclass(frozen=True)
class Two:
    """A first number for all samples, and what is drawn after it; otherwise as `Sampler`."""

    first: str
    sampled: str
    right: str
    scale: int | None = None


AFTER_OTHERS = {
    "beta_binomial": Two(
        "g.numpy->beta(g.bits, {p1}, {p2})",
        "tn_binomial_draw(&g, {p0}, {first})",
        "{p0} >= 0 && {p1} > 0 && {p2} > 0",
    ),
    "skewnormal": Two(
        "g.numpy->normal(g.bits, 0, 1)",
        "tn_scaled_draw(tn_skew(&g, {first}, {p2}, {alone}), {p1}, {p0})",
        "__builtin_isfinite({p2}) && {p1} >= 0 && ({alone} || {rows} != 1)",
        scale=1,
    ),
    "rice": Two(
        "{p0} / tn_root_of_2 + g.numpy->standard_normal(g.bits)",
        "tn_scaled_draw(tn_distance({first}, {p0} / tn_root_of_2 +"
        " g.numpy->standard_normal(g.bits)), {p1}, 0)",
        "{p0} >= 0 && {p1} >= 0",
        scale=1,
    ),
}
