"""Operations that are graphs of others (`OpFromGraph`), on the device."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.link.xla import report

pytest.importorskip("jax")

VALUE = np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize("inline", [False, True])
def test_an_operation_made_of_a_graph_is_part_of_the_program(inline):
    a, b = T.vectors("a", "b")
    op = theano.OpFromGraph([a, b], [a * T.tanh(b), a.sum()], inline=inline)
    x = T.vector("x")
    product, total = op(x, x + 1)
    outputs = [product, total, theano.grad((product * total).sum(), x)]
    f = theano.function([x], outputs, mode="XLA")
    expected = theano.function([x], outputs)(VALUE)
    for actual, value in zip(f(VALUE), expected, strict=True):
        np.testing.assert_allclose(actual, value, rtol=1e-12)
    assert report(f).host == () and len(report(f).stages) == 1


def test_an_operation_made_of_a_graph_in_a_loops_step():
    a, b = T.scalars("a", "b")
    op = theano.OpFromGraph([a, b], [T.sin(a) * b])
    x = T.vector("x")
    states, _ = theano.scan(lambda x, s: op(x, s) + x, x, T.ones(()))
    outputs = [states, theano.grad(states[-1], x)]
    f = theano.function([x], outputs, mode="XLA")
    for actual, value in zip(f(VALUE), theano.function([x], outputs)(VALUE), strict=True):
        np.testing.assert_allclose(actual, value, rtol=1e-12)
    assert report(f).host == ()


def test_a_loop_inside_an_operation_made_of_a_graph():
    a = T.vector("a")
    sums, _ = theano.scan(lambda x, s: x + s, a, T.zeros(()))
    op = theano.OpFromGraph([a], [sums])
    x = T.vector("x")
    f = theano.function([x], op(2 * x)[-1], mode="XLA")
    np.testing.assert_allclose(f(VALUE), 2 * VALUE.sum())
    assert report(f).host == ()


def test_an_operation_inside_that_only_python_has_is_on_the_host():
    a = T.vector("a")
    op = theano.OpFromGraph([a], [a[a > 0].sum()])
    x = T.vector("x")
    f = theano.function([x], op(2 * x) + 1, mode="XLA")
    np.testing.assert_allclose(f(VALUE), 6.0)
    assert report(f).host
