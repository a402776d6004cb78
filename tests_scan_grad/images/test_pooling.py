"""Pooling by every engine, its gradients and its tangents, against plain loops over windows."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.images import pooled_windows
from theano.tensor.signal.pool import (
    AveragePoolGrad,
    DownsampleFactorMaxGradGrad,
    MaxPoolGrad,
    MaxPoolRop,
    Pool,
    PoolGrad,
    max_pool_2d_same_size,
    pool_2d,
    pool_3d,
)


def images_of(shape, dtype="float64", name=None):
    return T.TensorType(dtype, (False,) * len(shape))(name)


def close(ours, expected):
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)
    assert ours.shape == expected.shape


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "XLA"])
@pytest.mark.parametrize("seed", range(10))
def test_generated(seed, mode):
    if mode == "XLA":
        pytest.importorskip("jax")
    example, rng = pooled_windows.drawn(seed)
    x, gz, along = images_of(example.shape), images_of(example.shape), images_of(example.shape)
    symbolic = seed % 2 == 1
    vectors = [T.ivector(), T.lvector(), T.ivector()] if symbolic else []
    windows = [example.ws, example.stride, example.pad]
    y = Pool(example.ignore_border, example.mode, example.rank)(x, *(vectors or windows))
    outputs = [y, theano.grad(None, x, known_grads={y: gz}), T.Rop(y, x, along)]
    function = theano.function([x, gz, along, *vectors], outputs, mode=mode)
    # equal elements among them
    values = rng.integers(0, 5, size=example.shape).astype("float64")
    given = rng.normal(size=pooled_windows.pooled(example, values).shape)
    direction = rng.normal(size=example.shape)
    found = function(values, given, direction, *(windows if symbolic else []))
    close(found[0], pooled_windows.pooled(example, values))
    close(found[1], pooled_windows.gradient(example, values, given))
    close(found[2], pooled_windows.tangent(example, values, direction))


@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_gradients_of_gradients_are_those_of_finite_differences(seed):
    example, rng = pooled_windows.drawn(100 + seed)
    windows = example.ws, example.stride, example.pad

    def gradient(x, gz):
        y = Pool(example.ignore_border, example.mode, example.rank)(x, *windows)
        return theano.grad(None, x, known_grads={y: gz * T.cos(y)}, consider_constant=[])

    values = 10 * rng.normal(size=example.shape)
    given = rng.normal(size=pooled_windows.pooled(example, values).shape)
    theano.gradient.verify_grad(gradient, [values, given], rng=np.random.RandomState(seed))


@pytest.mark.parametrize("mode", pooled_windows.MODES)
@pytest.mark.parametrize("engine", ["FAST_RUN", "XLA"])
def test_in_a_loop_and_its_gradient(engine, mode):
    if engine == "XLA":
        pytest.importorskip("jax")
    x, w = T.tensor4("x"), T.scalar("w")

    def step(image, w):
        return pool_2d(T.tanh(w * image), (3, 2), True, (2, 2), (1, 0), mode).sum()

    costs, _ = theano.scan(step, sequences=x.dimshuffle(0, 1, 2, 3), non_sequences=w)
    outputs = [costs, *theano.grad((costs**2).sum(), [x, w])]
    function = theano.function([x, w], outputs, mode=engine)
    assert engine == "XLA" or "by PyTensor" not in str(theano.link.native.report(function))
    example = pooled_windows.Example((3, 2, 5, 6), (3, 2), (2, 2), (1, 0), True, mode)
    values = np.random.default_rng(3).normal(size=example.shape)
    inner = np.tanh(0.7 * values)
    expected = pooled_windows.pooled(example, inner).sum(axis=(1, 2, 3))
    slope = pooled_windows.gradient(
        example, inner, np.ones((3, 2, *example.counts())) * (2 * expected)[:, None, None, None]
    )
    slope *= 1 - inner**2
    found = function(values, 0.7)
    close(found[0], expected)
    close(found[1], 0.7 * slope)
    close(found[2], (slope * values).sum())


def test_not_a_number_is_the_greatest():
    values = np.arange(16.0).reshape(4, 4)
    values[0, 1], values[2, 2] = np.nan, -np.inf
    x = T.matrix()
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        found = theano.function([x], pool_2d(x, (2, 2), True), mode=mode)(values)
        np.testing.assert_array_equal(found, [[np.nan, 7], [13, 15]])


def test_tangent_at_the_first_of_the_greatest():
    x = np.array([[1.0, 3, 0, np.nan], [3, 2, np.nan, 5]])
    along = np.arange(8.0).reshape(2, 4)
    picked = MaxPoolRop(True)(T.constant(x), T.constant(along), (2, 2))
    assert picked.eval().tolist() == [[1.0, 3.0]]
    pytest.importorskip("jax")
    a, b = T.matrix(), T.matrix()
    found = theano.function([a, b], MaxPoolRop(True)(a, b, (2, 2)), mode="XLA")(x, along)
    assert found.tolist() == [[1.0, 3.0]]


def test_shapes_are_known_where_windows_are():
    x = T.TensorType("float64", shape=(None, 3, 9, 8))()
    assert pool_2d(x, (2, 3), True).type.shape == (None, 3, 4, 2)
    assert pool_2d(x, (2, 3), False).type.shape == (None, 3, 5, 3)
    assert pool_2d(x, T.ivector(), False).type.shape == (None, 3, None, None)
    # a shape takes no windows to compute
    images = T.tensor4()
    shape = theano.function([images], pool_2d(images, (2, 3), True).shape)
    assert not any(isinstance(n.op, Pool) for n in shape.maker.fgraph.apply_nodes)
    assert shape(np.zeros((2, 3, 9, 8))).tolist() == [2, 3, 4, 2]
    lengths = [T.iscalar(), T.iscalar()]
    counts = Pool.out_shape(lengths, (3, 2), False, (2, 3))
    assert [int(n) for n in theano.function(lengths, counts)(7, 1)] == [3, 1]
    assert PoolGrad.out_shape((9, 8, 6), (2, 2), stride=(3, 3), ignore_border=True) == [9, 3, 2]


def test_whole_numbers():
    x = T.itensor3()
    values = np.random.default_rng(0).integers(-9, 9, size=(2, 5, 5)).astype("int32")
    for mode in pooled_windows.MODES:
        y = pool_2d(x, (2, 2), True, mode=mode)
        assert y.dtype == "int32"
        example = pooled_windows.Example(values.shape, (2, 2), (2, 2), (0, 0), True, mode)
        np.testing.assert_array_equal(
            theano.function([x], y)(values), pooled_windows.pooled(example, values)
        )


def test_means_of_padding_alone():
    # a window may lie in what is put around, where nothing is asked of its elements
    x = np.arange(1.0, 4)
    for mode, expected in (("sum", [0, 1, 5, 0]), ("average_inc_pad", [0, 0.5, 2.5, 0])):
        example = pooled_windows.Example((3,), (2,), (2,), (3,), True, mode)
        vector = T.vector()
        pad = T.ivector()
        y = Pool(True, mode, 1)(vector, (2,), (2,), pad)
        found = theano.function([vector, pad], [y, theano.grad(y.sum(), vector)])(x, [3])
        assert found[0].tolist() == expected
        close(found[1], pooled_windows.gradient(example, x, np.ones(len(found[0]))))


def test_elements_that_are_not_the_greatest_become_zero():
    x = T.tensor4()
    values = np.array([[[[1.0, 2, 3, 4, 9], [5, 6, 7, 8, 9]]]])
    found = theano.function([x], max_pool_2d_same_size(x, (2, 2)))(values)
    assert found.tolist() == [[[[0, 0, 0, 0, 0], [0, 6, 0, 8, 0]]]]


def test_what_is_wrong_when_a_function_is_made():
    x = T.tensor4()
    with pytest.raises(ValueError, match="expected a mode of .* got 'median'"):
        Pool(mode="median")
    with pytest.raises(NotImplementedError, match="only with ignore_border=True"):
        Pool(False)(x, (2, 2), pad=(1, 0))
    with pytest.raises(NotImplementedError, match="smaller than the windows"):
        Pool(True)(x, (2, 2), pad=(2, 0))
    with pytest.raises(NotImplementedError, match="at least 3 dimensions"):
        pool_3d(T.matrix(), (2, 2, 2), True)
    with pytest.raises(TypeError, match="at least 2"):
        Pool(True)(T.vector(), (2, 2))
    with pytest.raises(ValueError, match="vector of size 2, got 3"):
        Pool(True)(x, (2, 2, 2))
    with pytest.raises(ValueError, match="ws must be positive|must be positive"):
        Pool(True)(T.TensorType("float64", shape=(4, 4))(), (2, 0))
    for build in (
        lambda: AveragePoolGrad(True, mode="max"),
        lambda: DownsampleFactorMaxGradGrad(True, mode="sum"),
        lambda: MaxPoolRop(True, mode="sum"),
        lambda: Pool(True)(x, 2),
    ):
        with pytest.raises(AssertionError):
            build()
    with pytest.raises(ValueError, match="ds is an older name of ws"):
        pool_2d(x, (2, 2), True, ds=(2, 2))
    with pytest.raises(ValueError, match="expected ws"):
        pool_2d(x, ignore_border=True)
    with pytest.raises(TypeError, match="at least 2 lengths"):
        Pool.out_shape((3,), (2, 2))


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "XLA"])
def test_what_is_wrong_in_a_call(mode):
    if mode == "XLA":
        pytest.importorskip("jax")
    x, ws, stride, pad = T.matrix(), T.ivector(), T.ivector(), T.ivector()
    inside = theano.function([x, ws, stride, pad], Pool(True)(x, ws, stride, pad), mode=mode)
    outside = theano.function([x, ws, stride, pad], Pool(False)(x, ws, stride, pad), mode=mode)
    images = np.zeros((4, 5))
    for function, windows, text in (
        (inside, ([2, 2, 2], [1, 1], [0, 0]), "ws must be a vector of size 2"),
        (inside, ([2, 0], [1, 1], [0, 0]), "must be positive, got 0 and 1 along dimension -1"),
        (inside, ([2, 2], [0, 1], [0, 0]), "must be positive, got 2 and 0 along dimension -2"),
        (inside, ([2, 2], [1, 1], [0, 2]), "pad must be from 0 to 1, got 2 along dimension -1"),
        (inside, ([2, 2], [1, 1], [-1, 0]), "pad must be from 0 to 1, got -1 along dimension -2"),
        (outside, ([2, 2], [1, 1], [1, 0]), "padding must be zero when ignore border is False"),
    ):
        with pytest.raises(ValueError, match=text):
            function(images, *windows)
    with pytest.raises(ValueError, match="at least one element along dimension -2"):
        outside(np.zeros((0, 5)), [2, 2], [1, 1], [0, 0])
    gz, maxout = T.matrix(), T.matrix()
    gradients = {
        "gz of shape": AveragePoolGrad(True)(x, gz, (2, 2)),
        "maxout of shape": MaxPoolGrad(True)(x, maxout, gz, (2, 2)),
        "values of shape": DownsampleFactorMaxGradGrad(True)(x, maxout, gz, (2, 2)),
    }
    for text, gradient in gradients.items():
        function = theano.function([x, maxout, gz], gradient, mode=mode, on_unused_input="ignore")
        with pytest.raises(ValueError, match=text):
            function(images, np.zeros((2, 2 + (text[0] == "m"))), np.zeros((3, 2)))
