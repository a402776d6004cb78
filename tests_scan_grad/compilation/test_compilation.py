"""Compilation: it grows with the graph and not with its square, counted and never timed."""

import gc
import io
import pickle
import weakref
from collections import Counter

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.pytensor_internals.graphs.shapes import shapes_by
from theano.support import garbage_collection
from theano.support.garbage_collection import rare_collections


class CountedDouble(theano.Op):
    """Twice its input; counts how often it is asked for its shape."""

    __props__ = ()
    asked: Counter = Counter()

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = 2 * inputs[0]

    def infer_shape(self, node, shapes):
        CountedDouble.asked["shape"] += 1
        return shapes

    def grad(self, inputs, cotangents):
        return [2 * cotangents[0]]


def stacked_loops(layers):
    """Build loops on top of each other; return the input, the weights and the last sequence."""
    x = sequence = T.matrix("x")
    weights = [theano.shared(np.full(3, 0.1 * (layer + 1))) for layer in range(layers)]
    for layer, w in enumerate(weights):
        sequence, _ = theano.scan(
            lambda x_t, h, w: T.tanh(CountedDouble()(x_t) + h * w),
            sequences=[sequence],
            outputs_info=[T.zeros_like(sequence[0])],
            non_sequences=[w],
            name=f"layer{layer}",
        )
    return x, weights, sequence


def stacked_gradient(layers, **options):
    """Compile the gradient of such loops; return it and how often a shape was asked for."""
    CountedDouble.asked.clear()
    x, weights, sequence = stacked_loops(layers)
    cost = (sequence**2).sum()
    outputs = [cost, *theano.grad(cost, weights)]
    function = theano.function([x], outputs, mode=theano.Mode("py", "fast_run"), **options)
    return function, CountedDouble.asked["shape"]


def test_shapes_of_a_step_are_asked_for_in_proportion_to_the_loops():
    asked = {layers: stacked_gradient(layers)[1] for layers in (2, 4, 8)}
    assert asked[2] > 0
    assert asked[8] - asked[4] <= 2 * (asked[4] - asked[2])


def test_stacked_loops_agree_with_numpy():
    function, _ = stacked_gradient(3)
    x = np.random.default_rng(0).standard_normal((5, 3))
    expected = x
    for layer in range(3):
        h, states = np.zeros(3), []
        for row in expected:
            h = np.tanh(2 * row + h * 0.1 * (layer + 1))
            states.append(h)
        expected = np.array(states)
    np.testing.assert_allclose(function(x)[0], (expected**2).sum())


def test_a_loop_is_built_without_asking_for_shapes_below_it():
    CountedDouble.asked.clear()
    stacked_loops(4)
    assert CountedDouble.asked["shape"] == 0


def test_a_loop_on_a_computed_sequence_and_state_reads_both():
    x = T.vector("x")
    doubled = 2 * x
    sums, _ = theano.scan(lambda x_t, s: x_t + s, sequences=[doubled], outputs_info=[doubled[0]])
    np.testing.assert_allclose(theano.function([x], sums)([1.0, 2.0, 3.0]), [4.0, 8.0, 14.0])


def test_one_step_of_a_computed_sequence():
    x = T.vector("x")
    first, _ = theano.scan(lambda x_t: x_t, sequences=[2 * x], n_steps=1)
    np.testing.assert_allclose(theano.function([x], first)([1.0, 2.0]), [2.0])


def test_the_shapes_of_a_step_are_remembered_and_not_pickled():
    x = T.matrix("x")
    doubled, _ = theano.scan(lambda x_t: CountedDouble()(x_t), sequences=[x])
    node = doubled.owner
    CountedDouble.asked.clear()
    shapes = [tuple(T.shape(each)[k] for k in range(each.ndim)) for each in node.inputs]
    for _ in range(3):
        steps, columns = shapes_by(node.op, node, shapes)[0]
        assert steps is node.inputs[2]
        assert columns is shapes[1][1]
    assert CountedDouble.asked["shape"] == 1
    assert "shapes_of_step" in vars(node.op)
    assert "shapes_of_step" not in vars(pickle.loads(pickle.dumps(node.op)))


def products_in(function):
    names = (type(node.op).__name__ for node in function.maker.fgraph.apply_nodes)
    return [name for name in names if "Dot" in name or "Gemm" in name]


def test_a_product_with_a_diagonal_matrix_is_a_scaling():
    v, x = T.vector("v"), T.matrix("x")
    scaled = theano.function([v, x], T.dot(T.diag(v), x), mode=theano.Mode("py", "fast_run"))
    assert not products_in(scaled)
    np.testing.assert_allclose(scaled([2.0, 3.0], np.ones((2, 2))), [[2, 2], [3, 3]])


def test_the_collector_is_as_before_after_a_failed_compilation():
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), rare_collections():
        assert gc.get_threshold()[0] > before[0]
        raise ZeroDivisionError
    assert gc.get_threshold() == before


@pytest.fixture
def collections_seen():
    """The generation of each collection, and how many objects went."""
    seen = []

    def look(phase, about):
        if phase == "stop":
            seen.append((about["generation"], about["collected"]))

    gc.collect()
    gc.callbacks.append(look)
    yield seen
    gc.callbacks.remove(look)


def compile_something():
    with rare_collections():
        for _ in range(5000):
            ring: list = []
            ring.append(ring)


def test_a_small_compilation_collects_what_is_new(collections_seen):
    compile_something()
    ((generation, collected),) = collections_seen
    assert generation == 0 and collected > 4900


def test_what_compilation_makes_is_looked_at_once_there_is_much_of_it(
    collections_seen, monkeypatch
):
    monkeypatch.setattr(garbage_collection, "MOST_OBJECTS_COLLECTED_AT_ONCE", 0)
    monkeypatch.setattr(garbage_collection, "_objects", garbage_collection.Objects())
    monkeypatch.setattr(garbage_collection, "OBJECTS_BETWEEN_FULL_COLLECTIONS", 12_000)
    compile_something()
    compile_something()
    assert not collections_seen
    compile_something()
    ((generation, collected),) = collections_seen
    assert generation == 2 and collected > 14_000


@pytest.fixture
def little_garbage(monkeypatch):
    """Collections after 5000 objects for functions that have died."""
    monkeypatch.setattr(garbage_collection, "_objects", garbage_collection.Objects())
    monkeypatch.setattr(garbage_collection, "GARBAGE_TO_OTHERS", 5000 / len(gc.get_objects()))


def a_graph():
    """The graph of a function that nobody has any more; its own, not the function's."""
    x = T.vector("x")
    function = theano.function([x], T.tanh(x).sum(), mode="FAST_COMPILE")
    assert function([0.0]) == 0
    return weakref.ref(function.maker.fgraph)


def test_graphs_of_dead_functions_are_collected_once_they_are_many(
    collections_seen, little_garbage
):
    graphs = [a_graph() for _ in range(50)]
    assert all(graph() is None for graph in graphs[:20])
    generations = [generation for generation, _ in collections_seen]
    assert 1 <= generations.count(2) < 25


def test_functions_that_live_are_no_reason_to_collect(collections_seen, little_garbage):
    x = T.vector("x")
    functions = [theano.function([x], T.tanh(x * k).sum(), mode="FAST_COMPILE") for k in range(50)]
    assert 2 not in [generation for generation, _ in collections_seen]
    functions.clear()
    theano.function([x], x, mode="FAST_COMPILE")
    assert 2 in [generation for generation, _ in collections_seen]


def test_nothing_is_collected_while_the_collector_is_off(collections_seen, monkeypatch):
    monkeypatch.setattr(garbage_collection, "OBJECTS_BETWEEN_FULL_COLLECTIONS", 0)
    gc.disable()
    try:
        with rare_collections():
            kept = [[] for _ in range(5000)]
        assert len(kept) == 5000 and not collections_seen
    finally:
        gc.enable()


def test_what_a_program_has_frozen_stays_so():
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with rare_collections():
            kept = [[] for _ in range(5000)]
        assert gc.get_freeze_count() == frozen and len(kept) == 5000
    finally:
        gc.unfreeze()


def test_the_collectors_own_larger_threshold_stays():
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with rare_collections():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)


@pytest.fixture
def compilation_profiled():
    before = theano.config.profile_optimizer
    theano.config.profile_optimizer = True
    yield
    theano.config.profile_optimizer = before


def test_profile_optimizer_tells_passes_and_loops(compilation_profiled):
    profile = theano.ProfileStats(message="two layers", atexit_print=False)
    stacked_gradient(2, profile=profile)
    told = io.StringIO()
    profile.summary(told)
    lines = told.getvalue().splitlines()
    assert lines[0].startswith("Compilation of two layers")
    for expected in ("rewriting", "canonicalize", "grad_of_layer1: PushOutDotAccumulate"):
        assert any(line.endswith(f"  {expected}") for line in lines), expected
