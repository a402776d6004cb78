"""Loops of mode 'XLA' that stop early."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.xla.loop_programs import agree, loops_on_host

pytest.importorskip("jax")

X = np.random.default_rng(5).uniform(0.1, 1, (6, 3))
# stops in no step, in the first one, in one between
BOUNDS = (100.0, 0.0, 4.0)


def summed(x, bound, **kwargs):
    """Running sums of rows, until their sum is above a bound."""
    outputs, _ = theano.scan(
        lambda x, s: ((s + x), theano.scan_module.until((s + x).sum() > bound)),
        sequences=[x],
        outputs_info=[T.zeros_like(x[0])],
        **kwargs,
    )
    return outputs


def running_sums(x, bound):
    """The same in NumPy."""
    sums = np.cumsum(x, axis=0)
    above = np.flatnonzero(sums.sum(axis=1) > bound)
    return sums[: above[0] + 1] if above.size else sums


def test_the_last_value_is_known_to_be_one_row():
    x, bound = T.dmatrix("x"), T.dscalar("bound")
    s = summed(x, bound)
    f = agree([x, bound], [s[-1], s[-1].sum()], *((X, b) for b in BOUNDS))
    assert len(f.vm.plan.stages) == 1


def test_results_of_unknown_length_end_their_program():
    x, bound = T.dmatrix("x"), T.dscalar("bound")
    s = summed(x, bound)
    f = agree([x, bound], [s, s[-1], s.sum(axis=0), s.shape[0]], *((X, b) for b in BOUNDS))
    assert [stage.on_device for stage in f.vm.plan.stages] == [True, True]


def test_gradients_follow_the_steps_that_were_made():
    x, bound = T.dmatrix("x"), T.dscalar("bound")
    cost = (summed(x, bound) ** 2).sum()
    f = theano.function([x, bound], [cost, theano.grad(cost, x)], mode="XLA")
    for value in BOUNDS:
        sums = running_sums(X, value)
        steps = len(sums)
        gradient = np.zeros_like(X)
        gradient[:steps] = np.cumsum(2 * sums[::-1], axis=0)[::-1]
        found_cost, found = f(X, value)
        np.testing.assert_allclose(found_cost, (sums**2).sum(), rtol=1e-12)
        np.testing.assert_allclose(found, gradient, rtol=1e-12)
    assert loops_on_host(f) == []


def test_several_taps_and_traces_that_are_read_in_part():
    x, bound = T.dmatrix("x"), T.dscalar("bound")
    (s, squares), _ = theano.scan(
        lambda x, old, new: (
            (old + x, new**2),
            {},
            theano.scan_module.until((old + x).sum() > bound),
        ),
        sequences=[x],
        outputs_info=[{"initial": x[:2], "taps": [-2, -1]}, None],
    )
    for read in (slice(None), slice(-1, None), slice(None, None, 2)):
        agree([x, bound], [s[read], squares[read]], *((X, b) for b in BOUNDS))


def test_a_loop_inside_another_that_reads_its_rows_runs_on_the_host():
    x, bound = T.dmatrix("x"), T.dscalar("bound")
    totals, _ = theano.scan(
        lambda row, total: total + summed(x * row, bound).sum(),
        sequences=[x],
        outputs_info=[T.zeros((), "float64")],
    )
    f = theano.function([x, bound], totals, mode="XLA")
    expected = [running_sums(X * row, 2.0).sum() for row in X]
    np.testing.assert_allclose(f(X, 2.0), np.cumsum(expected), rtol=1e-12)
    (reason,) = loops_on_host(f)
    assert "whose number depends on values" in reason


@pytest.mark.parametrize("most", [2**31 + 3, 2**33, 2**62])
def test_a_loop_that_may_make_more_steps_than_an_int32_counts(most):
    # the counter was an int32, and a bound of 2**31 and more was one of no steps
    start, steps = T.dscalar("start"), T.lscalar("steps")
    states, _ = theano.scan(
        lambda h: (T.tanh(h) + 1, theano.scan_module.until(h > 1.5)),
        outputs_info=start,
        n_steps=steps,
    )
    f = theano.function([start, steps], states[-1], mode="XLA")
    np.testing.assert_allclose(f(0.0, most), f(0.0, 5))
