"""In loops, few rows are accumulated in vectors of neighbouring results as they are computed."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from tests_scan_grad.native.loops import both, check, numbers
from tests_scan_grad.native.lowering.evaluations import native_loop
from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native import source
from theano.link.native.schedule.in_registers import IN_REGISTERS

# the vector in which a result is accumulated
IN_VECTORS = "v total = TN_SPLAT"
REDUCED = {
    "best": lambda z: z.max(axis=0),
    "worst": lambda z: z.min(axis=0),
    "sum": lambda z: z.sum(axis=0) / 8,
    "product": lambda z: (z / 64 + 1).prod(axis=0),
}


def loop_of(reduced, dtype="float64"):
    x, a = pt.matrix("x", dtype=dtype), pt.matrix("a", dtype=dtype)
    h = pt.vector("h", dtype=dtype)
    states = pytensor.scan(
        lambda x, h, a: REDUCED[reduced](h[:, None] + a * x),
        [x],
        [h],
        non_sequences=[a],
        return_updates=False,
    )
    return [x, a, h], states


def given_of(steps, size, dtype="float64"):
    return [
        numbers(steps, size, dtype=dtype),
        numbers(size, size, seed=1, dtype=dtype),
        numbers(size, seed=2, dtype=dtype),
    ]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reduced", REDUCED)
def test_an_outer_form_is_reduced_along_its_columns(reduced, dtype):
    inputs, states = loop_of(reduced, dtype)
    native = check(inputs, [states], *(given_of(3, size, dtype) for size in (1, 3, 8, 21, 64)))
    wide = dtype == "float32" and reduced in ("sum", "product")
    assert (IN_VECTORS in source(native)) != wide


def test_many_rows_are_reduced_a_block_at_a_time():
    inputs, states = loop_of("sum")
    size = int(IN_REGISTERS**0.5) + 3
    native = check(inputs, [states], given_of(2, size))
    assert " row[1024];" in source(native)


def test_rows_without_columns_and_columns_without_rows():
    x, a = pt.dtensor3("x"), pt.dvector("a")
    states = pytensor.scan(
        lambda x, h, a: (x * a).sum(axis=0) + h,
        [x],
        [pt.zeros(x.shape[2])],
        non_sequences=[a],
        return_updates=False,
    )
    check([x, a], [states], *([numbers(2, *n), numbers(n[1])] for n in ((0, 5), (5, 0), (1, 1))))


@pytest.mark.parametrize("place", [0, 3, 6])
@pytest.mark.parametrize("reduced", ["best", "worst"])
def test_nan_stays_and_no_other_number_is_lost(reduced, place):
    inputs, states = loop_of(reduced)
    native, reference = both(inputs, [states])
    x, a, h = given_of(1, 7)
    a[place, 2] = np.nan
    a[5, 4], a[6, 4] = np.inf, -np.inf
    np.testing.assert_array_equal(native(x, a, h)[0], reference(x, a, h)[0])


def test_elements_that_others_read_are_stored_too():
    x, a, h = pt.dmatrix("x"), pt.dmatrix("a"), pt.dvector("h")

    def step(x, h, a):
        z = h[:, None] + a
        return z.max(axis=0) + x, z

    found = pytensor.scan(step, [x], [h, None], non_sequences=[a], return_updates=False)
    native = check([x, a, h], found, given_of(4, 11))
    assert IN_VECTORS in source(native)


def test_gradients_of_the_best_and_of_a_sum_of_exponentials():
    for reduced in (REDUCED["best"], lambda z: pt.log(pt.exp(z - z.max(axis=0)).sum(axis=0))):
        x, a, h = pt.dmatrix("x"), pt.dmatrix("a"), pt.dvector("h")
        states = pytensor.scan(
            lambda x, h, a, reduced=reduced: reduced(h[:, None] + a) + x,
            [x],
            [h],
            non_sequences=[a],
            return_updates=False,
        )
        cost = (states[-1] ** 2).sum()
        check([x, a, h], [cost, *pytensor.grad(cost, [x, a, h])], given_of(5, 9))


def test_threads_reduce_to_the_same_bits(any_work):
    inputs, states = loop_of("sum")
    native, _ = both(inputs, [states])
    given = given_of(6, 100)
    runtime_calls.set_threads(1)
    (expected,) = native(*given)
    for threads in (2, 3, 5):
        runtime_calls.set_threads(threads)
        np.testing.assert_array_equal(native(*given)[0], expected)


def steps_of_matrices(step, states):
    """Return the results of a step of matrices and a number, and their values by the engine and by Python."""
    x, h = pt.tensor3("x"), pt.scalar("h")
    found = pytensor.scan(step, [x], [h, *[None] * (states - 1)], return_updates=False)
    found = found if isinstance(found, list) else [found]
    return check([x, h], found, *([abs(numbers(2, *s)) + 1, np.array(1.5)] for s in SHAPES))


SHAPES = [(1, 3), (3, 5), (8, 21)]


@pytest.mark.parametrize(
    "reduced", [lambda z: z.sum(axis=0).max(), lambda z: z.max(axis=0).min()], ids=["sum", "best"]
)
@pytest.mark.parametrize("made", [lambda z: z, pt.exp], ids=["quotient", "exp"])
def test_elements_may_be_divided_by_one_number(reduced, made):
    steps_of_matrices(lambda x, h: reduced(made(x / h)), 1)


@pytest.mark.parametrize("reduced", [pt.any, pt.all])
def test_a_mask_may_be_reduced_and_kept(reduced):
    def step(x, h):
        mask = x > h + 0.5
        return h + 0.25, mask, reduced(mask, axis=0)

    steps_of_matrices(step, 3)


def test_a_reduced_axis_may_be_known_to_have_length_1():
    # no rewrite has left the reduction out
    x = pt.tensor("x", shape=(None, 1))
    value = numbers(2, 1)
    (found,) = native_loop([x], [pt.special.log_softmax(pt.exp(x), axis=1)])(value)
    np.testing.assert_array_equal(found, np.zeros((2, 1)))
