"""Lazy choices in steps: native, and the branch that is not taken is not computed."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.ifelse import ifelse
from theano.link.native import c_function, report

x, y, W = T.dvector("x"), T.dvector("y"), T.dmatrix("W")
steps = np.array([0.5, -1.0, 2.0, 0.0, -0.3])
start = np.array([0.2, -0.4, 1.0])
weights = np.random.default_rng(0).normal(size=(3, 3))


def both_engines(inputs, outputs, **options):
    """The function by the engine, which runs all of it, and operation by operation."""
    native = theano.function(inputs, outputs, on_unused_input="ignore", **options)
    found = report(native)
    assert not found.calls and all(loop.reason is None for loop in found.loops), str(found)
    plain = theano.function(
        inputs, outputs, mode=theano.Mode("py", None), on_unused_input="ignore", **options
    )
    return native, plain


def check(inputs, outputs, *values):
    native, plain = both_engines(inputs, outputs)
    for ours, theirs in zip(native(*values), plain(*values), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
        assert ours.dtype == theirs.dtype
    return native


STEPS = {
    "a product or what is there": lambda u, h, W: ifelse(T.gt(u, 0), T.tanh(T.dot(W, h)), h * u),
    "the state as it is": lambda u, h, W: ifelse(T.gt(u, 0), T.dot(W, h), h),
    "what does not change": lambda u, h, W: ifelse(T.gt(u, 0), T.dot(W, h), W[0]) + h,
    "choices within a branch": lambda u, h, W: ifelse(
        T.gt(u, 0), ifelse(T.gt(h.sum(), 1), T.dot(W, h), T.dot(h, W)), T.sort(h)
    ),
    "a choice of what was chosen": lambda u, h, W: ifelse(
        T.gt(u, 1), T.sort(ifelse(T.gt(u, 0), T.dot(W, h), -h)), T.dot(h, W)
    ),
    "a number": lambda u, h, W: h * ifelse(T.gt(u, 0), T.dot(h, h), T.sort(h)[0]) / 2,
    "several results": lambda u, h, W: (lambda pair: T.tanh(pair[0] + pair[1][0]))(
        ifelse(T.gt(u, 0), [T.dot(W, h), W[0]], [h, T.dot(h, W)])
    ),
    "a condition in floating point": lambda u, h, W: ifelse(u, T.dot(W, h), T.sort(h)),
    "a loop": lambda u, h, W: ifelse(
        T.gt(u, 0),
        theano.scan(lambda g, W: T.tanh(T.dot(W, g)), outputs_info=h, non_sequences=W, n_steps=3)[
            0
        ][-1],
        h,
    ),
    "a constant": lambda u, h, W: ifelse(
        T.gt(u, 0), T.dot(W, h), T.as_tensor_variable(np.arange(3.0)) + T.sort(h)[0]
    ),
    "rows by an index": lambda u, h, W: ifelse(
        T.lt(u, 3), W[T.cast(abs(u), "int64")] * h, T.dot(W, h)
    ),
}


# the gradient saves the shape of an array of which the step chose the shape: the loop back is PyTensor's
WITH_SHAPES_OF_CHOICES = (
    "choices within a branch",
    "a choice of what was chosen",
    "several results",
)


@pytest.mark.parametrize("name", WITH_SHAPES_OF_CHOICES)
def test_gradients_by_arrays_of_chosen_shapes(name):
    h, _ = theano.scan(STEPS[name], sequences=x, outputs_info=y, non_sequences=W)
    check([x, y, W], [h], steps, start, weights)
    outputs = T.grad((h**2).sum(), [x, y, W], disconnected_inputs="ignore")
    f = theano.function([x, y, W], outputs, on_unused_input="ignore")
    plain = theano.function([x, y, W], outputs, mode=theano.Mode("py", None))
    values = steps, start, weights
    for ours, theirs in zip(f(*values), plain(*values), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize("name", [name for name in STEPS if name not in WITH_SHAPES_OF_CHOICES])
def test_choices_are_native_with_their_gradients(name):
    h, _ = theano.scan(STEPS[name], sequences=x, outputs_info=y, non_sequences=W)
    cost = (h**2).sum()
    outputs = [h, *T.grad(cost, [x, y, W], disconnected_inputs="ignore")]
    native = check([x, y, W], outputs, steps, start, weights)
    assert all(np.isfinite(one).all() for one in native(steps, start, weights))
    # a caller in C has no Python that would step in
    for ours, theirs in zip(
        c_function(native)(steps, start, weights), native(steps, start, weights), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_what_is_not_taken_is_not_computed():
    def step(u, h, W):
        return ifelse(T.lt(u, 3), W[T.cast(u, "int64")] * 2, T.sort(h))

    h, _ = theano.scan(step, sequences=x, outputs_info=y, non_sequences=W)
    native, _ = both_engines([x, y, W], h)
    found = native(np.array([1.0, 7.0]), start, weights)
    np.testing.assert_array_equal(found, [2 * weights[1], np.sort(2 * weights[1])])
    with pytest.raises(IndexError):
        native(np.array([1.0, -7.0]), start, weights)


def test_a_loop_that_would_never_end_is_not_run():
    def forever(u, h):
        g, _ = theano.scan(lambda g: T.tanh(g), outputs_info=h, n_steps=10**12)
        return ifelse(T.gt(u, 0), g[-1], h + 1)

    h, _ = theano.scan(forever, sequences=x, outputs_info=y)
    native, _ = both_engines([x, y], h)
    np.testing.assert_allclose(native(-np.ones(3), start)[-1], start + 3)


def test_a_condition_known_before_decides_about_sizes():
    """The branch that is not taken may not fit; the shapes of both may differ."""
    flag = T.iscalar("flag")

    def step(h, u, W, flag):
        return h, ifelse(T.gt(flag, 0), T.dot(W, h), T.sort(u))

    (_, chosen), _ = theano.scan(
        step, outputs_info=[y, None], non_sequences=[x, W, flag], n_steps=2
    )
    native, plain = both_engines([x, y, W, flag], [chosen])
    narrow = weights[:, :2]
    for values in (
        (steps, start, weights, 1),
        (steps, start, weights, 0),
        (steps, start, narrow, 0),
        (steps, start[:2], narrow, 1),
    ):
        np.testing.assert_allclose(c_function(native)(*values)[0], plain(*values)[0])
    with pytest.raises(ValueError):
        native(steps, start, narrow, 1)


def test_other_types():
    i, n = T.lvector("i"), T.fmatrix("n")

    def step(k, count, row, n):
        count = ifelse(T.eq(k % 2, 0), T.sort(count), count * 3)
        row = ifelse(T.eq(k % 3, 0), T.dot(n, row), row)
        return count, row

    counts, row = T.lvector("counts"), T.fvector("row")
    results, _ = theano.scan(step, sequences=i, outputs_info=[counts, row], non_sequences=n)
    values = [np.arange(4), np.array([5, -2, 1]), np.float32(start), np.float32(weights)]
    check([i, counts, row, n], results, *values)


@pytest.mark.parametrize("size", [3, 300])
def test_with_threads_and_profiles(size, monkeypatch):
    h, _ = theano.scan(
        lambda u, h, W: ifelse(T.gt(u, 0), T.tanh(T.dot(h, W)), -h),
        sequences=x,
        outputs_info=W,
        non_sequences=W,
    )
    outputs = [h[-1], T.grad(h[-1].sum(), W)]
    value = np.random.default_rng(1).normal(size=(size, size)) / size**0.5
    plain = theano.function([x, W], outputs, mode=theano.Mode("py", None))(steps, value)
    for profile in (False, True):
        function = theano.function([x, W], outputs, profile=profile)
        for ours, theirs in zip(function(steps, value), plain, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)
    assert "branch" in str(theano.link.native.profile(function))
