"""Operators of devices that programs apply by Theano's names, over those of the host."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.gpuarray import blas, dnn, linalg, neighbours, nnet, pool

IMAGES = np.random.default_rng(0).standard_normal((2, 3, 6, 5))
VOLUMES = np.random.default_rng(1).standard_normal((2, 3, 4, 4, 3))
ROWS = np.random.default_rng(2).standard_normal((4, 4))


def value(variable):
    return theano.function([], variable, mode="FAST_COMPILE")()


def windows_of(images, size):
    """All windows a step of 1 apart, of images without a border."""
    axes = tuple(range(2, images.ndim))
    return np.lib.stride_tricks.sliding_window_view(images, size, axes)


@pytest.mark.parametrize("images", [IMAGES, VOLUMES])
@pytest.mark.parametrize("mode", ["max", "max_deterministic", "average", "average_exc_pad"])
def test_pooling(images, mode):
    size = (2, 3, 2)[: images.ndim - 2]
    ones, zeros = (1,) * len(size), (0,) * len(size)
    pooled = value(dnn.GpuDnnPool(mode)(images, size, ones, zeros))
    take = np.max if mode.startswith("max") else np.mean
    np.testing.assert_allclose(
        pooled, take(windows_of(images, size), axis=tuple(range(-len(size), 0))), rtol=1e-12
    )
    weights = np.random.default_rng(3).standard_normal(pooled.shape)

    def cost(x):
        return (take(windows_of(x, size), axis=tuple(range(-len(size), 0))) * weights).sum()

    gradient = dnn.GpuDnnPoolGrad(mode)(images, pooled, weights, size, ones, zeros)
    assert_slope(cost, images, value(gradient))


def assert_slope(cost, x, gradient):
    """A gradient is that of finite differences, along a random direction."""
    along = np.random.default_rng(4).standard_normal(x.shape)
    slope = (cost(x + 1e-6 * along) - cost(x - 1e-6 * along)) / 2e-6
    np.testing.assert_allclose((gradient * along).sum(), slope, rtol=1e-6)


def normalised(x, axes, logarithm):
    exponentials = np.exp(x)
    result = exponentials / exponentials.sum(axes, keepdims=True)
    return np.log(result) if logarithm else result


@pytest.mark.parametrize(("mode", "axes"), [("channel", (1,)), ("instance", (1, 2, 3))])
@pytest.mark.parametrize("algo", ["fast", "accurate", "log"])
def test_softmax(algo, mode, axes):
    x, weights = T.dtensor4(), np.random.default_rng(5).standard_normal(IMAGES.shape)
    result = dnn.GpuDnnSoftmax(algo, mode)(x)
    by_operator = dnn.GpuDnnSoftmaxGrad(algo, mode)(weights, result)
    by_grad = theano.grad((result * weights).sum(), x)
    outputs = theano.function([x], [result, by_operator, by_grad])(IMAGES)

    def expected(images):
        return normalised(images, axes, algo == "log")

    np.testing.assert_allclose(outputs[0], expected(IMAGES), rtol=1e-9)
    np.testing.assert_allclose(outputs[1], outputs[2], rtol=1e-9, atol=1e-12)
    assert_slope(lambda images: (expected(images) * weights).sum(), IMAGES, outputs[1])


@pytest.mark.parametrize(("mode", "axes"), [("per-activation", (0,)), ("spatial", (0, 2, 3))])
def test_batch_normalisation(mode, axes):
    count = [1 if axis in axes else length for axis, length in enumerate(IMAGES.shape)]
    scale, bias, mean, var = (np.full(count, float(number)) for number in (2, 3, 5, 7))
    x, dy = T.dtensor4(), np.random.default_rng(6).standard_normal(IMAGES.shape)
    results = dnn.GpuDnnBatchNorm(mode)(x, scale, bias, epsilon=1e-3)
    gradients = dnn.GpuDnnBatchNormGrad(mode)(x, dy, scale, *results[1:])
    with_averages = dnn.GpuDnnBatchNorm(mode, running_averages=True)
    averages = with_averages(x, scale, bias, 1e-3, 0.25, mean, var)[3:]
    known = dnn.GpuDnnBatchNormInference(mode)(x, scale, bias, mean, var, epsilon=1e-3)
    found = theano.function([x], [*results, *gradients, *averages, known])(IMAGES)

    def out_of(images):
        middle, spread = images.mean(axes, keepdims=True), images.var(axes, keepdims=True)
        return (images - middle) / np.sqrt(spread + 1e-3) * scale + bias

    number = np.prod([IMAGES.shape[axis] for axis in axes])
    variance = IMAGES.var(axes, keepdims=True)
    expected = [
        out_of(IMAGES),
        IMAGES.mean(axes, keepdims=True),
        1 / np.sqrt(variance + 1e-3),
        None,
        (dy * (out_of(IMAGES) - bias) / scale).sum(axes, keepdims=True),
        dy.sum(axes, keepdims=True),
        0.75 * mean + 0.25 * IMAGES.mean(axes, keepdims=True),
        0.75 * var + 0.25 * variance * number / (number - 1),
        (IMAGES - mean) / np.sqrt(var + 1e-3) * scale + bias,
    ]
    for ours, theirs in zip(found, expected, strict=True):
        if theirs is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert_slope(lambda images: (out_of(images) * dy).sum(), IMAGES, found[3])


def test_correlations_of_devices_are_the_hosts():
    filters = np.random.default_rng(7).standard_normal((4, 3, 2, 2))
    correlated = blas.GpuCorrMM((1, 0), (2, 1))(IMAGES, filters)
    flipped = T.nnet.conv2d(
        IMAGES, filters, border_mode=(1, 0), subsample=(2, 1), filter_flip=False
    )
    np.testing.assert_allclose(value(correlated), value(flipped), rtol=1e-12)
    assert blas.GpuCorr3dMM().rank == 3 and isinstance(T.nnet.corr.CorrMM(), blas.GpuCorrMM)


def test_products_of_devices_are_the_hosts():
    x, y = ROWS, ROWS[0]
    product = blas.gpugemv_no_inplace(y, 2.0, x, y, 3.0)
    np.testing.assert_allclose(value(product), 3 * y + 2 * x @ y, rtol=1e-12)
    product = blas.gpugemm_no_inplace(x, np.float64(2), x, x, np.float64(3))
    np.testing.assert_allclose(value(product), 3 * x + 2 * x @ x, rtol=1e-12)
    np.testing.assert_allclose(value(blas.gpu_dot22(x, x)), x @ x, rtol=1e-12)
    product = blas.gpuger_no_inplace(x, np.float64(2), y, y)
    np.testing.assert_allclose(value(product), x + 2 * np.outer(y, y), rtol=1e-12)


def test_pooling_operators_of_devices_are_the_hosts():
    assert pool.GpuMaxPoolGrad(True, "max", 3) == T.signal.pool.MaxPoolGrad(True, 3)
    assert isinstance(T.signal.pool.MaxPoolGrad(True), pool.GpuMaxPoolGrad)
    assert pool.GpuDownsampleFactorMaxGradGrad(True, "max", 3).ndim == 3
    with pytest.raises(AssertionError, match="expected mode 'max', got 'sum'"):
        pool.GpuMaxPoolGrad(True, "sum")
    pooled = pool.GpuPool(True, "sum", 2)(IMAGES, (2, 2), (1, 1))
    np.testing.assert_allclose(value(pooled), windows_of(IMAGES, (2, 2)).sum((-2, -1)), rtol=1e-12)
    # the error of the host's operator, and that of devices
    for kind in (NotImplementedError, ValueError):
        with pytest.raises(kind, match="padding must be smaller than the windows"):
            pool.GpuPool(True)(IMAGES, (2, 2), pad=(2, 2))


def test_softmax_and_windows_of_devices_are_the_hosts():
    rows = value(nnet.gpu_softmax(ROWS))
    np.testing.assert_allclose(rows, normalised(ROWS, 1, False), rtol=1e-12)
    rows = value(nnet.gpu_softmax_with_bias(ROWS, ROWS[0]))
    np.testing.assert_allclose(rows, normalised(ROWS + ROWS[0], 1, False), rtol=1e-12)
    parts = value(neighbours.GpuImages2Neibs()(IMAGES, (2, 5), (2, 5)))
    np.testing.assert_array_equal(parts, IMAGES.reshape(2 * 3 * 3, 10))


@pytest.mark.parametrize("trans", ["N", "T"])
@pytest.mark.parametrize("b", [ROWS[0], ROWS[:, :3]], ids=["vector", "matrix"])
def test_systems_of_equations(trans, b):
    symmetric = ROWS @ ROWS.T + np.eye(4)
    for structure, matrix in [
        ("general", ROWS),
        ("symmetric", symmetric),
        ("lower", np.tril(ROWS)),
        ("upper", np.triu(ROWS)),
    ]:
        # of a triangular matrix the other half is not read
        given = ROWS if structure in ("lower", "upper") else matrix
        found = value(linalg.gpu_solve(given, b, structure, trans))
        expected = np.linalg.solve(matrix if trans == "N" else matrix.T, b)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_factors_of_matrices():
    definite = ROWS @ ROWS.T + np.eye(4)
    np.testing.assert_allclose(value(linalg.gpu_cholesky(definite)), np.linalg.cholesky(definite))
    upper = value(linalg.gpu_cholesky(definite, lower=False))
    np.testing.assert_allclose(upper, np.linalg.cholesky(definite).T)
    q, r = map(value, linalg.gpu_qr(ROWS))
    np.testing.assert_allclose(q @ r, ROWS)
    np.testing.assert_allclose(value(linalg.gpu_qr(ROWS, complete=False)), r)
    u, s, v = map(value, linalg.gpu_svd(ROWS))
    np.testing.assert_allclose(u @ np.diag(s) @ v, ROWS)
    np.testing.assert_allclose(value(linalg.gpu_svd(ROWS, compute_uv=False)), s)
    np.testing.assert_allclose(value(linalg.gpu_matrix_inverse(definite)), np.linalg.inv(definite))


@pytest.mark.parametrize(
    ("kind", "message", "make"),
    [
        (AssertionError, "expected a mode of", lambda: dnn.GpuDnnPool("least")),
        (AssertionError, "expected algo", lambda: dnn.GpuDnnSoftmax("slow", "channel")),
        (AssertionError, "expected mode", lambda: dnn.GpuDnnSoftmax("log", "rows")),
        (AssertionError, "4 dimensions", lambda: dnn.GpuDnnSoftmax("log", "channel")(ROWS)),
        (AssertionError, "'per-activation' or 'spatial'", lambda: dnn.GpuDnnBatchNorm("all")),
        (
            AssertionError,
            "running_averages=True, but",
            lambda: dnn.GpuDnnBatchNorm("spatial", True)(IMAGES, 1.0, 0.0),
        ),
        (ValueError, "expected A_structure", lambda: linalg.gpu_solve(ROWS, ROWS, "banded")),
        (ValueError, "expected trans", lambda: linalg.gpu_solve(ROWS, ROWS, trans="X")),
    ],
)
def test_wrong_arguments(kind, message, make):
    with pytest.raises(kind, match=message):
        make()
