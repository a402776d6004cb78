"""Joins and splits along an axis that is a variable."""

import numpy as np
import pytest

import theano
import theano.tensor as T

A, B = np.arange(6.0).reshape(2, 3), np.arange(6.0, 12).reshape(2, 3)


def joined():
    axis, a, b = T.lscalar("axis"), T.matrix("a"), T.matrix("b")
    return axis, a, b, T.join(axis, a, b)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "XLA"])
def test_joined_along_the_axis_of_the_call(mode):
    if mode == "XLA":
        pytest.importorskip("jax")
    axis, a, b, out = joined()
    both = theano.function([axis, a, b], [out, T.concatenate([b, a], axis=axis)], mode=mode)
    for k in (0, 1, -1, -2):
        forward, backward = both(k, A, B)
        np.testing.assert_array_equal(forward, np.concatenate([A, B], k))
        np.testing.assert_array_equal(backward, np.concatenate([B, A], k))
    for k in (2, -3):
        with pytest.raises((IndexError, ValueError)):
            both(k, A, B)


def test_lengths_must_agree_along_the_other_axes():
    axis, a, b, out = joined()
    f = theano.function([axis, a, b], out)
    assert f(0, A, B[:1]).shape == (3, 3)
    with pytest.raises(ValueError):
        f(1, A, B[:1])


def test_shape_of_a_join_follows_from_the_shapes():
    axis, a, b, out = joined()
    f = theano.function([axis, a, b], out.shape)
    joins = [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, T.Join)]
    assert not joins
    for k in (0, 1, -1, -2):
        assert tuple(f(k, A, B)) == np.concatenate([A, B], k).shape


def test_dtypes_are_cast_and_a_tensor_alone_is_itself():
    axis, x, n = T.bscalar(), T.matrix(), T.imatrix()
    assert T.join(axis, x) is x
    f = theano.function([axis, x, n], T.join(axis, x, n))
    assert f(1, A, B.astype("int32")).dtype == x.dtype
    counts = theano.function(
        [axis, n], T.grad(T.join(axis, n, n).sum().astype("float64"), n), on_unused_input="ignore"
    )
    np.testing.assert_array_equal(counts(0, B.astype("int32")), 0)


@pytest.mark.parametrize("wrong", [T.scalar(), T.lvector()])
def test_an_axis_is_an_integer(wrong):
    with pytest.raises(TypeError):
        T.join(wrong, T.matrix(), T.matrix())


def test_tensors_have_one_number_of_dimensions():
    with pytest.raises(TypeError):
        T.join(T.lscalar(), T.matrix(), T.vector())


@pytest.mark.parametrize("k", [0, 1, -1])
def test_gradient_of_a_join(k):
    axis, a, b, out = joined()
    weights = T.matrix("weights")
    cost = (weights * out**2).sum()
    w = np.random.default_rng(0).normal(size=np.concatenate([A, B], k).shape)
    gradients = theano.function([axis, a, b, weights], T.grad(cost, [a, b]))(k, A, B, w)
    expected = np.split(2 * w * np.concatenate([A, B], k), 2, k)
    np.testing.assert_allclose(gradients, expected)


def test_gradient_has_the_type_of_a_row():
    axis, row = T.lscalar(), T.row()
    gradient = T.grad(T.sqr(T.join(axis, row, row)).sum(), row)
    assert gradient.type == row.type
    np.testing.assert_allclose(gradient.eval({axis: 1, row: A[:1]}), 4 * A[:1])


def test_tangents_and_second_derivatives_of_a_join():
    axis, a, b, out = joined()
    direction = T.matrix("direction")
    along = theano.function([axis, a, b, direction], T.Rop(out**2, a, direction))
    zeros = np.zeros_like(B)
    np.testing.assert_allclose(along(1, A, B, B), np.concatenate([2 * A * B, zeros], 1))
    twice = T.grad((T.grad((out**3).sum(), a) * direction).sum(), a)
    f = theano.function([axis, a, b, direction], twice)
    np.testing.assert_allclose(f(0, A, B, B), 6 * A * B)


def test_join_in_a_loop_and_its_gradient():
    axis, a = T.lscalar(), T.matrix()
    rows, _ = theano.scan(
        lambda x, k: T.join(k, x, 2 * x).sum(), [a.dimshuffle(0, "x", 1)], None, [axis]
    )
    value = theano.function([axis, a], [rows, T.grad(T.sqr(rows).sum(), a)])
    sums, gradient = value(1, A)
    np.testing.assert_allclose(sums, 3 * A.sum(1))
    np.testing.assert_allclose(gradient, np.repeat(18 * A.sum(1)[:, None], 3, 1))


def test_split_along_the_axis_of_the_call():
    axis, x, lengths = T.lscalar(), T.matrix(), T.lvector()
    first, second = T.split(x, lengths, 2, axis=axis)
    cost = (first**2).sum() + 0 * second.sum()
    f = theano.function([x, axis, lengths], [first, second, T.grad(cost, x), second.shape])
    for k, given in ((0, [1, 1]), (1, [1, 2]), (-1, [3, 0])):
        parts = np.split(A, [given[0]], k)
        *found, gradient, shape = f(A, k, given)
        for part, expected in zip(found, parts, strict=True):
            np.testing.assert_array_equal(part, expected)
        np.testing.assert_array_equal(gradient, np.concatenate([2 * parts[0], 0 * parts[1]], k))
        assert tuple(shape) == parts[1].shape
    for lengths in ([1, 1], [4, -1], [3]):
        with pytest.raises((ValueError, IndexError)):
            f(A, 1, lengths)


def test_gradient_of_one_part_alone():
    axis, x = T.lscalar(), T.matrix()
    first, _ = T.split(x, [1, 1], 2, axis=axis)
    gradient = T.grad(first.sum(), x).eval({axis: 0, x: A})
    np.testing.assert_array_equal(gradient, [[1, 1, 1], [0, 0, 0]])


def test_operators_as_theano_calls_them():
    axis, a, b, out = joined()
    assert isinstance(out.owner.op, T.Join)
    assert isinstance(T.Join()(axis, a, b).owner.op, T.Join)
    parts = T.Split(2)(a, axis, T.lvector())
    assert isinstance(parts[0].owner.op, T.Split)
