"""`theano.gof`: operators that users write, walks over graphs, and rewrites."""

import functools

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano import gof
from theano.gof import FunctionGraph, MissingInputError, OpRemove, OpSub, local_optimizer
from theano.gof.graph import is_same_graph
from theano.gof.opt import OpKeyOptimizer, TopoOptimizer

compiled = functools.partial(theano.function, mode="FAST_COMPILE")
X, V = np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.25, -1.0])


class Cube(theano.Op):
    """The cube of a vector, the way Theano 1.0's documentation writes an operator."""

    __props__ = ()

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        (x,) = inputs
        output_storage[0][0] = x**3

    def infer_shape(self, node, input_shapes):
        return input_shapes

    def grad(self, inputs, output_grads):
        return [3 * inputs[0] ** 2 * output_grads[0]]

    def R_op(self, inputs, eval_points):
        if eval_points[0] is None:
            return eval_points
        return self.grad(inputs, eval_points)


class Typed(theano.Op):
    """Twice a vector, with types instead of make_node, and neither gradient."""

    __props__ = ()
    itypes = [T.dvector]
    otypes = [T.dvector]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = 2 * inputs[0]


class OnlyRop(Typed):
    """An operator that can be differentiated forward only."""

    def R_op(self, inputs, eval_points):
        return [2 * eval_points[0]]


class OnlyGrad(Typed):
    """An operator whose gradient needs its output, and that has no R_op."""

    def L_op(self, inputs, outputs, output_grads):
        return [outputs[0] / inputs[0] * output_grads[0]]


class Increment(theano.Op):
    """The next integer, in C, with methods as Theano 1.0 called them."""

    __props__ = ()
    itypes = [T.dscalar]
    otypes = [T.dscalar]

    def c_headers(self):
        return ["<math.h>"]

    def c_support_code(self):
        return "static double plus_one(double x) { return floor(x) + 1; }"

    def c_code(self, node, name, inputs, outputs, sub):
        return f"""
            Py_XDECREF({outputs[0]});
            {outputs[0]} = (PyArrayObject*) PyArray_SimpleNew(0, NULL, NPY_DOUBLE);
            *(double*) PyArray_DATA({outputs[0]}) =
                plus_one(*(double*) PyArray_DATA({inputs[0]}));
        """

    def c_code_cache_version(self):
        return (1,)


def test_operator_with_grad_and_r_op():
    x, v = T.dvectors("x", "v")
    y = Cube()(x)
    outputs = [y, theano.grad(y.sum(), x), theano.Rop(y, x, v), y.shape[0]]
    value, gradient, along, length = compiled([x, v], outputs)(X, V)
    np.testing.assert_allclose(value, X**3)
    np.testing.assert_allclose(gradient, 3 * X**2)
    np.testing.assert_allclose(along, 3 * X**2 * V)
    assert length == 3
    T.verify_grad(Cube(), [X], rng=np.random.default_rng(1), mode="FAST_COMPILE")


def test_rop_uses_r_op_and_otherwise_two_gradients():
    x, v = T.dvectors("x", "v")
    for operator in (OnlyRop(), OnlyGrad()):
        along = theano.Rop(operator(x) * 5, x, v)
        f = compiled([x, v], along, on_unused_input="ignore")
        np.testing.assert_allclose(f(X, V), 10 * V)


def test_infer_shape_keeps_the_operator_from_running():
    x = T.dvector("x")
    f = compiled([x], Cube()(x).shape[0])
    assert not [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Cube)]
    assert f(X) == 3


def test_operator_without_a_gradient():
    x, v = T.dvectors("x", "v")
    with pytest.raises(NotImplementedError, match="defines neither grad nor L_op"):
        theano.grad(Typed()(x).sum(), x)
    with pytest.raises(NotImplementedError):
        theano.Rop(Typed()(x), x, v)


def test_operator_with_types_checks_its_inputs():
    assert Typed()(T.dvector()).type == T.dvector
    with pytest.raises(TypeError, match="Invalid input types"):
        Typed()(T.fvector())


def test_operators_with_equal_properties_are_equal():
    assert Cube() == Cube() and hash(Cube()) == hash(Cube())
    assert Typed() != OnlyRop()


def test_operator_in_c():
    x = T.dscalar("x")
    assert theano.function([x], Increment()(x), mode="FAST_RUN")(2.5) == 3


class OldSignatures(theano.Op):
    """Half of a vector, with further methods as Theano 1.0 called them."""

    __props__ = ()
    itypes = [T.dvector]
    otypes = [T.dvector]

    def perform(self, node, inputs, output_storage, params=None):
        output_storage[0][0] = inputs[0] / 2 if params is None else params

    def do_constant_folding(self, node):
        return len(node.inputs) > 1


def test_methods_with_signatures_of_theano():
    x = T.dvector("x")
    f = theano.function([x], [OldSignatures()(x), OldSignatures()(T.constant(V))])
    values = f(X)
    np.testing.assert_array_equal(values, [X / 2, V / 2])
    assert len([node for node in f.maker.fgraph.apply_nodes if node.op == OldSignatures()]) == 2


class Doubled(theano.compile.ops.DeepCopyOp):
    """An operator of the library with another computation."""

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = 2 * inputs[0]

    def c_code(self, node, name, inputs, outputs, sub):
        raise NotImplementedError


def test_a_subclass_of_a_known_operator_runs_its_own_code():
    x = T.dvector("x")
    assert theano.function([x], Doubled()(x), mode="FAST_RUN")([1.5]).tolist() == [3.0]


def test_walks_over_a_graph():
    x, y = T.dvectors("x", "y")
    z = T.exp(x) * y + 2.0
    found = gof.graph.inputs([z])
    assert set(found) >= {x, y} and len(found) == 3
    assert [v for v in found if isinstance(v, gof.Constant)]
    assert gof.graph.inputs([z], blockers=[z]) == []
    assert set(gof.graph.ancestors([z])) >= {x, y, z}
    assert len(gof.graph.io_toposort([x, y], [z])) == len(gof.graph.ops([x, y], [z]))
    between, orphans = gof.graph.variables_and_orphans([x, y], [z])
    assert x in between and set(orphans) <= set(between)
    assert gof.graph.is_in_ancestors(z.owner, gof.graph.list_of_nodes([x], [T.exp(x)])[0]) is False


def test_is_same_graph():
    x, y = T.dvectors("x", "y")
    assert is_same_graph(T.exp(x) + y, T.exp(x) + y)
    assert not is_same_graph(T.exp(x) + y, T.exp(y) + x)
    assert is_same_graph(T.exp(x), T.exp(y), givens={x: y})


def test_missing_input():
    x, y = T.dvectors("x", "y")
    with pytest.raises(MissingInputError):
        FunctionGraph([x], [x + y], clone=False)


@pytest.mark.parametrize("wrap", [TopoOptimizer, OpKeyOptimizer])
def test_local_optimizer_takes_a_function_of_the_application(wrap):
    @local_optimizer([T.exp])
    def to_sinh(node):
        return [T.sinh(node.inputs[0])] if node.op == T.exp else False

    x = T.dvector("x")
    graph = FunctionGraph([x], [T.exp(T.exp(x)) + 1])
    wrap(to_sinh).rewrite(graph)
    operators = [node.op for node in graph.toposort()]
    assert operators.count(T.sinh) == 2 and T.exp not in operators
    assert to_sinh.__name__ == "to_sinh"


def test_op_sub_and_op_remove():
    x = T.dvector("x")
    graph = FunctionGraph([x], [T.exp(T.sin(x))])
    TopoOptimizer(OpSub(T.exp, T.sinh)).rewrite(graph)
    TopoOptimizer(OpRemove(T.sin)).rewrite(graph)
    assert [node.op for node in graph.toposort()] == [T.sinh]
    assert str(OpRemove(T.sin)).endswith("(x) -> x")


def test_hashtype_is_the_same_for_all_instances():
    assert T.hashtype(Cube()) == T.hashtype(Cube()) != T.hashtype(Typed())


def test_a_variable_needs_a_type_only():
    path = gof.Variable(gof.generic, name="path")
    assert path.owner is None and path.index is None and str(path) == "path"
    assert isinstance(T.vector(), theano.Variable) and isinstance(path, theano.Variable)
    f = theano.function([path], T.as_tensor_variable(2), on_unused_input="ignore")
    assert f("anything") == 2
