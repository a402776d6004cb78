"""Names of graphs on disk: the same for the same graph, and another for any other."""

import itertools

import numpy as np
import pytest
from pytensor.graph.fg import FunctionGraph

import theano
import theano.tensor as T
from theano.compile.mode import get_mode
from theano.rewriting.disk import graph_pickles
from theano.rewriting.disk.graph_names import name_of


@pytest.fixture(autouse=True)
def rewrites_of_tests(monkeypatch):
    """Other tests may have registered their own rewrites, which do not change either."""
    known = graph_pickles.KNOWN_CODE | {"tests_scan_grad"}
    monkeypatch.setattr(graph_pickles, "KNOWN_CODE", known)


def _loop(step, name=None, **options):
    x = T.dvector("x")
    h, _ = theano.scan(step, sequences=x, outputs_info=T.zeros((), "float64"), name=name, **options)
    return [x], [h]


def _two_inputs(result):
    x, y = T.dvectors("x", "y")
    return [x, y], result(x, y)


def _taps(taps):
    x = T.dvector("x")
    h, _ = theano.scan(
        lambda a: 2 * a, outputs_info=[{"initial": x, "taps": taps}], n_steps=3, name="taps"
    )
    return [x], [h]


# pairs differ in one thing only
GRAPHS = {
    "sum": lambda: _two_inputs(lambda x, y: [x + y]),
    "twice the first": lambda: _two_inputs(lambda x, y: [x + x]),
    "difference": lambda: _two_inputs(lambda x, y: [x - y]),
    "difference, the other way": lambda: _two_inputs(lambda x, y: [y - x]),
    "order of results": lambda: _two_inputs(lambda x, y: [x - y, y - x]),
    "other order of results": lambda: _two_inputs(lambda x, y: [y - x, x - y]),
    "a result twice": lambda: _two_inputs(lambda x, y: [x - y, x - y]),
    "an input": lambda: _two_inputs(lambda x, y: [x]),
    "the other input": lambda: _two_inputs(lambda x, y: [y]),
    "a constant": lambda: _two_inputs(lambda x, y: [x * 2.5]),
    "another constant": lambda: _two_inputs(lambda x, y: [x * 2.25]),
    "positive zero": lambda: _two_inputs(lambda x, y: [x * 0.0]),
    "negative zero": lambda: _two_inputs(lambda x, y: [x * -0.0]),
    "a constant result": lambda: _two_inputs(lambda x, y: [T.constant(2.5)]),
    "a constant of one axis": lambda: _two_inputs(lambda x, y: [T.constant(np.array([2.5]))]),
    "single precision": lambda: _two_inputs(lambda x, y: [x.astype("float32") * 2]),
    "half precision": lambda: _two_inputs(lambda x, y: [x.astype("float16") * 2]),
    "a part": lambda: _two_inputs(lambda x, y: [x[1:]]),
    "another part": lambda: _two_inputs(lambda x, y: [x[:1]]),
    "a loop": lambda: _loop(lambda x, h: x + 2 * h, name="loop"),
    "a loop of another name": lambda: _loop(lambda x, h: x + 2 * h, name="pool"),
    "a loop's constant": lambda: _loop(lambda x, h: x + 3 * h, name="loop"),
    "a loop's wiring": lambda: _loop(lambda x, h: h + 2 * x, name="loop"),
    "a loop backwards": lambda: _loop(lambda x, h: x + 2 * h, name="loop", go_backwards=True),
    "a tap": lambda: _taps([-1]),
    "a tap further back": lambda: _taps([-2]),
}


def _name(make):
    inputs, outputs = make()
    return name_of(FunctionGraph(inputs, outputs, clone=False), get_mode("NATIVE").optimizer)


@pytest.mark.parametrize("what", GRAPHS)
def test_a_graph_built_again_has_the_same_name(what):
    assert _name(GRAPHS[what]) == _name(GRAPHS[what])


def test_graphs_that_differ_in_one_thing_have_different_names():
    names = {what: _name(make) for what, make in GRAPHS.items()}
    assert [
        pair for pair in itertools.combinations(names, 2) if len({*map(names.get, pair)}) < 2
    ] == []


def test_lengths_that_are_told_are_part_of_the_name():
    def with_shape(shape):
        x = T.TensorType("float64", shape=shape)("x")
        return [x], [x * 2]

    assert len({_name(lambda s=shape: with_shape(s)) for shape in [(None,), (3,), (4,)]}) == 3


def test_the_users_line_is_part_of_the_name():
    x, y = T.dvectors("x", "y")
    first = x + y
    second = x + y

    def given(result):
        return lambda: ([x, y], [result.owner.clone().outputs[0]])

    assert _name(given(first)) != _name(given(second))
