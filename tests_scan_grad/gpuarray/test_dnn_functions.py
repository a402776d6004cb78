"""The functions of `theano.gpuarray.dnn` beside `RNNBlock`."""

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
        with pytest.raises(RuntimeError, match="cannot be told: The library cuDNN was not found"):
            dnn.dnn_version()


def test_flag_keeps_cudnn_away():
    with theano.config.change_flags({"dnn.enabled": "False"}):
        assert not dnn.dnn_present()
        assert dnn.dnn_present.msg == "Disabled by dnn.enabled flag"
