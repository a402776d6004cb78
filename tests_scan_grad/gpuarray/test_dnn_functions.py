"""The functions of `theano.gpuarray.dnn` next to `RNNBlock`."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.gpuarray import dnn

IMAGES = np.random.default_rng(0).standard_normal((2, 3, 6, 5))
FILTERS = np.random.default_rng(1).standard_normal((4, 3, 2, 3))


def value(variable):
    return theano.function([], variable, mode="FAST_COMPILE")()


@pytest.mark.parametrize("conv_mode", ["conv", "cross"])
def test_dnn_conv_is_conv2d(conv_mode):
    ours = dnn.dnn_conv(IMAGES, FILTERS, (1, 2), (2, 1), conv_mode=conv_mode, algo="small")
    flipped = FILTERS[:, :, ::-1, ::-1] if conv_mode == "cross" else FILTERS
    theirs = T.nnet.conv2d(IMAGES, flipped, border_mode=(1, 2), subsample=(2, 1))
    np.testing.assert_allclose(value(ours), value(theirs), rtol=1e-12)


def test_dnn_conv3d_is_conv3d():
    volumes, filters = IMAGES[:, :, None].repeat(3, 2), FILTERS[:, :, None].repeat(2, 2)
    ours = dnn.dnn_conv3d(volumes, filters, dilation=(2, 1, 1))
    theirs = T.nnet.conv3d(volumes, filters, filter_dilation=(2, 1, 1))
    np.testing.assert_allclose(value(ours), value(theirs), rtol=1e-12)


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("conv_mode", ["conv", "cross"])
def test_gradients_of_convolutions(rank, conv_mode):
    x, w = T.dtensor4(), T.dtensor4()
    images, filters = IMAGES, FILTERS
    convolve, by_filters, by_images = dnn.dnn_conv, dnn.dnn_gradweight, dnn.dnn_gradinput
    if rank == 3:
        x, w = T.dtensor5(), T.dtensor5()
        images, filters = IMAGES[:, :, None].repeat(3, 2), FILTERS[:, :, None].repeat(2, 2)
        convolve, by_filters = dnn.dnn_conv3d, dnn.dnn_gradweight3d
        by_images = dnn.dnn_gradinput3d
    options = {"border_mode": 1, "subsample": (2, 1, 1)[:rank], "conv_mode": conv_mode}
    result = convolve(x, w, **options)
    g = T.ones_like(result)
    theirs = theano.grad(result.sum(), [x, w])
    ours = [by_images(w, g, x.shape, **options), by_filters(x, g, w.shape, **options)]
    *found, at_images, at_filters = theano.function([x, w], ours + theirs)(images, filters)
    np.testing.assert_allclose(found[0], at_images, rtol=1e-12)
    np.testing.assert_allclose(found[1], at_filters, rtol=1e-12)


def test_operators_are_applied_to_descriptions():
    description = dnn.GpuDnnConvDesc((1, 2), (2, 1), conv_mode="cross", num_groups=1)(FILTERS.shape)
    result = value(dnn.dnn_conv(IMAGES, FILTERS, (1, 2), (2, 1), conv_mode="cross"))
    room = np.full(result.shape, 3.0)
    convolve = dnn.GpuDnnConv()
    np.testing.assert_array_equal(value(convolve(IMAGES, FILTERS, room, description)), result)
    scaled = value(convolve(IMAGES, FILTERS, room, description, alpha=2.0, beta=0.5))
    np.testing.assert_allclose(scaled, 2 * result + 1.5, rtol=1e-12)
    options = {"border_mode": (1, 2), "subsample": (2, 1), "conv_mode": "cross"}
    by_images = dnn.GpuDnnConvGradI()(FILTERS, result, np.zeros_like(IMAGES), description)
    expected = dnn.dnn_gradinput(FILTERS, result, IMAGES.shape, **options)
    np.testing.assert_array_equal(value(by_images), value(expected))
    by_filters = dnn.GpuDnnConvGradW()(IMAGES, result, np.zeros_like(FILTERS), description)
    expected = dnn.dnn_gradweight(IMAGES, result, FILTERS.shape, **options)
    np.testing.assert_array_equal(value(by_filters), value(expected))


def test_dnn_pool_has_a_stride_of_1():
    result = value(dnn.dnn_pool(T.as_tensor_variable(IMAGES), (2, 2)))
    expected = np.lib.stride_tricks.sliding_window_view(IMAGES, (2, 2), (2, 3)).max((-1, -2))
    np.testing.assert_array_equal(result, expected)
    volumes = T.as_tensor_variable(IMAGES[:, :, None].repeat(2, 2))
    assert value(dnn.dnn_pool(volumes, (2, 3, 1), (1, 3, 1), "sum")).shape == (2, 3, 1, 2, 5)


def test_batch_normalization():
    gamma, beta = np.full((1, 3, 6, 5), 2.0), np.full((1, 3, 6, 5), 3.0)
    out, mean, inverse = map(
        value, dnn.dnn_batch_normalization_train(T.as_tensor_variable(IMAGES), gamma, beta)
    )
    np.testing.assert_allclose(mean, IMAGES.mean(0, keepdims=True))
    np.testing.assert_allclose(inverse, (IMAGES.var(0, keepdims=True) + 1e-4) ** -0.5)
    again = dnn.dnn_batch_normalization_test(
        T.as_tensor_variable(IMAGES), gamma, beta, mean, IMAGES.var(0, keepdims=True)
    )
    np.testing.assert_allclose(value(again), out, rtol=1e-9)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="conv_mode should be 'conv' or 'cross'; got 'both'"):
        dnn.dnn_conv(IMAGES, FILTERS, conv_mode="both")
    with pytest.raises(ValueError, match="2 or 3 dimensions are needed; got subsample="):
        dnn.dnn_conv(IMAGES, FILTERS, subsample=(1,))
    with pytest.raises(ValueError, match="expected workmem or algo, got both"):
        dnn.dnn_conv(IMAGES, FILTERS, workmem="small", algo="small")
    with pytest.warns(UserWarning, match="workmem is the older name of algo"):
        dnn.dnn_conv(IMAGES, FILTERS, workmem="small")
    with pytest.raises(ValueError, match="windows of 2 or 3 dimensions"):
        dnn.dnn_pool(IMAGES, (2,))


def test_presence_says_why_not():
    present = dnn.dnn_present()
    assert present is (dnn.dnn_present.msg is None)
    if present:
        assert dnn.version() > 0
    else:
        assert dnn.dnn_present.msg == "The library cuDNN was not found"
        assert not dnn.dnn_available(None) and dnn.dnn_available.msg == dnn.dnn_present.msg
        assert dnn.version(raises=False) == -1
        with pytest.raises(RuntimeError, match="cannot be found: The library cuDNN was not found"):
            dnn.dnn_version()


def test_flag_keeps_cudnn_away():
    with theano.config.change_flags({"dnn.enabled": "False"}):
        assert not dnn.dnn_present()
        assert dnn.dnn_present.msg == "Disabled by dnn.enabled flag"


def seen_through(images, theta, rows, columns):
    """Each element read where the map says, by plain loops; zeros lie next to the images."""
    count, channels, height, width = images.shape
    result = np.zeros((count, channels, rows, columns))
    for k, i, j in np.ndindex(count, rows, columns):
        x = 2 * j / (columns - 1) - 1 if columns > 1 else -1
        y = 2 * i / (rows - 1) - 1 if rows > 1 else -1
        across, down = theta[k] @ [x, y, 1]
        across, down = (across + 1) / 2 * (width - 1), (down + 1) / 2 * (height - 1)
        for row in (int(np.floor(down)), int(np.floor(down)) + 1):
            for column in (int(np.floor(across)), int(np.floor(across)) + 1):
                if 0 <= row < height and 0 <= column < width:
                    weight = (1 - abs(across - column)) * (1 - abs(down - row))
                    result[k, :, i, j] += weight * images[k, :, row, column]
    return result


@pytest.mark.parametrize("engine", ["FAST_RUN", "XLA"])
@pytest.mark.parametrize("scales", [(1, 1), (0.5, 1.4), (1.2, 0.1)])
def test_spatial_transformer(engine, scales):
    if engine == "XLA":
        pytest.importorskip("jax")
    img, theta = T.tensor4(), T.tensor3()
    transformed = dnn.dnn_spatialtf(img, theta, scale_width=scales[0], scale_height=scales[1])
    maps = np.random.default_rng(2).normal(size=(2, 2, 3)) * 0.7
    rows, columns = (int(np.ceil(n * s)) for n, s in zip((6, 5), scales[::-1], strict=True))
    found = theano.function([img, theta], transformed, mode=engine)(IMAGES, maps)
    np.testing.assert_allclose(found, seen_through(IMAGES, maps, rows, columns), 1e-9, 1e-12)


def test_gradients_of_the_spatial_transformer():
    def transformed(img, theta):
        return dnn.dnn_spatialtf(img, theta, 0.8, 1.3)

    maps = np.random.default_rng(3).normal(size=(2, 2, 3)) * 0.4
    theano.gradient.verify_grad(transformed, [IMAGES, maps], rng=np.random.RandomState(0))
    img, theta = T.tensor4(), T.tensor3()
    function = theano.function([img, theta], transformed(img, theta))
    for shape in ((2, 1, 3), (2, 2, 1), (1, 2, 3), (4, 2, 3)):
        with pytest.raises(RuntimeError, match=r"theta of shape \(images, 2, 3\)"):
            function(IMAGES, np.ones(shape))
