"""Constants have the dtype in which they are read, so that a pass over them runs on vectors."""

import numpy as np
import pytest
from pytensor.graph.basic import Constant

import theano
import theano.tensor as T
from theano.link.native import source


def constants_of(function):
    nodes = function.maker.fgraph.apply_nodes
    return [v for node in nodes for v in node.inputs if isinstance(v, Constant) and v.type.ndim]


@pytest.mark.parametrize("dtype", ["float32", "int8", "int64"])
def test_a_constant_has_the_dtype_of_the_arithmetic(dtype):
    x = T.dvector("x")
    numbers = np.arange(40).astype(dtype)
    f = theano.function([x], T.switch(x > 0, numbers, T.exp(x)), mode=theano.Mode("native"))
    kinds = {v.type.dtype for v in constants_of(f) if v.data.size == 40}
    assert kinds == {"float64"}
    given = np.linspace(-2, 2, 40)
    np.testing.assert_allclose(f(given), np.where(given > 0, numbers, np.exp(given)), rtol=1e-12)


def test_a_pass_over_narrow_constants_is_in_vectors():
    x = T.dvector("x")
    narrow = np.where(np.arange(500) % 3, -np.inf, 0).astype("float32")
    f = theano.function([x], T.switch(x > 0, narrow, T.exp(x)), mode=theano.Mode("native"))
    assert "tn_v_exp_f64" in source(f)
    given = np.linspace(-2, 2, 500)
    np.testing.assert_allclose(f(given), np.where(given > 0, narrow, np.exp(given)), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_a_constant_condition_is_a_boolean(dtype):
    x = T.dvector("x")
    seen = (np.arange(500) % 3).astype(dtype)
    f = theano.function([x], T.switch(seen, T.log(x), T.log1p(-x)), mode=theano.Mode("native"))
    assert {v.type.dtype for v in constants_of(f) if v.data.size == 500} == {"bool"}
    assert "tn_v_log_f64" in source(f)
    given = np.linspace(0.1, 0.9, 500)
    expected = np.where(seen != 0, np.log(given), np.log1p(-given))
    np.testing.assert_allclose(f(given), expected, rtol=1e-12)


def test_a_constant_that_would_take_many_times_the_memory_stays():
    x = T.dvector("x")
    pixels = np.ones(1 << 18, "int8")
    f = theano.function([x], T.exp(x) * pixels * (x > 0), mode=theano.Mode("native"))
    assert "int8" in {v.type.dtype for v in constants_of(f)}
