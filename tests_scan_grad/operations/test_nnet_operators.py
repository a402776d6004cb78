"""Theano's operators on rows and on windows of images, and rewrites that a user asks for."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import loops, products
from theano.tensor.nnet import neighbours
from theano.tensor.signal import conv

# Graphs are small and each is run once, so compiling is what takes the time.
compiled = functools.partial(theano.function, mode="FAST_COMPILE")

RNG = np.random.default_rng(3)
SCORES = RNG.normal(size=(4, 3))
CLASSES = np.array([0, 2, 1, 2])


def test_a_class_of_probability_zero_elsewhere_leaves_the_gradient_finite():
    p, y = T.dmatrix("p"), T.lvector("y")
    cost = T.nnet.categorical_crossentropy(p, y).sum()
    f = theano.function([p, y], theano.grad(cost, p))
    assert_allclose(f([[0.25, 0.75, 0.0]], [1]), [[0, -1 / 0.75, 0]])


def test_costs_and_their_gradient_by_operators():
    x, b, y = T.dmatrix("x"), T.dvector("b"), T.lvector("y")
    cost, softmax, best = T.nnet.CrossentropySoftmaxArgmax1HotWithBias()(x, b, y)
    slope = T.nnet.crossentropy_softmax_1hot_with_bias_dx(T.ones_like(cost), softmax, y)
    f = theano.function([x, b, y], [cost, softmax, best, slope, theano.grad(cost.sum(), x)])
    bias = np.array([0.5, -1.0, 0.0])
    cost, softmax, best, slope, derivative = f(SCORES, bias, CLASSES)
    weights = np.exp(SCORES + bias)
    assert_allclose(softmax, weights / weights.sum(1, keepdims=True))
    assert_allclose(cost, -np.log(softmax[range(4), CLASSES]))
    assert_array_equal(best, softmax.argmax(1))
    assert_allclose(slope, softmax - np.eye(3)[CLASSES])
    assert_allclose(derivative, slope)
    with pytest.raises(ValueError, match="negative"):
        f(SCORES, bias, -CLASSES)


def test_softmax_as_an_operator():
    x = T.dmatrix("x")
    f = theano.function([x], T.nnet.softmax(x))
    (node,) = f.maker.fgraph.toposort()
    assert node.op == T.nnet.softmax_op and isinstance(node.op, T.nnet.Softmax)
    assert not isinstance(node.op, T.nnet.LogSoftmax)
    vector = theano.function([], T.nnet.softmax_op(T.constant([0.0, 0.0])))()
    assert_array_equal(vector, [[0.5, 0.5]])


@pytest.mark.parametrize("name", ["local_hard_sigmoid", "local_ultra_fast_sigmoid"])
def test_approximations_of_sigmoid_are_asked_for_by_name(name):
    x = T.dvector("x")
    approximation = getattr(T.nnet, name.removeprefix("local_"))
    mode = theano.compile.get_default_mode().including(name)
    points = np.linspace(-5, 5, 9)
    asked = theano.function([x], T.nnet.sigmoid(x), mode=mode)(points)
    assert_allclose(asked, theano.function([x], approximation(x))(points))
    assert_allclose(theano.function([x], T.nnet.sigmoid(x))(points), 1 / (1 + np.exp(-points)))


IMAGES = np.arange(2 * 3 * 6 * 5.0).reshape((2, 3, 6, 5))


@pytest.mark.parametrize("step", [(1, 1), (3, 2)])
@pytest.mark.parametrize(
    ("mode", "pad"),
    [
        ("valid", lambda x: x),
        ("half", lambda x: np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])),
        ("full", lambda x: np.pad(x, [(0, 0), (0, 0), (2, 2), (2, 2)])),
        ("wrap_centered", lambda x: np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], mode="wrap")),
        ("ignore_borders", lambda x: x),
    ],
)
def test_windows_of_images(mode, pad, step):
    x = T.dtensor4("x")
    rows = neighbours.images2neibs(x, (3, 3), step, mode=mode)
    f = compiled([x], [rows, theano.grad((rows**2).sum(), x)])
    padded = pad(IMAGES)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    windows = windows[:, :, :: step[0], :: step[1]].reshape((-1, 9))
    if mode in ("valid", "half", "full") and (padded.shape[2] - 3) % step[0]:
        with pytest.raises(TypeError, match="not consistent"):
            f(IMAGES)
        return
    values, slopes = f(IMAGES)
    assert_array_equal(values, windows)
    # Each element counts as often as it is in a window.
    places = np.lib.stride_tricks.sliding_window_view(
        pad(np.arange(IMAGES.size).reshape(IMAGES.shape)), (3, 3), axis=(2, 3)
    )[:, :, :: step[0], :: step[1]]
    counts = np.bincount(places.ravel()[windows.ravel() != 0], minlength=IMAGES.size)
    assert_allclose(slopes, 2 * IMAGES * counts.reshape(IMAGES.shape))


def test_windows_put_together_again():
    x = T.dtensor4("x")
    for mode, kept in (("ignore_borders", (6, 4)), ("valid", (6, 5))):
        shape = (3, 2) if mode == "ignore_borders" else (3, 5)
        rows = neighbours.images2neibs(x, shape, mode=mode)
        again = compiled([x], neighbours.neibs2images(rows, shape, x.shape, mode=mode))
        expected = np.zeros_like(IMAGES)
        expected[:, :, : kept[0], : kept[1]] = IMAGES[:, :, : kept[0], : kept[1]]
        assert_array_equal(again(IMAGES), expected)
    with pytest.raises(NotImplementedError, match="wrap"):
        neighbours.images2neibs(x, (2, 2), mode="wrap")


def test_convolution_of_images_without_channels():
    image, images = T.dmatrix("image"), T.dtensor3("images")
    kernel, kernels = T.dmatrix("kernel"), T.dtensor3("kernels")
    x, w = RNG.normal(size=(2, 4, 5)), RNG.normal(size=(3, 2, 2))
    inputs = [image, images, kernel, kernels]
    pairs = [(image, kernel), (images, kernel), (image, kernels), (images, kernels)]
    single, batch, several, both = compiled(inputs, [conv.conv2d(*pair) for pair in pairs])(
        x[1], x, w[2], w
    )
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(1, 2))
    expected = np.einsum("brckl,fkl->bfrc", windows, w[:, ::-1, ::-1])
    assert_allclose(both, expected)
    assert_allclose(batch, expected[:, 2])
    assert_allclose(several, expected[1])
    assert_allclose(single, expected[1, 2])
    with pytest.raises(TypeError, match="filters"):
        conv.conv2d(image, T.dvector())


def cost_of_classes(x, y, b=0):
    return -T.mean(T.log(T.nnet.softmax(x + b))[T.arange(y.shape[0]), y])


def test_the_cost_and_its_gradient_share_one_softmax():
    x, b, y = T.dmatrix("x"), T.dvector("b"), T.lvector("y")
    cost = cost_of_classes(x, y, b)
    f = theano.function([x, b, y], [cost, *theano.grad(cost, [x, b])])
    operators = [node.op for node in f.maker.fgraph.toposort()]
    assert T.nnet.crossentropy_softmax_argmax_1hot_with_bias in operators
    assert T.nnet.crossentropy_softmax_1hot_with_bias_dx in operators
    assert not {T.nnet.softmax_op, T.nnet.softmax_with_bias}.intersection(operators)
    bias = np.array([0.5, -1.0, 0.0])
    cost, of_scores, of_bias = f(SCORES, bias, CLASSES)
    weights = np.exp(SCORES + bias)
    probabilities = weights / weights.sum(1, keepdims=True)
    expected = (probabilities - np.eye(3)[CLASSES]) / 4
    assert_allclose(cost, -np.log(probabilities[range(4), CLASSES]).mean())
    assert_allclose(of_scores, expected)
    assert_allclose(of_bias, expected.sum(0), atol=1e-15)
    with pytest.raises(ValueError, match="as many class numbers as rows"):
        f(SCORES, bias, CLASSES[:1])


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_crossentropy_is_exact_in_each_mode(mode):
    x, y = T.dmatrix("x"), T.lvector("y")
    cost = T.nnet.crossentropy_categorical_1hot(T.nnet.softmax(x), y).sum()
    f = theano.function([x, y], [cost, theano.grad(cost, x)], mode=mode)
    value, slope = f([[1000.0, 0.0]], [1])
    assert value == 1000
    assert_array_equal(slope, [[1, -1]])


def test_crossentropy_is_exact_in_a_loop():
    x, y = T.dtensor3("x"), T.lmatrix("y")
    costs, _ = theano.scan(
        lambda x, y, before: before + T.nnet.categorical_crossentropy(T.nnet.softmax(x), y).sum(),
        [x, y],
        [np.float64(0)],
    )
    f = theano.function([x, y], [costs[-1], theano.grad(costs[-1], x)])
    value, slope = f([[[1000.0, 0.0]], [[0.0, 1000.0]]], [[1], [1]])
    assert value == 1000
    assert_array_equal(slope, [[[1, -1]], [[0, 0]]])


def of_chosen_probabilities(x, y):
    return -T.log(T.nnet.softmax(x)[T.arange(y.shape[0]), y])


@pytest.mark.parametrize(
    "cost",
    [
        lambda x, y, a: a * cost_of_classes(x, y),
        lambda x, y, a: of_chosen_probabilities(x, y).sum() / a,
        lambda x, y, a: (of_chosen_probabilities(x, y) * T.sqr(y)).mean() * -a,
    ],
)
def test_gradients_are_exact_where_a_probability_vanishes(cost):
    x, y, a = T.dmatrix("x"), T.lvector("y"), T.dscalar("a")
    slope = theano.grad(cost(x, y, a), x)
    f = theano.function([x, y, a], slope)
    operators = [node.op for node in f.maker.fgraph.toposort()]
    assert T.nnet.crossentropy_softmax_1hot_with_bias_dx in operators
    assert np.isfinite(f(SCORES * 1000, CLASSES, 0.5)).all()
    plain = theano.function([x, y, a], slope, mode=theano.Mode("py", None))
    assert_allclose(f(SCORES, CLASSES, 0.5), plain(SCORES, CLASSES, 0.5), atol=1e-12)


def test_the_largest_is_found_before_an_increasing_function():
    x, b = T.dmatrix("x"), T.dvector("b")
    probabilities = T.nnet.softmax_with_bias(T.tanh(x), b)
    f = theano.function([x, b], [T.argmax(probabilities, 1), T.argmax(T.nnet.sigmoid(x), 0)])
    operators = [node.op for node in f.maker.fgraph.toposort()]
    assert T.nnet.softmax_with_bias not in operators and T.nnet.sigmoid not in operators
    by_row, by_column = f(50 + SCORES, np.zeros(3))
    assert_array_equal(by_row, np.tanh(50 + SCORES).argmax(1))
    # the logistic function rounds all of them to 1
    assert_array_equal(by_column, SCORES.argmax(0))
    across = theano.function([x], T.argmax(T.nnet.softmax(x), 0))
    weights = np.exp(SCORES)
    assert_array_equal(across(SCORES), (weights / weights.sum(1, keepdims=True)).argmax(0))


def test_products_below_and_above_a_softmax_leave_the_loop():
    x, h, w = T.dtensor3("x"), T.dmatrix("h"), T.dmatrix("w")
    states, _ = theano.scan(
        lambda x, h, w: T.tanh(h * T.nnet.softmax(T.dot(x, w))), [x], [h], non_sequences=[w]
    )
    f = theano.function([x, h, w], theano.grad(states.sum(), w))
    assert [products(node.op.fgraph) for node in loops(f)] == [0, 0]
