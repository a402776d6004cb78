"""Programs that users write, at values where what they compute overflows unless it is rewritten."""

import numpy as np
import pytest

import theano
import theano.tensor as T

DTYPES = ["int8", "int32", "int64", "uint8", "bool", "float32", "float64"]
FLOATS = ["float64", "float32"]


@pytest.fixture(params=FLOATS)
def floatx(request):
    with theano.config.change_flags(floatX=request.param):
        yield request.param


def tolerance(floatx):
    return 1e-12 if floatx == "float64" else 2e-5


def logistic_regression(written, y, cost_too, mean, floatx):
    """The first program of Theano's tutorial, with unscaled data."""
    x = T.matrix("x")
    w = theano.shared(np.array([100.0, -200.0, 3.0], floatx), "w")
    b = theano.shared(np.asarray(0.0, floatx), "b")
    z = x.dot(w) + b
    s = T.nnet.sigmoid(z) if written == "sigmoid" else 1 / (1 + T.exp(-z))
    e = -(y * T.log(s)) - (1 - y) * T.log(1 - s)
    cost = {"mean": e.mean, "sum": e.sum, "length": lambda: e.sum() / y.shape[0]}[mean]()
    gradient = T.grad(cost, w)
    return theano.function([x, y], [cost, gradient] if cost_too else [gradient])


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
@pytest.mark.parametrize(
    ("mean", "cost_too"), [("mean", True), ("sum", True), ("sum", False), ("length", False)]
)
@pytest.mark.parametrize("written", ["sigmoid", "exp"])
def test_gradient_of_logistic_regression(written, cost_too, mean, dtype, floatx):
    y = T.TensorType(dtype, (None,))("y")
    f = logistic_regression(written, y, cost_too, mean, floatx)
    rng = np.random.default_rng(0)
    rows = np.round(5 * rng.normal(size=(6, 3)), 2).astype(floatx)
    targets = rng.integers(0, 2, 6)
    *_, gradient = f(rows, targets.astype(dtype))
    z = rows.astype("float64").dot([100.0, -200.0, 3.0])
    expected = rows.T.astype("float64").dot(np.exp(-np.logaddexp(0, -z)) - targets)
    if mean != "sum":
        expected /= 6
    np.testing.assert_allclose(gradient, expected, rtol=1e3 * tolerance(floatx))


MEANS = {
    "softplus": (lambda z: T.log1p(T.exp(z)), 1 / (1 + np.exp(-1)) + 800),
    "log of one plus": (lambda z: T.log(1 + T.exp(z)), 1 / (1 + np.exp(-1)) + 800),
    "ratio": (lambda z: T.exp(z) / (1 + T.exp(z)), np.exp(-1) / (1 + np.exp(-1)) ** 2),
}


@pytest.mark.parametrize("name", MEANS)
def test_gradient_of_a_mean_of_large_values(name, floatx):
    w, q = T.scalar("w"), T.vector("q")
    written, slope = MEANS[name]
    e = written(w * q)
    f = theano.function([w, q], [T.grad(e.sum(), w), T.grad(e.mean(), w)])
    found = f(1, np.array([1, 800], floatx))
    np.testing.assert_allclose(found, [slope, slope / 2], rtol=tolerance(floatx))


LOGARITHMS = {
    "log of one plus exp": (lambda z: T.log(1 + T.exp(z)), lambda z: np.logaddexp(0, z)),
    "log of one minus sigmoid": (
        lambda z: T.log(1 - T.nnet.sigmoid(z)),
        lambda z: -np.logaddexp(0, z),
    ),
    "log of sum of exp": (lambda z: T.log(T.exp(z).sum()), lambda z: np.logaddexp.reduce(z)),
    "log1p of exp": (lambda z: T.log1p(T.exp(z)), lambda z: np.logaddexp(0, z)),
    "log of sigmoid": (lambda z: T.log(T.nnet.sigmoid(-z)), lambda z: -np.logaddexp(0, z)),
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_logarithms_of_data_of_any_dtype(dtype):
    w, k = T.dscalar("w"), T.TensorType(dtype, (None,))("k")
    written = [each for each, _ in LOGARITHMS.values()]
    logits = [w * k, w * T.cast(k, "float64")]
    f = theano.function([w, k], [each(z) for each in written for z in logits])
    values = np.array([1, 40, 100], dtype)
    found = f(8.0, values)
    for number, (_, right) in enumerate(LOGARITHMS.values()):
        expected = right(8.0 * values.astype("float64"))
        for value in found[2 * number : 2 * number + 2]:
            np.testing.assert_allclose(value, expected, rtol=1e-12)


@pytest.mark.parametrize("name", LOGARITHMS)
def test_logarithms_of_positions_and_lengths(name):
    written, right = LOGARITHMS[name]
    w, x = T.dscalar("w"), T.dvector("x")
    f = theano.function([w, x], [written(w * T.arange(x.shape[0])), written(w * x.shape[0:1])])
    places, lengths = f(800.0, np.zeros(3))
    np.testing.assert_allclose(places, right(800.0 * np.arange(3)))
    np.testing.assert_allclose(lengths, right(800.0 * np.array([3])))


@pytest.mark.parametrize("dtype", DTYPES)
def test_logarithms_in_a_loop(dtype):
    w, k = T.dscalar("w"), T.TensorType(dtype, (None,))("k")
    e, _ = theano.scan(lambda k, w: T.log(1 + T.exp(w * k)), sequences=k, non_sequences=w)
    f = theano.function([w, k], [e, T.grad(e.sum(), w)])
    values = np.array([1, 40, 100], dtype)
    value, gradient = f(8.0, values)
    z = 8.0 * values.astype("float64")
    np.testing.assert_allclose(value, np.logaddexp(0, z), rtol=1e-12)
    np.testing.assert_allclose(gradient, (values / (1 + np.exp(-z))).sum(), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float64"])
def test_what_a_mask_hides_has_no_part_in_a_gradient(dtype):
    k, s, a = T.TensorType(dtype, (None,))("k"), T.dscalar("s"), T.dvector("a")
    logarithm = T.switch(k > 0, s * T.log(k) + 1, 0.0).sum()
    quotient = T.switch(k > 0, s * a / k, 0).sum()
    f = theano.function([s, k, a], [T.grad(logarithm, s), T.grad(quotient, s)])
    found = f(2.0, np.array([0, 1, 3], dtype), np.ones(3))
    np.testing.assert_allclose(found, [np.log(3), 4 / 3])


def test_crossentropy_with_targets_that_are_comparisons():
    x = T.dvector("x")
    loss = T.nnet.binary_crossentropy(T.nnet.sigmoid(x), T.gt(x, 0))
    f = theano.function([x], [loss, T.grad(loss.sum(), x)])
    values = np.array([-800.0, -40, -1, 1, 40, 800])
    value, gradient = f(values)
    np.testing.assert_allclose(value, np.logaddexp(0, -abs(values)), rtol=1e-12, atol=1e-17)
    expected = -np.sign(values) / (1 + np.exp(abs(values)))
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-16)


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "bool", "int8"])
def test_gradient_of_a_softmax_of_large_scores(dtype, mean):
    x, y = T.dmatrix("x"), T.TensorType(dtype, (None, None))("y")
    powers = T.exp(x)
    losses = [
        -T.log(T.nnet.softmax(x)) * y,
        -(y * T.log(powers / powers.sum(axis=1, keepdims=True))),
        (T.log(powers.sum(axis=1, keepdims=True)) - x) * y,
    ]
    costs = [e.mean() if mean else e.sum() for e in losses]
    f = theano.function([x, y], [*costs, *(T.grad(cost, x) for cost in costs)])
    found = f(np.array([[1000.0, -1000.0, 0.0], [0.0, 1.0, 2.0]]), np.eye(3)[[1, 2]].astype(dtype))
    last = np.exp([0.0, 1, 2]) / np.exp([0.0, 1, 2]).sum()
    cost, gradient = 2000 - np.log(last[2]), [[1, -1, 0], last - [0, 0, 1]]
    for value in found[:3]:
        np.testing.assert_allclose(value, cost / (6 if mean else 1))
    for value in found[3:]:
        np.testing.assert_allclose(value, np.array(gradient) / (6 if mean else 1), atol=1e-15)


@pytest.mark.parametrize("in_loop", [False, True], ids=["outside", "in a loop"])
def test_a_complement_cancels_however_it_is_written(in_loop, floatx):
    q = T.vector("q")
    for complement in (lambda s: T.log1p(-s), lambda s: T.log(1 - s), lambda s: T.log(1 + -s)):

        def step(q, complement=complement):
            return complement(T.nnet.sigmoid(q))

        e = theano.scan(step, sequences=[q])[0] if in_loop else step(q)
        values = np.array([790, 0.5, -40], floatx)
        found = theano.function([q], T.grad(e.sum(), q))(values)
        expected = -1 / (1 + np.exp(-values.astype("float64")))
        np.testing.assert_allclose(found, expected, rtol=tolerance(floatx))
