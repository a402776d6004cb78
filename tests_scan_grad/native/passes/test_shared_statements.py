"""Element-wise work and reductions outside of loops, on several threads: the same numbers as on one."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt
import pytest

from tests_scan_grad.native.loops import compiled, numbers, scan
from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native import source

pytestmark = pytest.mark.usefixtures("any_work")

SHARED = {
    "map": (lambda x, y: pt.tanh(x) * y, "x y"),
    "map-of-a-row": (lambda x, y: x + y[0], "x y"),
    "map-of-a-transpose": (lambda x, y: x.T + y.T, "x y"),
    "map-of-a-vector": (lambda x, y: pt.exp(x[:, 1]) - y[:, 0], "x y"),
    "sum-of-rows": (lambda x, y: (x * y).sum(axis=1), "x y"),
    "sum-of-columns": (lambda x, y: (x * y).sum(axis=0), "x y"),
    "sum-of-all": (lambda x, y: x.sum(), "x"),
    "sum-of-products": (lambda x, y: (x * y).sum(), "x y"),
    "sum-of-a-part": (lambda x, y: pt.exp(-x[:, 1:]).sum(), "x"),
    "least-of-all": (lambda x, y: (x + y).min(), "x y"),
    "largest": (lambda x, y: pt.maximum(x, y).max(axis=1), "x y"),
    "rows-joined": (lambda x, y: pt.concatenate([x, y], axis=0), "x y"),
    "columns-joined": (lambda x, y: pt.concatenate([x, y[:, ::-1]], axis=1), "x y"),
    "pairs": (lambda x, y: pt.stack([x, y], axis=2), "x y"),
    "tiles": (lambda x, y: pt.tile(x, (2, 3)) + pt.tile(y, (2, 3)), "x y"),
    "part-increased": (lambda x, y: pt.inc_subtensor(x[1:, 1:], y[:-1, :-1]), "x y"),
}


@pytest.mark.short_segments
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SHARED)
def test_threads_share_statements_outside_of_loops(name, dtype):
    build, names = SHARED[name]
    inputs = [pt.matrix(one, dtype=dtype) for one in names.split()]
    function = compiled(inputs, build(*inputs, *inputs[: 2 - len(inputs)]))
    assert "share_out(" in source(function).rpartition("int64_t segment0(")[2]
    for shape in ((37, 501), (1, 700), (3, 2), (0, 5), (5, 0), (410, 501)):
        if (
            (name == "largest" and not shape[1])
            or (name == "least-of-all" and 0 in shape)
            or ("row" in name and not shape[0])
        ):
            continue
        values = [numbers(*shape, seed=seed, dtype=dtype) for seed in range(len(inputs))]
        if name == "map-of-a-vector" and shape[1] < 2:
            continue
        runtime_calls.set_threads(1)
        expected = function(*values)
        for threads in (2, 3, 5):
            runtime_calls.set_threads(threads)
            np.testing.assert_array_equal(function(*values), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["max", "min", "sum", "prod"])
def test_columns_that_are_taken_several_at_a_time(name, dtype):
    x = pt.matrix("x", dtype=dtype)
    function = compiled([x], getattr(x, name)(axis=0))
    for columns in (1, 15, 16, 31, 32, 33, 100, 1030):
        values = numbers(9, columns, dtype=dtype)
        expected = getattr(values.astype("float64"), name)(axis=0)
        np.testing.assert_allclose(function(values), expected, rtol=1e-5)


@pytest.mark.parametrize("axes", [0, (0, 1), (0, 2), (1,)], ids=str)
def test_sums_of_columns_in_another_precision(axes):
    """Of more columns than are summed at a time; each sum is rounded once."""
    x = pt.ftensor4("x")
    values = numbers(3, 5, 2, 1100, dtype="float32")
    found = compiled([x], x.sum(axis=axes))(values)
    np.testing.assert_allclose(found, values.astype("float64").sum(axis=axes), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_number_of_many_elements_is_the_same_in_loops(dtype):
    """It is made from the same parts, which depend on sizes only."""
    x, factor = pt.matrix("x", dtype=dtype), pt.scalar("factor", dtype=dtype)
    (sums,) = scan(
        lambda before, x: (x * before).sum(),
        outputs_info=[factor],
        non_sequences=[x],
        n_steps=2,
    )
    in_loop, alone = compiled([x, factor], sums), compiled([x, factor], (x * factor).sum())
    assert source(in_loop).count("= tn_parts_of_number(") == 1
    for shape in ((410, 501), (3, 5), (1, 70_000), (70_000, 1), (0, 3)):
        given = numbers(*shape, dtype=dtype), np.array(0.7, dtype)
        results = set()
        for threads in (1, 2, 3):
            runtime_calls.set_threads(threads)
            results |= {in_loop(*given)[0].tobytes(), np.asarray(alone(*given)).tobytes()}
        assert len(results) == 1
