"""Convolution and pooling, against NumPy."""

import itertools

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.operations.small_graphs import check_gradient, compiled, evaluate, value_of
from theano.tensor.nnet import abstract_conv
from theano.tensor.signal import downsample
from theano.tensor.signal.pool import Pool, pool_2d, pool_3d

RNG = np.random.default_rng(7)


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
    with pytest.warns(UserWarning, match="unroll_patch set how Theano's C loops"):
        T.nnet.conv.conv2d(x, w, unroll_patch=True)
