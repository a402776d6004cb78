"""Slices whose bounds differ between steps: native where their length does not."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.link.native import c_function, report

X = np.random.default_rng(0).standard_normal((12, 3))
V = np.random.default_rng(1).standard_normal((5, 4))
SLICES = {
    "one length": lambda x, i, n: x[i : i + 4],
    "an argument's length": lambda x, i, n: x[i : i + n],
    "blocks": lambda x, i, n: x[i * n : (i + 1) * n],
    "around": lambda x, i, n: x[i + n - 2 : n + 3 + i],
    "backwards": lambda x, i, n: x[i : i + n][::-1],
    "a part of it": lambda x, i, n: x[i : i + 3 * n][1:][::2][1:, 1:],
    "of columns": lambda x, i, n: x.T[1:, i : i + n],
}
WITHIN, SHORT, NEGATIVE = [0, 3, 2, 1], [0, 3, 5, 11], [2, 1, -2, 0]


def looped(part):
    """A function of the loop that adds up the squares of a part of ``x``, and its gradient."""
    x, n, at = T.dmatrix("x"), T.lscalar("n"), T.lvector("at")
    h = theano.scan(
        lambda i, h, x, n: h + (part(x, i, n) ** 2).sum(),
        sequences=[at],
        outputs_info=[T.zeros(())],
        non_sequences=[x, n],
        return_list=True,
    )[0][0]
    return theano.function([x, n, at], [h, theano.grad((h**2).sum(), x)])


def expected(part, at, n):
    h, used = [], [part(np.arange(X.size).reshape(X.shape), i, n) for i in at]
    for k in used:
        h.append((h[-1] if h else 0) + (X.flat[k] ** 2).sum())
    gradient = np.zeros(X.size)
    for t, k in enumerate(used):
        np.add.at(gradient, k.ravel(), 2 * X.flat[k.ravel()] * 2 * sum(h[t:]))
    return h, gradient.reshape(X.shape)


@pytest.mark.parametrize("name", SLICES)
def test_windows_of_one_length(name):
    f = looped(SLICES[name])
    assert report(f).loops[0].reason is None, report(f)
    for at in (WITHIN, SHORT, NEGATIVE):
        # where the array ends, NumPy's slices are shorter, and negative bounds count from its end
        for got, right in zip(f(X, 2, at), expected(SLICES[name], at, 2), strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-12)


def test_windows_that_are_written():
    x, at = T.dmatrix("x"), T.lvector("at")
    h = theano.scan(
        lambda i, h, x: T.inc_subtensor(h[i : i + 2], x[i + 1 : i + 3] * h[i : i + 2]),
        sequences=[at],
        outputs_info=[x],
        non_sequences=[x],
        return_list=True,
    )[0][0]
    f = theano.function([x, at], h[-1])
    assert all(loop.reason is None for loop in report(f).loops), report(f)
    right = X.copy()
    for i in WITHIN:
        right[i : i + 2] += X[i + 1 : i + 3] * right[i : i + 2]
    np.testing.assert_allclose(f(X, WITHIN), right, rtol=1e-12)


def test_windows_of_what_is_written():
    """The window that is written overlaps those read of the same array, before and after it."""
    x, at = T.dmatrix("x"), T.lvector("at")
    h = theano.scan(
        lambda i, h: T.set_subtensor(h[i + 1 : i + 4], 2 * h[i : i + 3] - h[i + 2 : i + 5]),
        sequences=[at],
        outputs_info=[x],
        return_list=True,
    )[0][0]
    f = theano.function([x, at], h)
    assert all(loop.reason is None for loop in report(f).loops), report(f)
    right = [X]
    for i in WITHIN:
        right.append(right[-1].copy())
        right[-1][i + 1 : i + 4] = 2 * right[-2][i : i + 3] - right[-2][i + 2 : i + 5]
    np.testing.assert_allclose(f(X, WITHIN), right[1:], rtol=1e-12)


def test_a_product_with_another_window_in_each_step():
    """Operands packed before the loop are the same in all of its steps."""
    x, v, at = T.dmatrix("x"), T.dmatrix("v"), T.lvector("at")
    h = theano.scan(
        lambda i, x, v: v.dot(x[i : i + 4]), at, non_sequences=[x, v], return_list=True
    )[0][0]
    f = theano.function([x, v, at], h)
    assert all(loop.reason is None for loop in report(f).loops), report(f)
    right = [V.dot(X[i : i + 4]) for i in WITHIN]
    np.testing.assert_allclose(f(X, V, WITHIN), right, rtol=1e-12)


@pytest.mark.parametrize(
    "part",
    [
        lambda x, i, n: x[:i],
        lambda x, i, n: x[i:],
        lambda x, i, n: x[i : 2 * i],
        lambda x, i, n: x[i.astype("uint64") : i.astype("uint64") + np.uint8(2)],
    ],
    ids=["up to", "from on", "of a length that grows", "without a sign"],
)
def test_windows_of_other_lengths(part):
    f = looped(part)
    got, gradient = f(X, 2, WITHIN)
    right = expected(lambda x, i, n: part(x, np.int64(i), n), WITHIN, 2)
    np.testing.assert_allclose(got, right[0], rtol=1e-12)
    np.testing.assert_allclose(gradient, right[1], rtol=1e-12)
    assert any("slice" in (loop.reason or "") for loop in report(f).loops), report(f)


def test_a_function_of_c_says_that_a_window_is_not_within_its_array():
    x, at = T.dmatrix("x"), T.lvector("at")
    parts = theano.scan(lambda i, x: x[i : i + 2].sum(), at, non_sequences=[x], return_list=True)
    f = c_function(theano.function([x, at], parts[0][0]))
    np.testing.assert_allclose(f(X, WITHIN)[0], [X[i : i + 2].sum() for i in WITHIN])
    with pytest.raises(ValueError, match="not within its array.*step 3"):
        f(X, SHORT)
