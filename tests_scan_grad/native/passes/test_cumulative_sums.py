"""Sums and products so far: NumPy's, along any axis, of any strides, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt
import pytest

from tests_scan_grad.native.loops import compiled, numbers
from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native import source

SHAPES = ((7, 5, 9), (3, 2, 2050), (1, 6, 1), (0, 3, 2), (3, 0, 2), (2, 3, 0), (70, 1, 3))


@pytest.mark.usefixtures("any_work")
@pytest.mark.short_segments
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_along_each_axis(axis, dtype):
    x = pt.tensor3("x", dtype=dtype)
    function = compiled([x], [pt.cumsum(x, axis), pt.cumprod(x, axis)])
    assert "share_out(" in source(function).rpartition("int64_t segment0(")[2]
    for shape in SHAPES:
        value = (numbers(*shape) * 3).astype(dtype)
        given = [value, np.asfortranarray(value), value[::-1, :, ::-1]]
        for one in given:
            expected = [f(one, axis, dtype=dtype) for f in (np.cumsum, np.cumprod)]
            for threads in (1, 2, 3):
                runtime_calls.set_threads(threads)
                for found, wanted in zip(function(one), expected, strict=True):
                    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("count", [0, 1, 5, 200_000])
def test_of_a_vector(count):
    x = pt.fvector("x")
    value = numbers(count, dtype="float32")
    value[: count // 3 : 7] = np.inf
    np.testing.assert_array_equal(compiled([x], pt.cumsum(x))(value), np.cumsum(value))


def test_rows_are_done_side_by_side_and_columns_row_by_row():
    x = pt.dmatrix("x")
    assert "total3 = total3 + x3[k" in source(compiled([x], pt.cumsum(x, 1)))
    assert "y[k] = before[k] + x[k" in source(compiled([x], pt.cumsum(x, 0)))
