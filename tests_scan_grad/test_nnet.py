"""Activations, losses, normalisation, convolution and pooling, against NumPy."""

import functools
import itertools

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.nnet import abstract_conv, bn, nnet
from theano.tensor.signal import downsample
from theano.tensor.signal.pool import Pool, pool_2d, pool_3d

RNG = np.random.default_rng(7)

# Graphs are small and each is run once, so compiling is what takes the time.
compiled = functools.partial(theano.function, mode="FAST_COMPILE")
POINTS = np.array([[-40.0, -3.0, -0.5], [0.0, 0.25, 1.0], [2.0, 6.5, 40.0]])


def evaluate(output, **values):
    """Compute `output` for variables that the keywords name."""
    variables = [v for v in theano.gof.graph.inputs([output]) if v.name in values]
    return compiled(variables, output)(*(values[v.name] for v in variables))


def value_of(output):
    """Compute an output that depends on no variable."""
    return compiled([], output)()


def check_gradient(function, *values):
    rng = np.random.default_rng(3)
    T.verify_grad(function, list(values), 1, rng, abs_tol=1e-5, rel_tol=1e-5, mode="FAST_COMPILE")


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


def np_convolve(x, w, border, stride, flip, dilation):
    """Convolve by the definition: one window at a time."""
    extents = [(n - 1) * d + 1 for n, d in zip(w.shape[2:], dilation, strict=True)]
    named = {"valid": lambda n: 0, "full": lambda n: n - 1, "half": lambda n: n // 2}
    pads = [
        (named[border](n),) * 2 if isinstance(border, str) else border[axis]
        for axis, n in enumerate(extents)
    ]
    pads = [pad if isinstance(pad, tuple) else (pad, pad) for pad in pads]
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    if flip:
        w = w[(slice(None), slice(None), *[slice(None, None, -1)] * len(stride))]
    counts = [(n - e) // s + 1 for n, e, s in zip(x.shape[2:], extents, stride, strict=True)]
    out = np.zeros((x.shape[0], w.shape[0], *counts))
    for where in itertools.product(*map(range, counts)):
        window = x[
            (
                slice(None),
                slice(None),
                *(
                    slice(i * s, i * s + e, d)
                    for i, s, e, d in zip(where, stride, extents, dilation, strict=True)
                ),
            )
        ]
        out[(slice(None), slice(None), *where)] = np.tensordot(
            window, w, [range(1, w.ndim), range(1, w.ndim)]
        )
    return out


CONVOLUTIONS = [
    ("valid", (1, 1), True, (1, 1)),
    ("full", (1, 1), True, (1, 1)),
    ("half", (2, 1), False, (1, 1)),
    ((1, 2), (2, 3), True, (1, 1)),
    (((1, 0), (0, 2)), (1, 1), False, (2, 1)),
    ("valid", (1, 2), True, (1, 2)),
]


@pytest.mark.parametrize("border, stride, flip, dilation", CONVOLUTIONS)
def test_conv2d_and_its_gradients(border, stride, flip, dilation):
    x, w = RNG.normal(size=(2, 3, 6, 7)), RNG.normal(size=(4, 3, 3, 2))
    options = {
        "border_mode": border,
        "subsample": stride,
        "filter_flip": flip,
        "filter_dilation": dilation,
    }
    image, filters = T.dtensor4("x"), T.dtensor4("w")
    result = T.nnet.conv2d(image, filters, **options)
    expected = np_convolve(x, w, border, stride, flip, dilation)
    np.testing.assert_allclose(evaluate(result, x=x, w=w), expected, atol=1e-12)
    assert expected.shape == abstract_conv.get_conv_output_shape(
        x.shape, w.shape, border, stride, dilation
    )
    check_gradient(lambda x, w: T.nnet.conv2d(x, w, **options), x, w)
    g = RNG.normal(size=expected.shape)
    gradients = theano.grad((result * g).sum(), [image, filters])
    at_inputs, at_weights = compiled([image, filters], gradients)(x, w)
    np.testing.assert_allclose(
        value_of(abstract_conv.conv2d_grad_wrt_inputs(g, w, x.shape, **options)), at_inputs
    )
    np.testing.assert_allclose(
        value_of(abstract_conv.conv2d_grad_wrt_weights(x, g, w.shape, **options)), at_weights
    )


def test_conv2d_of_groups():
    x, w = RNG.normal(size=(2, 4, 5, 5)), RNG.normal(size=(6, 2, 3, 3))
    result = value_of(T.nnet.conv2d(x, w, num_groups=2))
    plain = ((1, 1), True, (1, 1))
    halves = [
        np_convolve(x[:, :2], w[:3], "valid", *plain),
        np_convolve(x[:, 2:], w[3:], "valid", *plain),
    ]
    np.testing.assert_allclose(result, np.concatenate(halves, axis=1))


def test_conv2d_transpose_undoes_the_shape():
    w, y = RNG.normal(size=(4, 3, 3, 3)), RNG.normal(size=(2, 4, 3, 3))
    shape = (2, 3, 7, 7)
    result = value_of(T.nnet.conv2d_transpose(y, w, shape, input_dilation=(2, 2)))
    by_gradient = value_of(abstract_conv.AbstractConv2d_gradInputs(subsample=(2, 2))(w, y, (7, 7)))
    assert result.shape == shape
    np.testing.assert_allclose(result, by_gradient)


def test_conv3d():
    x, w = RNG.normal(size=(1, 2, 4, 5, 3)), RNG.normal(size=(3, 2, 2, 3, 2))
    result = value_of(T.nnet.conv3d(x, w, border_mode="half", subsample=(1, 2, 1)))
    expected = np_convolve(x, w, "half", (1, 2, 1), True, (1, 1, 1))
    np.testing.assert_allclose(result, expected, atol=1e-12)


def test_conv2d_says_what_is_wrong():
    with pytest.raises(TypeError, match="AbstractConv2d: expected img of 4 dimensions"):
        T.nnet.conv2d(T.dtensor3(), T.dtensor4())
    with pytest.raises(ValueError, match="invalid border_mode 'same'"):
        T.nnet.conv2d(T.dtensor4(), T.dtensor4(), border_mode="same")
    with pytest.raises(ValueError, match="expected 1 in dimension 1 of image, got 2"):
        value_of(T.nnet.conv2d(np.ones((1, 2, 3, 3)), np.ones((1, 1, 2, 2))))


def np_pool(x, ws, ignore_border, stride, pad, mode):
    """Pool the last two dimensions by the definition."""
    h, w = x.shape[-2:]
    shape = Pool.out_shape(x.shape, ws, ignore_border, stride, pad)
    out = np.zeros(shape)
    for i, j in itertools.product(*map(range, shape[-2:])):
        spans = []
        for at, size, step, around, length in zip((i, j), ws, stride, pad, (h, w), strict=True):
            start, stop = at * step - around, at * step - around + size
            spans.append((max(start, 0), min(stop, length), min(stop, length + around) - start))
        (top, bottom, rows), (left, right, columns) = spans
        window = x[..., top:bottom, left:right].reshape(*x.shape[:-2], -1)
        out[..., i, j] = {
            "max": lambda v: v.max(-1),
            "sum": lambda v: v.sum(-1),
            "average_exc_pad": lambda v: v.mean(-1),
            "average_inc_pad": lambda v, n=rows * columns: v.sum(-1) / n,
        }[mode](window)
    return out


@pytest.mark.parametrize("mode", ["max", "sum", "average_inc_pad", "average_exc_pad"])
@pytest.mark.parametrize(
    "ws, ignore_border, stride, pad, shape",
    [
        ((2, 2), True, (2, 2), (0, 0), (3, 3)),
        ((2, 3), False, (2, 3), (0, 0), (4, 3)),
        ((3, 2), False, (2, 1), (0, 0), (3, 6)),
        ((3, 3), True, (2, 2), (1, 2), (4, 5)),
        ((2, 2), False, (3, 3), (0, 0), (3, 3)),
    ],
)
def test_pool_2d_and_its_gradient(mode, ws, ignore_border, stride, pad, shape):
    x = RNG.permutation(2 * 3 * 7 * 7).reshape(2, 3, 7, 7) / 10.0
    arguments = {
        "ws": ws,
        "ignore_border": ignore_border,
        "stride": stride,
        "pad": pad,
        "mode": mode,
    }
    assert tuple(Pool.out_shape(x.shape, ws, ignore_border, stride, pad)) == (2, 3, *shape)
    result = evaluate(pool_2d(T.dtensor4("x"), **arguments), x=x)
    np.testing.assert_allclose(result, np_pool(x, ws, ignore_border, stride, pad, mode))
    check_gradient(lambda x: pool_2d(x, **arguments), x[:1, :1])


def test_pool_3d_and_the_older_names():
    x = RNG.normal(size=(2, 4, 6, 4))
    blocks = x.reshape(2, 2, 2, 3, 2, 2, 2).max((2, 4, 6))
    np.testing.assert_allclose(value_of(pool_3d(x, (2, 2, 2), ignore_border=True)), blocks)
    old = downsample.max_pool_2d(x, ds=(2, 2), ignore_border=True, st=(2, 2), padding=(0, 0))
    np.testing.assert_allclose(value_of(old), x.reshape(2, 4, 3, 2, 2, 2).max((3, 5)))


def test_pool_2d_says_what_is_wrong():
    x = T.dmatrix("x")
    with pytest.raises(ValueError, match="expected a mode"):
        pool_2d(x, (2, 2), ignore_border=True, mode="median")
    with pytest.raises(NotImplementedError, match="ignore_border=True"):
        pool_2d(x, (2, 2), ignore_border=False, pad=(1, 1))
    with pytest.warns(UserWarning, match="ignore_border is not given"):
        pool_2d(x, (2, 2))


def test_older_conv2d_takes_constants_and_checks_shapes_when_it_runs():
    image, filters = np.ones((2, 3, 6, 5)), np.ones((4, 3, 2, 2))
    x, w = T.dtensor4(), T.dtensor4()
    result = T.nnet.conv.conv2d(x, w, (2, 3, T.constant(6), None), T.constant([4, 3, 2, 2]))
    f = theano.function([x, w], result)
    np.testing.assert_allclose(f(image, filters), np.full((2, 4, 5, 4), 12.0))
    with pytest.raises(ValueError, match="expected input of length 6 in dimension 2"):
        f(image[:, :, :5], filters)
    with pytest.raises(AssertionError, match="image_shape has 3 channels, filter_shape 2"):
        T.nnet.conv.conv2d(x, w, (2, 3, 6, 5), (4, 2, 2, 2))
    with pytest.warns(UserWarning, match="unroll_patch told Theano's C loops"):
        T.nnet.conv.conv2d(x, w, unroll_patch=True)


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
