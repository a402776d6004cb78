"""Reductions of element-wise work, in the same pass over the elements."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from tests_scan_grad.native.loops import check, compiled, numbers
from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native import source

# where what is reduced is computed to, a row at a time
IN_ONE_PASS = " row[1024];"

BODIES = {
    "sum": (lambda x, y, axes: (x * x + y).sum(axis=axes), np.sum),
    "largest": (lambda x, y, axes: (x * x + y).max(axis=axes), np.max),
    "product": (lambda x, y, axes: (x * x + y).prod(axis=axes), np.prod),
}
SHAPES = ((3, 5, 7), (2, 3, 1500), (40, 33, 16), (1, 4, 1), (5, 1, 1100), (6000, 2, 3))


@pytest.mark.parametrize("axes", [0, 1, 2, (0, 1), (0, 2), (1, 2), (0, 1, 2)], ids=str)
@pytest.mark.parametrize(
    ("body", "dtype"),
    [("sum", "float32"), ("sum", "float64"), ("largest", "float32"), ("product", "float64")],
)
def test_reductions_over_any_axes(body, dtype, axes):
    build, reduce = BODIES[body]
    x, y = pt.tensor3("x", dtype=dtype), pt.matrix("y", dtype=dtype)
    function = compiled([x, y], build(x, y, axes))
    assert IN_ONE_PASS in source(function)
    for shape in SHAPES:
        given = numbers(*shape, dtype=dtype), numbers(*shape[1:], seed=1, dtype=dtype)
        if body == "product":
            given = given[0] * 0, given[1] * 0.01 + 1
        wide = [one.astype("float64") for one in given]
        expected = reduce(wide[0] ** 2 + wide[1], axis=axes)
        scale = max(1.0, np.abs(expected).max(initial=0))
        tolerance = 1e-12 if dtype == "float64" else 3e-5
        np.testing.assert_allclose(function(*given), expected, tolerance, tolerance * scale)


@pytest.mark.parametrize(("axes", "joined"), [(0, False), (1, True), ((0, 1), True)], ids=str)
def test_threads_share_functions_of_few_columns(axes, joined):
    """Summands that one thread would add up alone are computed beforehand, by all threads."""
    x = pt.dmatrix("x")
    function = compiled([x], pt.tanh(x).sum(axis=axes))
    assert (IN_ONE_PASS in source(function)) == joined
    values = numbers(300, 3)
    np.testing.assert_allclose(function(values), np.tanh(values).sum(axis=axes))


@pytest.mark.parametrize("axes", [0, 1, (0, 1)], ids=str)
def test_nothing_to_reduce(axes):
    x, y = pt.dmatrices("xy")
    function = compiled([x, y], (x * y + x).sum(axis=axes))
    for shape in ((0, 5), (5, 0), (0, 0), (1, 1)):
        given = numbers(*shape), numbers(*shape, seed=1)
        expected = (given[0] * given[1] + given[0]).sum(axis=axes)
        np.testing.assert_allclose(function(*given), expected)


def test_what_is_reduced_may_be_a_result_too():
    x = pt.fmatrix("x")
    raised = pt.exp(x - x.max(axis=1, keepdims=True))
    function = compiled([x], [raised, raised.sum(axis=1), raised / raised.sum(axis=1)[:, None]])
    # a row of the result itself
    assert "many = tn_smaller(" in source(function)
    values = numbers(9, 2100, dtype="float32")
    expected = np.exp(values - values.max(axis=1, keepdims=True))
    found = function(values)
    np.testing.assert_allclose(found[0], expected, rtol=1e-5)
    np.testing.assert_allclose(found[1], expected.sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(found[2], expected / expected.sum(axis=1)[:, None], rtol=1e-5)


def test_whole_numbers_and_truth_values():
    x, y = pt.lmatrices("xy")
    function = compiled([x, y], [(x * y + 1).sum(axis=0), pt.any(x > y, axis=1), (x + y).sum()])
    assert IN_ONE_PASS in source(function)
    x_value, y_value = np.random.default_rng(0).integers(-9, 9, (2, 70, 90))
    found = function(x_value, y_value)
    np.testing.assert_array_equal(found[0], (x_value * y_value + 1).sum(axis=0))
    np.testing.assert_array_equal(found[1], (x_value > y_value).any(axis=1))
    np.testing.assert_array_equal(found[2], (x_value + y_value).sum())


def test_operands_in_any_order_of_memory():
    x, y, z = pt.dtensor3("x"), pt.dmatrix("y"), pt.dvector("z")
    function = compiled([x, y, z], (x[::-1, :, ::2].transpose(2, 0, 1) * y.T + z).sum(axis=1))
    x_value, y_value, z_value = numbers(4, 6, 10), numbers(6, 4, seed=1), numbers(6, seed=2)
    expected = (x_value[::-1, :, ::2].transpose(2, 0, 1) * y_value.T + z_value).sum(axis=1)
    np.testing.assert_allclose(function(x_value, y_value, z_value), expected, rtol=1e-12)


def attending(x, h, keys, values, W, v):
    """Weights of keys, and the sum of values so weighted, as the next state."""
    shares = pt.exp(pt.tanh(keys + h.dot(W)).dot(v))
    return pt.tanh((shares[:, :, None] * values).sum(axis=0) / shares.sum(axis=0)[:, None] + x)


def attention(dtype="float64"):
    x, keys, values = (pt.tensor3(name, dtype=dtype) for name in ("x", "keys", "values"))
    h, W = (pt.matrix(name, dtype=dtype) for name in ("h", "W"))
    v = pt.vector("v", dtype=dtype)
    inputs = [x, h, keys, values, W, v]
    states = pytensor.scan(
        attending, [x], [h], non_sequences=[keys, values, W, v], return_updates=False
    )
    cost = (states**2).sum()
    return inputs, [cost, *pytensor.grad(cost, inputs)]


SIZES = (5, 3, 12), (3, 12), (7, 3, 12), (7, 3, 12), (12, 12), (12,)


def test_a_loop_that_attends():
    inputs, outputs = attention()
    given = [numbers(*shape, seed=seed) * 0.5 for seed, shape in enumerate(SIZES)]
    native = check(inputs, outputs, given, [one * 0.3 for one in given])
    assert source(native).count(IN_ONE_PASS) >= 3


def test_a_state_that_is_reduced_into_its_own_memory():
    """The row of a state is read by the map whose sum becomes the next state."""
    x = pt.dtensor3("x")
    states = pytensor.scan(
        lambda x, s: (pt.tanh(x) * s + s).sum(axis=0),
        [x],
        [pt.ones(x.shape[2])],
        return_updates=False,
    )
    last = states[-1]
    given = numbers(6, 5, 2000) * 0.1
    native = check([x], [last, pytensor.grad(last.sum(), x)], [given])
    assert IN_ONE_PASS in source(native)


def test_threads_reduce_to_the_same_bits(any_work):
    inputs, outputs = attention("float32")
    function = compiled(inputs, outputs)
    sizes = (9, 6, 80), (6, 80), (20, 6, 80), (20, 6, 80), (80, 80), (80,)
    given = [numbers(*shape, seed=k, dtype="float32") * 0.2 for k, shape in enumerate(sizes)]
    runtime_calls.set_threads(1)
    expected = function(*given)
    for threads in (2, 3, 5):
        runtime_calls.set_threads(threads)
        for ours, theirs in zip(function(*given), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
