"""Shapes are worked out when a rewrite asks for them, and are those that PyTensor works out."""

import sys
from collections import Counter

import numpy as np
import pytest
from pytensor.graph.basic import equal_computations
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import in2out
from pytensor.tensor import basic as tensor_basic
from pytensor.tensor.rewriting.basic import local_second_to_alloc
from pytensor.tensor.rewriting.shape import ShapeFeature

import theano
import theano.tensor as T
from theano.rewriting.lazy_shapes import LazyShapeFeature
from theano.rewriting.rewrites.second_to_alloc import second_to_alloc
from theano.scan_module.step import loop_shapes
from theano.tensor.shared_randomstreams import RandomStreams


class Sized(theano.Op):
    """Its input; counts how often it is asked for its shape."""

    __props__ = ()
    asked: Counter = Counter()

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0].copy()

    def infer_shape(self, node, shapes):
        Sized.asked["shape"] += 1
        return shapes


class Unsized(theano.Op):
    """Its input, without a shape that could be told beforehand."""

    __props__ = ()

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0].copy()


def test_shapes_that_nobody_reads_are_not_worked_out():
    Sized.asked.clear()
    x = T.matrix("x")
    theano.function([x], T.exp(Sized()(x)) * 2)
    assert Sized.asked["shape"] == 0


def test_a_shape_that_is_read_is_worked_out_without_the_values():
    x = T.matrix("x")
    rows = theano.function([x], (Sized()(x) + 1).shape[0])
    assert not any(isinstance(node.op, Sized) for node in rows.maker.fgraph.apply_nodes)
    assert rows(np.ones((3, 2))) == 3


def lengths(feature, variable):
    """The shape of a variable, written with the names of the inputs."""
    return [
        theano.pp(length)
        for length in (feature.get_shape(variable, k) for k in range(variable.ndim))
    ]


def test_lazy_shapes_are_those_of_pytensor():
    x, y = T.matrix("x"), T.matrix("y")
    outputs = [x.dot(y), T.exp(x)[:, None], T.concatenate([x, y.T]), x.sum(axis=0), T.eye(3)]
    told = []
    for feature in (ShapeFeature(), LazyShapeFeature()):
        graph = FunctionGraph([x, y], outputs, clone=False, features=[feature])
        told.append([lengths(feature, variable) for variable in graph.outputs])
    assert told[0] == told[1]


BOUNDS = [None, -5, -2, -1, 0, 1, 2, 5]


@pytest.mark.parametrize("step", [None, 1, -1, 2])
def test_lengths_of_slices_are_those_of_numpy(step):
    x = T.dvector("x")
    parts = [slice(start, stop, step) for start in BOUNDS for stop in BOUNDS]
    feature = LazyShapeFeature()
    read = [x[part] for part in parts]
    FunctionGraph([x], read, clone=False, features=[feature])
    told = theano.function([x], [feature.lengths_of(variable)[0] for variable in read])
    for number in range(7):
        rows = np.zeros(number)
        assert [int(length) for length in told(rows)] == [len(rows[part]) for part in parts]


@pytest.mark.parametrize("part", [lambda x, n: x[n:], lambda x, n: x[:n], lambda x, n: x[n::-1]])
def test_lengths_of_slices_whose_bound_is_a_uint64(part, monkeypatch):
    monkeypatch.setattr(theano.config, "on_opt_error", "raise")
    x, n = T.dvector(), T.scalar(dtype="uint64")
    f = theano.function([x, n], part(x, n).shape)
    np.testing.assert_array_equal(f(np.arange(5.0), 3), part(np.arange(5.0), 3).shape)


@pytest.mark.parametrize(
    "asked, rows, columns",
    [
        (lambda x, n: (x.shape[1], x.shape[0]), 2, 3),
        (lambda x, n: (-1,), 2, 3),
        (lambda x, n: (3, -1, 2), 4, 9),
        (lambda x, n: (3, -1, 0), 0, 3),
        (lambda x, n: (x.shape[0], -1), 4, 6),
        (lambda x, n: (2 * x.shape[0], -1), 4, 6),
        (lambda x, n: (T.stack([x.shape[0], x.shape[1]])[1], -1), 4, 6),
        (lambda x, n: (x[1:].shape[0], -1), 4, 6),
        (lambda x, n: (n, 4), 2, 6),
        (lambda x, n: (T.switch(n < 0, n, x.shape[0]), 12), 12, 1),
        (lambda x, n: (x.shape[0] - 3, 12), 2, 6),
    ],
)
def test_lengths_of_what_is_reshaped_are_those_of_numpy(asked, rows, columns):
    x, n = T.dmatrix("x"), T.lscalar("n")
    reshaped = x.reshape(asked(x, n))
    feature = LazyShapeFeature()
    FunctionGraph([x, n], [reshaped], clone=False, features=[feature])
    told = theano.function([x, n], feature.lengths_of(reshaped), on_unused_input="ignore")
    shape = theano.function([x, n], reshaped, mode="FAST_COMPILE", on_unused_input="ignore")
    try:
        expected = shape(np.zeros((rows, columns)), -1).shape
    except ValueError:
        # NumPy gives nothing a length that is not told
        return
    assert [int(length) for length in told(np.zeros((rows, columns)), -1)] == list(expected)


def test_no_choice_is_made_between_lengths_of_arrays():
    x, y = T.dmatrix("x"), T.dtensor3("y")
    flat = y.reshape((y.shape[0] * y.shape[1], y.shape[2]))
    product = flat.dot(x).reshape((y.shape[0], y.shape[1], x.shape[1]))
    feature = LazyShapeFeature()
    FunctionGraph([x, y], [product], clone=False, features=[feature])
    assert not any("switch" in length for length in lengths(feature, product))


@pytest.mark.parametrize("dtype", ["int64", "int8"])
@pytest.mark.parametrize("axis", [0, 1])
def test_lengths_of_parts_are_those_of_numpy(axis, dtype):
    x, first = T.dmatrix("x"), T.scalar("first", dtype)
    parts = T.split(x, T.stack([first, T.constant(2, dtype=dtype)]), 2, axis)
    feature = LazyShapeFeature()
    FunctionGraph([x, first], parts, clone=False, features=[feature])
    told = [length for part in parts for length in feature.lengths_of(part)]
    assert all(length.type.dtype == "int64" for length in told)
    assert not any("Subtensor" in name for part in parts for name in lengths(feature, part))
    value = np.zeros((5, 5))
    expected = [length for part in np.split(value, [3], axis) for length in part.shape]
    assert [int(length) for length in theano.function([x, first], told)(value, 3)] == expected


def test_gradient_of_what_was_joined_adds_to_no_zeros():
    x = T.dtensor3("x")
    joined = T.concatenate([T.tanh(x)[::1], x[::-1]], 2)
    f = theano.function([x], theano.grad((joined**3).sum(), x))
    assert not any(isinstance(n.op, T.IncSubtensor | T.Alloc) for n in f.maker.fgraph.apply_nodes)
    value = np.arange(6.0).reshape(3, 2, 1)
    expected = 3 * np.tanh(value) ** 2 * (1 - np.tanh(value) ** 2) + 3 * value**2
    np.testing.assert_allclose(f(value), expected, rtol=1e-12)


def test_the_rows_that_a_loop_wrote_are_as_many_as_its_steps():
    steps, rows = T.lscalar("steps"), T.dmatrix("rows")
    memory = T.set_subtensor(T.AllocEmpty("float64")(rows.shape[0] + 2, 3)[:2], T.zeros((2, 3)))
    feature = LazyShapeFeature()
    read = [memory[2:], memory[0:-2], memory[:1:-1], memory[-3::-1], memory[1:-1]]
    FunctionGraph([steps, rows], read, clone=False, features=[feature])
    (length,) = {feature.lengths_of(variable)[0] for variable in read}
    assert length.owner.op == T.opt.Shape_i(0) and length.owner.inputs == [rows]


@pytest.mark.skipif(
    sys.version_info >= (3, 12),
    reason="PyTensor 3.3 asks what is in the graph for its shape, whatever was there before",
)
def test_what_takes_a_place_has_the_shape_of_what_was_there():
    for asked_before in (True, False):
        x = T.matrix("x")
        before, after = T.exp(x), Unsized()(x)
        graph = FunctionGraph([x], [before * 2], clone=False)
        feature = LazyShapeFeature()
        graph.attach_feature(feature)
        if asked_before:
            assert lengths(feature, before) == lengths(feature, x)
        graph.replace(before, after)
        assert lengths(feature, after) == lengths(feature, x)


@pytest.mark.skipif(
    sys.version_info < (3, 12),
    reason="with PyTensor 3.0 a replacement has the shape of what it replaces",
)
@pytest.mark.parametrize(
    "of",
    [
        lambda y: T.tanh(y * 2).T,
        lambda y: T.zeros((y.shape[0] + 1, y.shape[1])) * 2,
        lambda y: T.alloc(1.0, *T.stack([y.shape[1], y.shape[0]])[::-1]) + 1,
        lambda y: T.ones((3, 3))[: y.shape[0]],
        lambda y: T.nnet.softmax(y)[: y[:, :2].shape[1]],
    ],
)
def test_shapes_follow_what_is_replaced(of):
    x = T.matrix("x")
    before, after = T.exp(x), T.concatenate([x, x[:, 1:].T])
    graph = FunctionGraph([x], [of(before)], clone=False)
    feature = LazyShapeFeature()
    graph.attach_feature(feature)
    asked = lengths(feature, graph.outputs[0])
    graph.replace(before, after)
    fresh = LazyShapeFeature()
    FunctionGraph([x], graph.outputs, clone=True, features=[fresh])
    expected = lengths(fresh, fresh.fgraph.outputs[0])
    assert lengths(feature, graph.outputs[0]) == expected != asked


def test_deep_graphs_are_worked_out_without_recursion():
    x = y = T.vector("x")
    for _ in range(3000):
        y = T.exp(y)
    feature = LazyShapeFeature()
    FunctionGraph([x], [y], clone=False, features=[feature])
    assert lengths(feature, y) == lengths(feature, x)


@pytest.mark.parametrize(
    "x, y, same",
    [
        (lambda a, b: a + 1, lambda a, b: T.exp(a), True),
        (lambda a, b: T.exp(a), lambda a, b: T.exp(b), False),
        (lambda a, b: a[:2], lambda a, b: b[:2], False),
        (lambda a, b: T.zeros((2, 3)), lambda a, b: T.ones((2, 3)), True),
        (lambda a, b: T.zeros(T.constant(2) + 1), lambda a, b: T.ones(3), True),
        (lambda a, b: T.zeros(T.constant(2) + 1), lambda a, b: T.ones(4), False),
        (lambda a, b: T.fill(a, 0.0), lambda a, b: T.inc_subtensor(a[:2], b[:2]), True),
        (lambda a, b: T.fill(a, 0.0), lambda a, b: T.inc_subtensor(b[:2], a[:2]), False),
    ],
)
def test_same_shape(x, y, same):
    a, b = T.vector("a"), T.vector("b")
    compared = []
    for feature in (ShapeFeature(), LazyShapeFeature()):
        graph = FunctionGraph([a, b], [x(a, b), y(a, b)], clone=False, features=[feature])
        compared.append(feature.same_shape(*graph.outputs))
    assert compared == [same, same]


def test_copies_with_other_values_have_a_shape_that_need_not_be_worked_out():
    Sized.asked.clear()
    x = T.matrix("x")
    filled = T.fill(Sized()(x), 0.0)
    changed = T.set_subtensor(filled[:1], 1.0)
    feature = LazyShapeFeature()
    FunctionGraph([x], [filled, changed], clone=False, features=[feature])
    assert feature.same_shape(filled, changed)
    assert Sized.asked["shape"] == 0
    assert lengths(feature, changed) == lengths(feature, x)


def test_shapes_of_equal_steps_are_inferred_once(monkeypatch):
    inferred = []
    infer = loop_shapes._infer
    monkeypatch.setattr(loop_shapes, "_infer", lambda *args: inferred.append(1) or infer(*args))
    monkeypatch.setattr(loop_shapes, "STEPS_KEPT", 1)

    def layer(x, columns):
        rows, _ = theano.scan(lambda v: T.tile(v, columns) * 2.5, sequences=[x])
        return rows

    x = T.matrix("x")
    for first, second, count in ((2, 2, 1), (2, 3, 2)):
        inferred.clear()
        monkeypatch.setattr(loop_shapes, "_of_equal_steps", {})
        f = theano.function([x], layer(layer(x, first), second).shape, mode="FAST_COMPILE")
        assert list(f(np.ones((4, 3)))) == [4, 3 * first * second]
        assert len(inferred) == count


def test_lengths_of_operands_are_compared_by_what_computes_only():
    x, y = T.dvectors("x", "y")
    f = theano.function([x, y], (x + y).shape)
    assert not any(isinstance(node.op, T.Elemwise) for node in f.maker.fgraph.apply_nodes)
    assert f([1, 2], [3, 4]).tolist() == [2]
    with pytest.raises(ValueError):
        theano.function([x, y], x + y)([1, 2], [3, 4, 5])


def test_shapes_that_are_told_by_the_shapes_of_draws_are_worked_out():
    """The lengths of a draw follow from a loop's, whose gradient asks for those of the draw."""
    u, v, x0, y0 = T.matrix("u"), T.vector("v"), T.vector("x0"), T.scalar("y0")
    W = theano.shared(np.array([[0.1, 0.2], [0.3, 0.4]]))

    def gradients(mode):
        (x, y), updates = theano.scan(
            lambda u, v, x, y: [u.dot(W) + v * W[0] + x.dot(W), x.dot(W[1])], [u, v], [x0, y0]
        )
        draws = RandomStreams(7)
        cost = sum((state * draws.uniform(size=state.shape)).sum() for state in (x, y))
        given = [u, v, x0]
        found = T.grad(cost, given)
        return theano.function(
            [*given, y0], found, updates=updates, mode=mode, on_unused_input="ignore"
        )

    values = np.ones((7, 2)), np.ones(7), np.ones(2), 1.0
    expected = gradients(theano.Mode("py", "fast_compile"))(*values)
    for found, wanted in zip(gradients("FAST_RUN")(*values), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_a_filled_value_has_its_type_without_rewriting_its_lengths(monkeypatch):
    asked = []
    infer = tensor_basic.infer_static_shape
    monkeypatch.setattr(
        tensor_basic, "infer_static_shape", lambda shape: asked.append(shape) or infer(shape)
    )
    x, row, known = T.matrix("x"), T.row("row"), T.TensorType("float64", (3, None))("known")
    outputs = [T.fill(x, np.float32(2)), T.fill(x, row), T.fill(known, 1.0), T.fill(x, known)]
    graphs = [FunctionGraph([x, row, known], outputs, clone=True) for _ in range(2)]
    for graph, rewriter in zip(graphs, (local_second_to_alloc, second_to_alloc), strict=True):
        asked.clear()
        graph.attach_feature(ShapeFeature())
        in2out(rewriter).rewrite(graph)
    assert not asked
    theirs, ours = graphs
    assert [v.type for v in ours.outputs] == [v.type for v in theirs.outputs]
    assert equal_computations(ours.outputs, theirs.outputs, ours.inputs, theirs.inputs)
    by_name = theano.Mode("py").excluding("local_second_to_alloc")
    for mode, filled in (("NATIVE", False), (by_name, True)):
        made = theano.function([x], T.fill(x, 2.0), mode=mode).maker.fgraph.toposort()
        assert any(node.op == T.fill for node in made) == filled
