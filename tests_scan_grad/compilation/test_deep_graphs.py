"""Graphs deeper than Python's calls may go are differentiated and compiled, or refused as text."""

from __future__ import annotations

import inspect
import re
import sys
import threading

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.link.native import report
from theano.link.native.lowering import step
from theano.support import recursion_depth


@pytest.fixture
def little_room():
    """Calls inside one another for about a hundred operations."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 250)
    yield
    sys.setrecursionlimit(before)


def chain(length):
    x = result = T.vector("x")
    for k in range(length):
        result = T.tanh(result) if k % 2 else result + 0.5
    return x, result


def computed(value, length):
    for k in range(length):
        value = np.tanh(value) if k % 2 else value + 0.5
    return value


@pytest.mark.parametrize("mode", ["NATIVE", "FAST_COMPILE"])
@pytest.mark.usefixtures("little_room")
def test_a_long_chain_compiles(mode):
    before = sys.getrecursionlimit(), threading.stack_size()
    x, result = chain(600)
    function = theano.function([x], result, mode=mode)
    value = np.linspace(-1, 1, 5)
    np.testing.assert_allclose(function(value), computed(value, 600))
    assert (sys.getrecursionlimit(), threading.stack_size()) == before


@pytest.mark.usefixtures("little_room")
def test_the_gradient_of_many_layers_compiles():
    x = h = T.matrix("x")
    weights = [theano.shared(np.eye(2) * 0.9, f"w{k}") for k in range(120)]
    for w in weights:
        h = T.tanh(h.dot(w))
    gradients = theano.grad(h.sum(), weights)
    function = theano.function([x], [gradients[0], gradients[-1]], mode="FAST_COMPILE")
    states = [np.ones((1, 2)) / 2]
    for _ in weights:
        states.append(np.tanh(states[-1] * 0.9))
    back = np.ones((1, 2))
    found = []
    for k in reversed(range(120)):
        back = back * (1 - states[k + 1] ** 2)
        found.append(states[k].T @ back)
        back = back * 0.9
    for got, expected in zip(function(states[0]), (found[-1], found[0]), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-300)


@pytest.mark.usefixtures("little_room")
def test_what_is_too_deep_is_refused_in_words(monkeypatch):
    """Or compiled: PyTensor 3.3 walks such a graph without calls inside one another."""
    monkeypatch.setattr(recursion_depth, "DEEPEST", sys.getrecursionlimit() + 100)
    x, result = chain(3000)
    try:
        function = theano.function([x], result)
    except RecursionError as error:
        assert re.search("theano.scan.*compile the graph in parts", str(error), re.DOTALL)
    else:
        assert sys.version_info >= (3, 12)
        value = np.linspace(-1, 1, 5)
        np.testing.assert_allclose(function(value), computed(value, 3000))


@pytest.mark.usefixtures("little_room")
def test_errors_of_deep_graphs_are_those_of_others():
    x, result = chain(600)
    y = T.vector("y")
    with pytest.raises(theano.gof.MissingInputError):
        theano.function([x], result + y)


def test_long_passes_over_elements_are_several(monkeypatch):
    monkeypatch.setattr(step, "MOST_IN_A_MAP", 10)
    x, result = chain(64)
    function = theano.function([x], [result, T.exp(result) * x], mode="NATIVE")
    assert len(report(function).segments) == 1
    value = np.linspace(-1, 1, 37)
    expected = computed(value, 64)
    for got, wanted in zip(function(value), (expected, np.exp(expected) * value), strict=True):
        np.testing.assert_allclose(got, wanted)


def test_a_function_is_named_after_the_line_that_makes_it():
    x = T.dvector("x")
    function = theano.function([x], x + 1)
    assert function.name.startswith(__file__)
