"""A step writes a state over the row before it where one map reads and writes it."""

from __future__ import annotations

import copy

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.native.loops import numbers, python_mode, same
from theano.link.native import source

STEPS = {
    "element by element": (lambda x, h, g: (0.5 * h + x, 0.9 * g + h), 2),
    "one is read in another pass": (lambda x, h, g: (T.tanh(h + x), g.sum(0) + 0 * x), 1),
    "exchanged": (lambda x, h, g: (g, h), 0),
    "a state that is the one before": (lambda x, h, g: (h + x, h), 0),
    "reversed": (lambda x, h, g: (h[:, ::-1] + x, 0.5 * g + x), 1),
    "of a product": (lambda x, h, g: (T.tanh(h.dot(h.T)).dot(x), 0.5 * g), 1),
    "read by a product": (lambda x, h, g: (0.5 * h + x, T.tanh((0.5 * h + x).dot(g))), 0),
    "rows of another": (lambda x, h, g: (h + g[0], 0.5 * g + x), 1),
}


def loop(step, results):
    """Return a function of sequence and states that gives some of each state's last rows."""
    x, h, g = T.dtensor3("x"), T.dmatrix("h"), T.dmatrix("g")
    states, _ = theano.scan(lambda *of: list(step(*of)), sequences=x, outputs_info=[h, g])
    wanted = [results(state) for state in states]
    return [theano.function([x, h, g], wanted, mode=mode) for mode in ("NATIVE", python_mode())]


@pytest.mark.parametrize("steps", [1, 2, 3, 8])
@pytest.mark.parametrize("results", ["last", "last two", "all"])
def test_each_row_that_is_kept_is_right(steps, results):
    of = {"last": lambda s: s[-1], "last two": lambda s: s[-2:], "all": lambda s: s}[results]
    native, reference = loop(STEPS["element by element"][0], of)
    given = numbers(steps, 5, 20), numbers(5, 20, seed=1), numbers(5, 20, seed=2)
    for _ in range(2):
        same(native(*given), reference(*given))
    assert "state0_stays" in source(native)


@pytest.mark.parametrize("name", STEPS)
def test_only_what_one_map_reads_and_writes_stays(name):
    step, count = STEPS[name]
    native, reference = loop(step, lambda s: s[-1])
    assert source(native).count("_stays =") == count
    for size in (4, 40, 300):
        given = [numbers(*shape) / size for shape in ((6, size, size), (size, size))]
        x, h = given
        same(native(x, h, h + 1), reference(x, h, h + 1))


def test_a_loop_that_may_stop_keeps_both_rows():
    x, h = T.dmatrix("x"), T.dvector("h")
    states, _ = theano.scan(
        lambda x, h: (0.5 * h + x, theano.scan_module.until(T.gt(x[0], 2))),
        sequences=x,
        outputs_info=h,
    )
    f = theano.function([x, h], states[-1], mode="NATIVE")
    assert "_stays" not in source(f)
    rows = np.array([[1.0, 1], [3, 1], [1, 1]])
    np.testing.assert_allclose(f(rows, np.zeros(2)), [3.5, 1.5])


@pytest.mark.parametrize("steps", [2, 3, 7])
@pytest.mark.parametrize("twice", [False, True])
def test_words_of_a_generator_advance_where_they_are(steps, twice):
    generator = pytensor.shared(np.random.default_rng(1))

    def step(rng, before):
        following, drawn = pt.random.normal(rng=rng, return_next_rng=True)
        # what draws again from the generator before keeps that
        again = pt.random.uniform(rng=rng, return_next_rng=True)[1] if twice else 0.0
        return following, before + drawn + again

    (last, sums), _ = theano.scan(
        step, outputs_info=[generator, T.constant(0.0, dtype="float64")], n_steps=steps
    )
    function = theano.function([], sums[-1], updates=[(generator, last)], mode="NATIVE")
    assert ("untraced0_stays" in source(function)) == (not twice)
    numbers = np.random.default_rng(1)
    for _ in range(2):
        expected = 0.0
        for _ in range(steps):
            more = copy.deepcopy(numbers).uniform() if twice else 0.0
            expected += numbers.normal() + more
        assert function() == pytest.approx(expected, rel=1e-14)
    assert generator.get_value().bit_generator.state == numbers.bit_generator.state
