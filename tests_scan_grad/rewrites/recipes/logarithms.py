"""Logarithms, exponentials and what is computed from them without overflow."""

import numpy as np
import pytensor.tensor as pt
from pytensor.tensor import special

from tests_scan_grad.rewrites.making import Maker, recipe

FAMILY = "logarithms and exponentials"
TYPES = ("float64", "float32", "float16", "int8")


def logit(p):
    """The inverse of the sigmoid function, written out."""
    return pt.log(p / (1 - p))


def wide(m: Maker, ndim=2, types=TYPES):
    """Numbers of many sizes and both signs."""

    def among(s):
        return m.rng.choice(
            [0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 20.0, -20.0, 1e-9, -1e-5, 90.0, -90.0, 800.0, -800.0],
            s,
        )

    dtype = m.dtype(types)
    if dtype.startswith("float"):
        return m.array(ndim, dtype, among=among)
    return m.array(ndim, dtype)


def test_of(expressions):
    """A recipe that takes one of some expressions of two variables."""

    def make(m: Maker):
        x = wide(m)
        y = m.beside(x, "float64" if x.type.dtype == "int8" else x.type.dtype)
        return m.one_of(*expressions)(x, y)

    return make


def made(name, *rewrites):
    """Register such a recipe."""

    def register(expressions):
        make = test_of(expressions)
        make.__name__ = name
        recipe(FAMILY, *rewrites)(make)

    return register


made("logarithms of sums", "local_log1p", "local_log_add_exp", "local_log1p_plusminus_exp")(
    [
        lambda x, y: pt.log(1 + x),
        lambda x, y: pt.log(1 - x),
        lambda x, y: pt.log(1 + pt.exp(x)),
        lambda x, y: pt.log(pt.exp(x) + pt.exp(y)),
        lambda x, y: pt.log1p(pt.exp(x)),
        lambda x, y: pt.log1p(-pt.exp(x)),
        lambda x, y: pt.log(pt.exp(x) + pt.exp(y) + 1),
        lambda x, y: pt.log(1 - pt.exp(x)),
        lambda x, y: pt.log(np.ones((1, 1)) + x),
        lambda x, y: pt.log(1 + x + y),
        lambda x, y: pt.log(pt.exp(x) + pt.exp(x)),
        lambda x, y: pt.log(x + 1 - y),
        lambda x, y: pt.log(np.float32(1) + x * y),
    ]
)
made(
    "logarithms of differences of exponentials",
    "logdiffexp_to_log1mexpdiff",
    "logmexpm1_to_log1mexp",
    "local_log1p_plusminus_exp",
)(
    [
        lambda x, y: pt.log(pt.exp(x) - pt.exp(y)),
        lambda x, y: pt.log(-pt.expm1(x)),
        lambda x, y: pt.log1p(-pt.exp(x)),
        lambda x, y: pt.log(1 - pt.exp(-x)),
    ]
)
made("logarithms of sums of exponentials", "local_log_sum_exp")(
    [
        lambda x, y: pt.log(pt.sum(pt.exp(x), axis=0)),
        lambda x, y: pt.log(pt.sum(pt.exp(x))),
        lambda x, y: pt.log(pt.sum(pt.exp(x), axis=1, keepdims=True)),
        lambda x, y: pt.log(pt.sum(pt.exp(x + y), axis=-1)),
        lambda x, y: pt.log(pt.exp(x).sum(axis=(0, 1))),
    ]
)
made("logarithms of sigmoids", "logsigm_to_softplus", "log1msigm_to_softplus", "log1p_neg_sigmoid")(
    [
        lambda x, y: pt.log(pt.sigmoid(x)),
        lambda x, y: pt.log(1 - pt.sigmoid(x)),
        lambda x, y: pt.log1p(-pt.sigmoid(x)),
        lambda x, y: pt.log(pt.sigmoid(-x)),
        lambda x, y: pt.log(1 - pt.sigmoid(x).reshape((-1,))),
        lambda x, y: pt.log(pt.sigmoid(x)) - pt.log1p(-pt.sigmoid(x)),
        lambda x, y: pt.log(pt.reshape(pt.sigmoid(x), (-1,))),
        lambda x, y: pt.log(np.ones((1, 1)) - pt.sigmoid(x)),
    ]
)
made(
    "sigmoids",
    "local_1msigmoid",
    "local_sigm_times_exp",
    "local_reciprocal_1_plus_exp",
    "exp_over_1_plus_exp",
    "local_logit_sigmoid",
    "local_sigmoid_logit",
    "local_odds_sigmoid",
    "local_inv_odds_sigmoid",
)(
    [
        lambda x, y: 1 - pt.sigmoid(x),
        lambda x, y: pt.sigmoid(x) * pt.exp(-x),
        lambda x, y: 1 / (1 + pt.exp(x)),
        lambda x, y: pt.exp(x) / (1 + pt.exp(x)),
        lambda x, y: 1 / (1 + pt.exp(-x)),
        lambda x, y: logit(pt.sigmoid(x)),
        lambda x, y: pt.sigmoid(x) / (1 - pt.sigmoid(x)),
        lambda x, y: (1 - pt.sigmoid(x)) / pt.sigmoid(x),
        lambda x, y: pt.sigmoid(logit(x)),
        lambda x, y: y / (1 + pt.exp(x)),
        lambda x, y: y * pt.exp(x) / (1 + pt.exp(x)),
        lambda x, y: -1 / (1 + pt.exp(-x)),
        lambda x, y: pt.exp(-x) * pt.sigmoid(x) * y,
        lambda x, y: pt.exp(x) / (y * (pt.exp(x) + 1)),
        lambda x, y: pt.sigmoid(x) * pt.sigmoid(y) * pt.exp(-x) * pt.exp(-y),
        lambda x, y: pt.exp(x) * pt.sigmoid(-x),
        lambda x, y: np.ones((1, 1)) / (1 + pt.exp(x)),
        lambda x, y: 1 - pt.sigmoid(x) * y,
        lambda x, y: (pt.exp(x) / y) * y / (1 + pt.exp(x)),
        lambda x, y: (y * pt.exp(x) + x) / (1 + pt.exp(x)),
    ]
)
made("logarithms of products", "log_of_exponentials")(
    [
        lambda x, y: pt.log(y * pt.exp(x)),
        lambda x, y: pt.log(pt.exp(x) / y),
        lambda x, y: pt.log(pt.exp(x) * pt.exp(y)),
        lambda x, y: pt.log(abs(y) / pt.exp(x)),
        lambda x, y: pt.log(pt.exp(x) * (x + y)),
    ]
)
made("logarithms of squared tangents", "log_of_squared_tanh")(
    [
        lambda x, y: pt.log(1 - pt.tanh(x) ** 2),
        lambda x, y: pt.log(1 - pt.sqr(pt.tanh(x))),
        lambda x, y: pt.log1p(-pt.sqr(pt.tanh(x))),
        lambda x, y: pt.log(1 - pt.tanh(x) * pt.tanh(x)),
        lambda x, y: pt.log(1 - pt.tanh(x) * pt.tanh(y)),
    ]
)
made("sums with negative terms", "sum_with_negative_term")(
    [
        lambda x, y: x + -y,
        lambda x, y: -x * y + x,
        lambda x, y: 1 + -pt.sigmoid(x),
        lambda x, y: -1 * x + -1 * y,
    ]
)
made("squares of roots", "square_of_root")(
    [
        lambda x, y: y * pt.sqrt(pt.exp(x)) * pt.sqrt(pt.exp(x)),
        lambda x, y: pt.sqrt(pt.sqr(x)) * pt.sqrt(pt.sqr(x)),
        lambda x, y: pt.sqrt(x) * pt.sqrt(x),
    ]
)
made("softmaxes by hand", "local_softmax_by_hand")(
    [
        lambda x, y: y * pt.exp(x) / pt.exp(x).sum(axis=-1, keepdims=True),
        lambda x, y: pt.exp(x) * (y / pt.exp(x).sum(axis=0, keepdims=True)),
        lambda x, y: pt.exp(x) / pt.exp(x).sum(),
        lambda x, y: (
            pt.exp(x) * (y / pt.exp(x).sum(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True)
        ),
    ]
)
made("softmaxes of what is less its largest", "local_softmax_of_shifted")(
    [
        lambda x, y: special.softmax(x - x.max(axis=-1, keepdims=True), axis=-1),
        lambda x, y: special.softmax(x - x.max(axis=0, keepdims=True), axis=0) * y,
        lambda x, y: special.log_softmax(x - x.max(axis=-1, keepdims=True), axis=-1),
        lambda x, y: special.softmax(x - x.max(axis=0, keepdims=True), axis=-1),
    ]
)
made("exponentials less one", "local_expm1")(
    [
        lambda x, y: pt.exp(x) - 1,
        lambda x, y: 1 - pt.exp(x),
        lambda x, y: pt.exp(x) - np.ones((1, 1)),
        lambda x, y: -1 + pt.exp(x),
        lambda x, y: pt.exp(x) - 1 + y,
        lambda x, y: pt.add(-1.0, pt.exp(x)),
        lambda x, y: pt.exp(x) + np.float32(-1),
    ]
)
made("products of exponentials", "local_mul_exp_to_exp_add", "local_div_exp_to_mul_exp")(
    [
        lambda x, y: pt.exp(x) * pt.exp(y),
        lambda x, y: pt.exp(x) / pt.exp(y),
        lambda x, y: y * pt.exp(x) * pt.exp(-x),
        lambda x, y: y / pt.exp(x),
        lambda x, y: pt.exp(x) * pt.exp(x),
        lambda x, y: pt.exp(x) / (pt.exp(y) * x),
    ]
)
made(
    "logarithms of products and roots",
    "local_log_div",
    "local_log_sqrt",
    "local_log_sqrt_sqr",
    "local_log_prod_to_sum_log",
)(
    [
        lambda x, y: pt.log(x / y),
        lambda x, y: pt.log(pt.sqrt(x)),
        lambda x, y: pt.log(pt.sqr(x)),
        lambda x, y: pt.log(abs(pt.sqr(x))),
        lambda x, y: pt.log(pt.prod(x)),
        lambda x, y: pt.log(pt.prod(pt.exp(x), axis=0)),
        lambda x, y: pt.log(pt.prod(abs(x), axis=1)),
        lambda x, y: pt.log(1 / x),
        lambda x, y: pt.log(pt.exp(x) / y),
        lambda x, y: pt.log(pt.exp(x) / pt.exp(y)),
        lambda x, y: pt.log(x / pt.exp(y)),
        lambda x, y: pt.log(pt.prod(pt.sqr(x), axis=0)),
        lambda x, y: pt.log(3 / x),
    ]
)
made(
    "error functions",
    "local_one_plus_erf",
    "local_one_minus_erf",
    "local_erf_minus_one",
    "local_erf_neg_minus_one",
    "local_log_erfc",
)(
    [
        lambda x, y: 1 + pt.erf(x),
        lambda x, y: 1 - pt.erf(x),
        lambda x, y: pt.erf(x) - 1,
        lambda x, y: 1 - pt.erfc(x),
        lambda x, y: pt.log(pt.erfc(x)),
        lambda x, y: -1 + pt.erf(-x),
        lambda x, y: 1 + (-pt.erf(x)),
        lambda x, y: -1 + pt.erfc(x),
        lambda x, y: pt.erf(x) + -1,
        lambda x, y: 1 - pt.erf(x) * y,
        lambda x, y: pt.add(1, -pt.erfc(x)),
        lambda x, y: -1 - pt.erf(x),
    ]
)


@recipe(FAMILY, "local_grad_log_erfc_neg", "local_log_erfc")
def gradient_of_the_logarithm_of_an_error_function(m: Maker):
    x = wide(m, 1, ("float64", "float32"))
    cost = pt.log(pt.erfc(m.one_of(x, 2 * x, -x / 2)))
    return [cost, pt.grad(m.one_of(cost.sum(), (cost * 3).sum()), x)]


@recipe(FAMILY, "local_log_kv", "local_log_iv")
def logarithms_of_bessel_functions(m: Maker):
    x = m.array((3,), ("float64",), among=lambda s: m.rng.choice([0.5, 1.0, 3.0, 20.0], s))
    v = m.scalar("float64", among=lambda s: m.one_of(0.0, 0.5, 1.0, 2.5, -1.5))
    return [pt.log(pt.kv(v, x)), pt.log(pt.iv(abs(v), x))]


@recipe(FAMILY, "local_one_minus_erfc")
def one_less_an_error_function(m: Maker):
    x = wide(m)
    return [1 - pt.erfc(x), 1.0 - pt.erfc(-x)]
