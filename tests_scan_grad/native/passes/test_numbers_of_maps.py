"""Several numbers of what is computed element by element: one pass makes all of them."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from tests_scan_grad.native.loops import compiled, native_mode, numbers, python_mode, same
from tests_scan_grad.native.passes.statements import segment_after_passes
from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native import source


def regression(x, y, slope, scale, library=pt):
    """The log density of residuals, and its gradient in a slope and a scale."""
    rest = y - slope * x
    return [
        (-0.5 * (rest / scale) ** 2 - library.log(scale)).sum(),
        (rest * x / scale**2).sum(),
        (rest**2 / scale**3).sum(),
    ]


@pytest.mark.parametrize("size", [None, 600, 5000, 300_000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_of_one_pass(size, dtype):
    x, y = (pt.vector(name, dtype=dtype, shape=(size,)) for name in "xy")
    slope, scale = (pt.scalar(name, dtype=dtype) for name in ("slope", "scale"))
    inputs = [x, y, slope, scale]
    outputs = regression(*inputs)
    _, lines = segment_after_passes(lambda: pytensor.function(inputs, outputs, mode=native_mode()))
    maps = [line for line in lines if line.startswith("mapreduce")]
    assert len(maps) == 1, lines
    function = compiled(inputs, outputs)
    for length in [size] if size else [0, 1, 7, 4097, 70_001]:
        given = numbers(length, dtype=dtype), numbers(length, seed=1, dtype=dtype)
        wide = [one.astype("float64") for one in given]
        expected = regression(*wide, 0.5, 1.5, np)
        found = function(*given, 0.5, 1.5)
        tolerance = 1e-5 if dtype == "float32" else 1e-12
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, tolerance, tolerance * max(length, 1))


def test_numbers_of_any_type_and_a_result():
    """Sums, a maximum, a truth value and a count, of what is returned as well."""
    x, k = pt.dvector("x"), pt.lvector("k")
    y = pt.tanh(x) * k
    outputs = [y, y.sum(), y.max(), pt.all(y < 3), (k * k).sum(), (y > 0).sum(), y.prod()]
    given = numbers(9000), np.random.default_rng(1).integers(-1, 2, 9000)
    function = compiled([x, k], outputs)
    reference = pytensor.function([x, k], outputs, mode=python_mode())
    same(function(*given), reference(*given))
    same(function(given[0][:5], given[1][:5]), reference(given[0][:5], given[1][:5]))


@pytest.mark.parametrize("shape", [(3, 50_000), (50_000, 3), (40, 30, 60), (1, 9000, 1)])
def test_threads_make_the_same_bits(any_work, shape):
    x, w = pt.tensor("x", shape=(None,) * len(shape)), pt.vector("w")
    y = pt.exp(-(x**2)) * w
    function = compiled([x, w], [y.sum(), (y * x).sum(), y.max()])
    given = numbers(*shape), numbers(shape[-1], seed=1)
    runtime_calls.set_threads(1)
    expected = function(*given)
    y = np.exp(-(given[0] ** 2)) * given[1]
    np.testing.assert_allclose(expected, [y.sum(), (y * given[0]).sum(), y.max()], rtol=1e-11)
    for threads in (2, 3, 5):
        runtime_calls.set_threads(threads)
        np.testing.assert_array_equal(function(*given), expected)


def test_a_pass_is_a_function_where_it_repeats():
    """Numbers that it makes are what the function returns, and what it stores."""
    x = pt.dmatrix("x", shape=(40, 600))
    terms = [pt.sqr(x[k] - x[k].sum() / 600) for k in range(40)]
    outputs = [pt.stack([t.sum() for t in terms]), pt.stack([(t * t).sum() for t in terms])]
    function = compiled([x], outputs)
    assert "*further1 = returned1;" in source(function)
    value = numbers(40, 600)
    terms = (value - value.mean(axis=1, keepdims=True)) ** 2
    for found, expected in zip(function(value), [terms.sum(1), (terms**2).sum(1)], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11)


def counts_density(k, mean, shape):
    """The terms of a negative binomial density, which functions of counts make."""
    allowed = pt.ge(k, 0)
    terms = pt.gammaln(k + shape) - pt.gammaln(k + 1) - pt.gammaln(shape) + k * pt.log(mean)
    terms -= (k + shape) * pt.log(mean + shape)
    return pt.switch(allowed, pt.switch(pt.eq(k, 0), terms / 2, terms), -np.inf)


@pytest.mark.parametrize("dtype", ["uint16", "int32", "int64"])
@pytest.mark.parametrize("size", [20, 3000])
def test_functions_of_counts_run_on_vectors(dtype, size):
    k, mean, shape = pt.vector("k", dtype=dtype), pt.dvector("mean"), pt.dscalar("shape")
    terms = counts_density(k, mean, shape)
    outputs = [terms, terms.sum(), pytensor.grad(terms.sum(), shape)]
    function = compiled([k, mean, shape], outputs)
    assert "tn_v_gammaln_f64(" in source(function)
    reference = pytensor.function([k, mean, shape], outputs, mode=python_mode())
    counts = np.random.default_rng(2).integers(0 if dtype == "uint16" else -1, 90, size)
    given = counts.astype(dtype), np.exp(numbers(size)), 2.5
    with np.errstate(all="ignore"):
        same(function(*given), reference(*given))


def test_large_integers_keep_their_digits():
    """They are compared and added up as integers, and rounded once."""
    k, x = pt.lvector("k"), pt.dvector("x")
    outputs = [pt.switch(pt.eq(k, 2**53 + 1), pt.exp(x), x), pt.tanh(x) * (k + 1), (k - 1) / x]
    function = compiled([k, x], outputs)
    reference = pytensor.function([k, x], outputs, mode=python_mode())
    given = np.array([2**53, 2**53 + 1, 2**62, -(2**62), 0] * 9), numbers(45)
    same(function(*given), reference(*given))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_truth_value_that_all_elements_share_is_a_mask(dtype):
    x, least = pt.matrix("x", dtype=dtype), pt.vector("least", dtype=dtype, shape=(1,))
    positive = (least > 0)[None]
    outputs = [pt.switch(positive, pt.exp(x), x), pt.tanh(x) * positive]
    function = compiled([x, least], outputs)
    assert "tn_v_exp_f" in source(function)
    reference = pytensor.function([x, least], outputs, mode=python_mode())
    for value in (-1, 1):
        given = numbers(5, 19, dtype=dtype), np.array([value], dtype)
        same(function(*given), reference(*given))


def test_an_element_is_not_read_before_its_position_is_checked():
    x, y = pt.dvectors("x", "y")
    outputs = [(y * 2).sum(), x[pt.argmax(y)] + 1]
    function, lines = segment_after_passes(
        lambda: pytensor.function([x, y], outputs, mode=native_mode())
    )
    (check,) = [k for k, line in enumerate(lines) if line.startswith("check")]
    assert any(line.startswith("load") for line in lines[check:]), lines
    found = function(np.array([3.0, 4.0]), np.array([0.0, 5.0, -1.0]))
    np.testing.assert_array_equal(found, [8, 5])
    with pytest.raises(IndexError):
        function(np.array([3.0, 4.0]), np.array([0.0, 5.0, 6.0]))


def test_a_number_between_two_maps_does_not_keep_them_apart():
    x, scale = pt.dvector("x", shape=(5000,)), pt.dscalar("scale")
    y = (x / scale) ** 2
    outputs = [y.sum(), (y - pt.log(scale)).sum(), pt.exp(-y.sum())]
    _, lines = segment_after_passes(
        lambda: pytensor.function([x, scale], outputs, mode=native_mode())
    )
    assert len([line for line in lines if line.startswith("map")]) == 1, lines
