"""Loops of ufuncs that C calls are tried out, and Python draws where there is none."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import theano
from theano.link.native import report, source
from theano.link.native.lowering.operations.sampling import generator_samples
from theano.tensor.numpy_samplers import ufunc_loops


@pytest.mark.parametrize("name", ufunc_loops.LOOPS)
def test_each_loop_is_found(name):
    assert ufunc_loops.loop_of(name)[0]
    assert ufunc_loops.missing_loops((name,)) == ""


def test_a_loop_of_another_function_is_not_taken():
    function, data = ufunc_loops.loop_of("log")
    assert ufunc_loops._gives_the_same(np.log, function, data)
    assert not ufunc_loops._gives_the_same(np.tan, function, data)


def test_what_is_no_ufunc_has_no_loop(monkeypatch):
    monkeypatch.setitem(ufunc_loops.LOOPS, "sin", "no_such_module")
    monkeypatch.setitem(ufunc_loops.LOOPS, "mean", "numpy")
    assert ufunc_loops.loop_of("sin") == (0, 0)
    assert ufunc_loops.loop_of("mean") == (0, 0)
    assert ufunc_loops.missing_loops(("tan", "mean")).startswith("no loop for mean was found")


def test_python_draws_where_a_loop_is_missing(monkeypatch):
    monkeypatch.setattr(generator_samples, "missing_loops", lambda names: "none" if names else "")
    generator = pytensor.shared(np.random.default_rng(3))

    def step(rng):
        return pt.random.gumbel(0.0, 1.0, rng=rng, return_next_rng=True)

    last, draws = pytensor.scan(
        step, outputs_info=[generator, None], n_steps=4, return_updates=False
    )
    functions = [
        pytensor.function([], draws, updates={generator: last}, mode=mode)
        for mode in (theano.compile.mode.get_mode("NATIVE"), "FAST_COMPILE")
    ]
    (loop,) = report(functions[0]).loops
    assert "draws of gumbel: none" in loop.reason
    found = []
    for function in functions:
        generator.set_value(np.random.default_rng(3))
        found.append(function())
    np.testing.assert_array_equal(*found)


DRAWN = {
    "by NumPy": lambda rng, x: pt.random.gamma(
        x[0], scale=1, size=3, rng=rng, return_next_rng=True
    ),
    "by a ufunc": lambda rng, x: pt.random.gengamma(
        x[0], x[1], size=3, rng=rng, return_next_rng=True
    ),
    "rows": lambda rng, x: pt.random.multivariate_normal(
        x, np.eye(2), rng=rng, return_next_rng=True
    ),
}


@pytest.mark.parametrize("drawn", DRAWN)
def test_loops_that_draw_keep_denormals(drawn):
    parameters, generator = pt.dvector(), pytensor.shared(np.random.default_rng(3))
    last, draws = pytensor.scan(
        DRAWN[drawn],
        outputs_info=[generator, None],
        non_sequences=parameters,
        n_steps=3,
        return_updates=False,
    )
    function = theano.function([parameters], draws, updates=[(generator, last)], mode="NATIVE")
    assert [loop.reason for loop in report(function).loops] == [None]
    assert "flush_denormals_begin()" not in source(function)
