"""Arguments that Theano took in further forms; the numbers are those of Theano 1.0.5."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.signal.pool import pool_2d, pool_3d

IMAGES = np.random.RandomState(0).rand(2, 3, 6, 6)


def updated(variable, value):
    variable.default_update = value
    theano.function([], variable * 1)()
    return variable.get_value()


def test_default_update_that_knows_more_of_its_shape():
    np.testing.assert_array_equal(updated(theano.shared(np.ones(3)), T.zeros((3,))), np.zeros(3))
    assert updated(theano.shared(np.zeros((2, 3))), T.ones((5, 4))).shape == (5, 4)
    assert updated(theano.shared(np.zeros((2, 3))), np.ones((2, 3))).sum() == 6
    other = theano.shared(np.full(3, 2.0))
    variable = theano.shared(np.zeros(3))
    updated(variable, T.specify_shape(other, (3,)))
    variable.set_value(np.ones(3))
    assert other.get_value().tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    "value", [T.ones((2, 3), "float32").astype("complex64"), T.ones((3,)), T.ones((2, 2, 2))]
)
def test_default_update_of_another_type_is_an_error(value):
    variable = theano.shared(np.zeros((2, 3)))
    with pytest.raises(TypeError):
        variable.default_update = value
    row = theano.shared(np.zeros((1, 3)), broadcastable=(True, False))
    with pytest.raises(TypeError):
        row.default_update = T.ones((2, 3))


@pytest.mark.parametrize(
    ("axes", "shape"),
    [
        ([2, 2], (2, 3, 5)),
        ((2, np.int64(2)), (2, 3, 5)),
        ([[2], [2]], (2, 3, 5)),
        ([-1, [2]], (2, 3, 5)),
        (0, (2, 3, 4, 5, 4)),
    ],
)
def test_axes_of_batched_tensordot(axes, shape):
    x, y = T.tensor3s("x", "y")
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(40.0).reshape(2, 5, 4)
    found = theano.function([x, y], T.batched_tensordot(x, y, axes))(a, b)
    assert found.shape == shape
    expected = "bij,bkj->bik" if axes else "bij,bkl->bijkl"
    np.testing.assert_allclose(found, np.einsum(expected, a, b))


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ([2, 2, 2], "integer or a list/tuple of len 2"),
        ([0, 2], "must not contain the batch axis"),
        ([4, 2], "greater than or equal to a.ndim"),
        (3, "must not include the batch axis"),
        ([[1, 2], [2]], "as many axes"),
    ],
)
def test_axes_of_batched_tensordot_that_do_not_fit(axes, message):
    x, y = T.tensor3s("x", "y")
    with pytest.raises(ValueError, match=message):
        T.batched_tensordot(x, y, axes)


POOLED = {
    "max": (71.22992292, 84.0, 21.66488104, 43.75139946),
    "sum": (180.84353906, 360.0, 107.22398912, 107.22398912),
    "average_inc_pad": (36.88345472, 72.0, 11.62157612, 26.80599728),
    "average_exc_pad": (30.14058984, 60.0, 11.62157612, 26.80599728),
}


@pytest.mark.parametrize("mode", POOLED)
def test_symbolic_windows_of_pools(mode):
    """Sums of the results are those that Theano 1.0.5 computed of the same images."""
    x, ws, stride, pad = T.tensor4("x"), T.ivector("ws"), T.ivector("stride"), T.lvector("pad")
    pooled = pool_2d(x, ws, True, stride=stride, pad=pad, mode=mode)
    f = theano.function([x, ws, stride, pad], [pooled, theano.grad(pooled.sum(), x)])
    around = [1, 0] if mode in ("max", "average_inc_pad") else [0, 0]
    values = f(IMAGES, [2, 3], [1, 2], around)
    assert values[0].shape == (2, 3, 7 if around[0] else 5, 2)
    whole = theano.function([x, ws], pool_2d(x, ws, False, mode=mode))(IMAGES, [4, 4])
    assert whole.shape == (2, 3, 2, 2)
    window = theano.shared(np.array([2, 2], "int32"))
    small = pool_2d(x, window, ignore_border=True, mode=mode)
    sums = [*(value.sum() for value in values), whole.sum(), small.eval({x: IMAGES}).sum()]
    np.testing.assert_allclose(sums, POOLED[mode], rtol=1e-8)


def test_symbolic_windows_are_checked():
    x, ws, pad, one = T.tensor4("x"), T.ivector("ws"), T.ivector("pad"), T.iscalar("one")
    assert pool_2d(x, (one, one), True).eval({x: IMAGES, one: 2}).shape == (2, 3, 3, 3)
    assert pool_2d(x, np.array([2, 3]), True).eval({x: IMAGES}).shape == (2, 3, 3, 2)
    with pytest.raises(ValueError, match="padding must be zero when ignore border is False"):
        pool_2d(x, ws, False, pad=pad).eval({x: IMAGES, ws: [2, 2], pad: [1, 1]})
    with pytest.raises(ValueError, match="ws must be a vector of size 2"):
        pool_2d(x, ws, True).eval({x: IMAGES, ws: [2]})
    with pytest.raises(TypeError, match="must be ints"):
        pool_2d(x, T.vector(), True)
    with pytest.raises(AssertionError, match="vector of 2 items"):
        pool_2d(x, T.imatrix(), True)
    volume = T.TensorType("float64", (False,) * 5)()
    cubes = pool_3d(volume, ws, False, stride=pad, mode="sum")
    shape = cubes.eval({volume: np.ones((1, 1, 4, 4, 4)), ws: [2, 2, 1], pad: [2, 1, 1]}).shape
    assert shape == (1, 1, 2, 3, 4)
