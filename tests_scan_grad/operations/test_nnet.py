"""Activations, losses and normalisation, against NumPy."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.operations.small_graphs import check_gradient, compiled, evaluate, value_of
from theano.tensor.nnet import bn, nnet

RNG = np.random.default_rng(7)

POINTS = np.array([[-40.0, -3.0, -0.5], [0.0, 0.25, 1.0], [2.0, 6.5, 40.0]])


def np_sigmoid(x):
    return 1 / (1 + np.exp(-x))


def np_softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


ACTIVATIONS = {
    "sigmoid": np_sigmoid,
    "hard_sigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "softplus": lambda x: np.logaddexp(0, x),
    "relu": lambda x: np.maximum(x, 0),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "selu": lambda x: (
        1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0)))
    ),
    "softsign": lambda x: x / (1 + abs(x)),
    "softmax": np_softmax,
    "logsoftmax": lambda x: np.log(np_softmax(x)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_has_its_value_and_its_gradient(name):
    function = getattr(T.nnet, name)
    np.testing.assert_allclose(
        evaluate(function(T.dmatrix("x")), x=POINTS), ACTIVATIONS[name](POINTS), rtol=1e-10
    )
    check_gradient(function, RNG.normal(size=(2, 3)))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_keeps_float32(name):
    assert getattr(T.nnet, name)(T.fmatrix("x")).dtype == "float32"


@pytest.mark.parametrize("name", ["elu", "selu", "softplus", "sigmoid", "relu"])
def test_gradient_is_finite_far_from_zero(name):
    x = T.dvector("x")
    gradient = theano.grad(getattr(T.nnet, name)(x).sum(), x)
    assert np.isfinite(evaluate(gradient, x=np.array([-1e4, 1e4]))).all()


def test_ultra_fast_sigmoid_is_close_to_sigmoid():
    x = np.linspace(-12, 12, 1001)
    y = evaluate(T.nnet.ultra_fast_sigmoid(T.dvector("x")), x=x)
    assert abs(y - np_sigmoid(x)).max() < 0.03
    assert y[500] == 0.5


def test_relu_with_a_slope():
    for alpha in (0.1, T.constant(0.1)):
        y = evaluate(T.nnet.relu(T.dmatrix("x"), alpha), x=POINTS)
        np.testing.assert_allclose(y, np.where(POINTS > 0, POINTS, 0.1 * POINTS))


def test_softmax_of_a_vector_is_a_row():
    y = T.nnet.softmax(T.dvector("x"))
    assert y.ndim == 2
    np.testing.assert_allclose(evaluate(y, x=POINTS[1]), np_softmax(POINTS[1])[None])


@pytest.mark.parametrize("argument", [T.dtensor3("x"), T.imatrix("x"), T.dscalar("x")])
def test_softmax_refuses_what_theano_refused(argument):
    with pytest.raises(ValueError, match="softmax: expected a vector or a matrix of floats"):
        T.nnet.softmax(argument)


def test_softmax_with_bias():
    y = T.nnet.softmax_with_bias(T.dmatrix("x"), T.dvector("b"))
    b = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(evaluate(y, x=POINTS, b=b), np_softmax(POINTS + b))


def test_categorical_crossentropy_of_class_numbers_and_of_distributions():
    x, y, t = T.dmatrix("x"), T.ivector("y"), T.dmatrix("t")
    classes = np.array([0, 2, 1], dtype="int32")
    expected = -np.log(np_softmax(POINTS))[np.arange(3), classes]
    p = T.nnet.softmax(x)
    by_number = evaluate(T.nnet.categorical_crossentropy(p, y), x=POINTS, y=classes)
    by_distribution = evaluate(
        T.nnet.categorical_crossentropy(p, t), x=POINTS, t=np.eye(3)[classes]
    )
    np.testing.assert_allclose(by_number, expected, rtol=1e-9)
    np.testing.assert_allclose(by_distribution, expected, rtol=1e-9)


def test_categorical_crossentropy_is_exact_where_a_probability_vanishes():
    x, y = T.dmatrix("x"), T.ivector("y")
    cost = T.nnet.categorical_crossentropy(T.nnet.softmax(x), y).sum()
    value, gradient = theano.function([x, y], [cost, theano.grad(cost, x)])(
        np.array([[1000.0, 0.0]]), np.array([1], dtype="int32")
    )
    assert value == 1000
    np.testing.assert_allclose(gradient, [[1.0, -1.0]])


def test_categorical_crossentropy_refuses_other_ranks():
    with pytest.raises(TypeError, match="as many dimensions"):
        T.nnet.categorical_crossentropy(T.dmatrix(), T.dtensor3())
    with pytest.raises(TypeError, match="vector of integers"):
        T.nnet.categorical_crossentropy(T.dmatrix(), T.dvector())


def test_binary_crossentropy():
    p, t = RNG.uniform(0.1, 0.9, size=(2, 3)), RNG.uniform(size=(2, 3))
    value = evaluate(T.nnet.binary_crossentropy(T.dmatrix("p"), T.dmatrix("t")), p=p, t=t)
    np.testing.assert_allclose(value, -(t * np.log(p) + (1 - t) * np.log(1 - p)))
    check_gradient(lambda x: T.nnet.binary_crossentropy(x, t), p)


def test_sigmoid_binary_crossentropy_and_its_gradient_at_zero():
    x, t = T.dvector("x"), T.dvector("t")
    cost = nnet.sigmoid_binary_crossentropy(x, t)
    at, target = np.array([0.0, 800.0, -800.0, 800.0]), np.array([1.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(evaluate(cost, x=at, t=target), [np.log(2), 0, 0, 800])
    gradient = theano.grad(cost.sum(), x)
    np.testing.assert_allclose(evaluate(gradient, x=at, t=target), [-0.5, 0, 0, 1], atol=1e-12)


def test_crossentropy_softmax_1hot_family():
    x, b, y = T.dmatrix("x"), T.dvector("b"), T.ivector("y")
    outputs = nnet.crossentropy_softmax_max_and_argmax_1hot_with_bias(x, b, y)
    bias, classes = np.array([0.5, -1.0, 2.0]), np.array([0, 2, 1], dtype="int32")
    cost, probability, greatest, which = compiled([x, b, y], outputs)(POINTS, bias, classes)
    expected = np_softmax(POINTS + bias)
    np.testing.assert_allclose(cost, -np.log(expected[np.arange(3), classes]), rtol=1e-9)
    np.testing.assert_allclose(probability, expected)
    np.testing.assert_allclose(greatest, expected.max(1))
    np.testing.assert_array_equal(which, expected.argmax(1))


def test_confusion_matrix():
    actual, predicted = T.lvector("a"), T.lvector("p")
    counts, order = compiled([actual, predicted], nnet.confusion_matrix(actual, predicted))(
        [2, 0, 2, 2, 0, 5], [0, 0, 2, 2, 0, 2]
    )
    np.testing.assert_array_equal(order, [0, 2, 5])
    np.testing.assert_array_equal(counts, [[2, 0, 0], [1, 2, 0], [0, 1, 0]])


def test_h_softmax_agrees_for_all_outputs_and_for_a_target():
    batch, features, classes, per_class, outputs = 3, 4, 2, 3, 5
    x = RNG.normal(size=(batch, features))
    w1, b1 = RNG.normal(size=(features, classes)), RNG.normal(size=classes)
    w2, b2 = RNG.normal(size=(classes, features, per_class)), RNG.normal(size=(classes, per_class))
    within = np_softmax(np.einsum("bd,cdo->bco", x, w2) + b2)
    expected = (np_softmax(x @ w1 + b1)[:, :, None] * within).reshape(batch, -1)
    sizes = (batch, outputs, classes, per_class)
    everything = value_of(T.nnet.h_softmax(x, *sizes, w1, b1, w2, b2))
    np.testing.assert_allclose(everything, expected[:, :outputs])
    target = np.array([4, 0, 3])
    chosen = value_of(T.nnet.h_softmax(x, *sizes, w1, b1, w2, b2, target))
    np.testing.assert_allclose(chosen, expected[np.arange(batch), target])


@pytest.mark.parametrize("axes", ["per-activation", "spatial", (1, 2)])
@pytest.mark.parametrize("keep_axes", [False, True])
def test_batch_normalization_train(axes, keep_axes):
    x = RNG.normal(size=(4, 3, 2, 5))
    numbers = {"per-activation": (0,), "spatial": (0, 2, 3)}.get(axes, axes)
    shape = [1 if axis in numbers else n for axis, n in enumerate(x.shape)]
    wanted = shape if keep_axes else [n for axis, n in enumerate(x.shape) if axis not in numbers]
    gamma, beta, old_mean, old_var = RNG.uniform(0.5, 2, size=(4, *wanted))
    outputs = bn.batch_normalization_train(
        x, gamma, beta, axes, 1e-3, 0.2, running_mean=old_mean, running_var=old_var
    )
    out, mean, invstd, new_mean, new_var = compiled([], outputs)()
    m, v = x.mean(numbers, keepdims=True), x.var(numbers, keepdims=True)
    expected = (x - m) / np.sqrt(v + 1e-3) * gamma.reshape(shape) + beta.reshape(shape)
    count = x.size // m.size
    np.testing.assert_allclose(out, expected)
    np.testing.assert_allclose(mean, m.reshape(wanted), atol=1e-12)
    np.testing.assert_allclose(invstd, (1 / np.sqrt(v + 1e-3)).reshape(wanted))
    np.testing.assert_allclose(new_mean, 0.8 * old_mean + 0.2 * m.reshape(wanted))
    unbiased = v.reshape(wanted) * count / (count - 1)
    np.testing.assert_allclose(new_var, 0.8 * old_var + 0.2 * unbiased)


def test_gradients_of_batch_normalization():
    """The gradient is one operator; what uses the statistics, too, is derived through them."""
    values = [RNG.normal(size=(4, 3, 2)), RNG.uniform(0.5, 2, size=3), RNG.normal(size=3)]

    def normalised(x, gamma, beta):
        return bn.batch_normalization_train(x, gamma, beta, "spatial")[0] ** 2

    def statistics(x, gamma, beta):
        out, mean, invstd = bn.batch_normalization_train(x, gamma, beta, "spatial")
        return out.sum() + (mean * invstd**2).sum()

    def gradient(x, gamma, beta):
        return theano.grad(normalised(x, gamma, beta).sum(), x)

    for function in (normalised, statistics, gradient):
        theano.gradient.verify_grad(function, values, rng=np.random.RandomState(0))
    x, gamma, beta = T.tensor3(), T.vector(), T.vector()
    found = theano.grad(normalised(x, gamma, beta).sum(), x).owner.op
    assert isinstance(found, bn.AbstractBatchNormTrainGrad)


def test_batch_normalization_test_and_plain():
    x, gamma, beta, mean = RNG.normal(size=(4, 3)), *RNG.normal(size=(3, 3))
    var = RNG.uniform(1, 2, size=3)
    expected = (x - mean) * gamma / np.sqrt(var + 1e-4) + beta
    np.testing.assert_allclose(
        value_of(bn.batch_normalization_test(x, gamma, beta, mean, var)), expected
    )
    plain = T.nnet.batch_normalization(T.constant(x), gamma, beta, mean, np.sqrt(var + 1e-4))
    np.testing.assert_allclose(value_of(plain), expected)


def test_batch_normalization_refuses_bad_arguments():
    x, one, two = T.dmatrix(), T.dvector(), T.dmatrix()
    with pytest.raises(ValueError, match="epsilon must be at least 1e-5"):
        bn.batch_normalization_train(x, one, one, epsilon=1e-6)
    with pytest.raises(ValueError, match="given together"):
        bn.batch_normalization_train(x, one, one, running_mean=one)
    with pytest.raises(ValueError, match="to have 1 dimensions, or all 2"):
        bn.batch_normalization_test(x, one, one, one, two)
    with pytest.raises(ValueError, match="expected axes"):
        bn.batch_normalization_train(x, one, one, axes="all")


def test_relu_of_an_array_is_an_array():
    y = T.nnet.relu(POINTS)
    assert isinstance(y, np.ndarray)
    np.testing.assert_array_equal(y, np.maximum(POINTS, 0))
    assert T.nnet.relu(-2.0) == 0


def test_cost_of_a_class_that_was_chosen_by_its_probabilities():
    """The place of the class comes from the softmax, which the cost's operator cannot compute then."""
    x, u = T.matrix("x"), T.vector("u")
    p = T.nnet.softmax(x)
    chosen = (p.cumsum(axis=1) < u[:, None]).sum(axis=1)
    log_p = T.log(p)[T.arange(x.shape[0]), chosen]
    values, places = np.array([[0.0, 1.0, -1.0], [2.0, 0.5, 1.0]]), np.array([0.3, 0.9])
    shares = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    expected = (shares.cumsum(axis=1) < places[:, None]).sum(axis=1)
    gradient = -shares
    gradient[[0, 1], expected] += 1
    f = theano.function([x, u], [chosen, log_p, theano.grad(log_p.sum(), x)])
    for found, right in zip(
        f(values, places),
        [expected, np.log(shares[[0, 1], expected]), gradient],
        strict=True,
    ):
        np.testing.assert_allclose(found, right)
