"""Operators that users derive from the library's, with their own gradient by Theano's names."""

import numpy as np
import pytest

import theano
import theano.tensor as T
import theano.tensor.nlinalg
import theano.tensor.slinalg

MATRIX = np.array([[2.0, 1.0], [1.0, 3.0]])


class Reversed(theano.compile.ViewOp):
    """The identity, whose gradient is turned around: for domain adaptation."""

    def grad(self, inputs, output_gradients):
        return [-output_gradients[0]]


class ReversedTwice(Reversed):
    def L_op(self, inputs, outputs, output_gradients):
        return [2 * output_gradients[0]]


class Inverse(theano.tensor.nlinalg.MatrixInverse):
    def grad(self, inputs, output_gradients):
        return [5 * output_gradients[0]]

    def R_op(self, inputs, eval_points):
        return [11 * eval_points[0]]


class Cumulated(T.extra_ops.CumOp):
    def grad(self, inputs, output_gradients):
        return (7 * output_gradients[0],)


class Tangent(type(theano.scalar.tanh)):
    def grad(self, inputs, output_gradients):
        return [3 * output_gradients[0]]


class Factor(theano.tensor.slinalg.Cholesky):
    def grad(self, inputs, output_gradients):
        return [13 * output_gradients[0]]


OPERATORS = {
    "ViewOp": (Reversed(), MATRIX, -1),
    "L_op of a class whose base has grad": (ReversedTwice(), MATRIX, 2),
    "MatrixInverse": (Inverse(), np.linalg.inv(MATRIX), 5),
    "CumOp": (Cumulated(axis=0), MATRIX.cumsum(axis=0), 7),
    "a scalar operation": (
        T.elemwise.Elemwise(Tangent(theano.scalar.upgrade_to_float, name="Tangent")),
        np.tanh(MATRIX),
        3,
    ),
    "Cholesky": (Factor(), np.linalg.cholesky(MATRIX), 13),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_the_gradient_of_a_derived_operator_is_its_own(name):
    op, value, slope = OPERATORS[name]
    x = T.dmatrix("x")
    y = op(x)
    f = theano.function([x], [y, theano.grad(y.sum(), x)])
    np.testing.assert_allclose(f(MATRIX)[0], value)
    np.testing.assert_allclose(f(MATRIX)[1], np.full((2, 2), slope))


@pytest.mark.parametrize("name", OPERATORS)
def test_it_is_in_the_steps_of_loops(name):
    op, _, slope = OPERATORS[name]
    x = T.dmatrix("x")
    sums, _ = theano.scan(lambda n, x: op(x * n).sum(), T.arange(1.0, 3.0), non_sequences=x)
    f = theano.function([x], theano.grad(sums.sum(), x))
    np.testing.assert_allclose(f(MATRIX), np.full((2, 2), 3 * slope))


def test_it_is_in_graphs_of_operators():
    x = T.dmatrix("x")
    op = theano.OpFromGraph([x], [Reversed()(x * 2).sum()])
    np.testing.assert_allclose(theano.grad(op(x), x).eval({x: MATRIX}), np.full((2, 2), -2.0))


def test_other_derivatives():
    x = T.dvector("x")
    y = Reversed()(x) ** 2
    v = T.ones_like(x)
    point = {x: [1.0, 2.0]}
    np.testing.assert_allclose(theano.Lop(y, x, v).eval(point), [-2.0, -4.0])
    np.testing.assert_allclose(theano.gradient.pullback(y, x, v).eval(point), [-2.0, -4.0])
    for how in ({"cost": y.sum()}, {"start": {y: v}}):
        ((gradient,), _) = theano.gradient.subgraph_grad([x], [x], **how)
        np.testing.assert_allclose(gradient.eval(point), [-2.0, -4.0])
    np.testing.assert_allclose(theano.gradient.jacobian(y, x).eval(point), np.diag([-2.0, -4.0]))
    m = T.dmatrix("m")
    np.testing.assert_allclose(theano.Rop(Inverse()(m), m, m).eval({m: MATRIX}), 11 * MATRIX)
    with pytest.raises(theano.gradient.GradientError):
        theano.gradient.verify_grad(Reversed(), [MATRIX], rng=np.random.RandomState(1))


def test_the_library_s_own_gradients_stay():
    x = T.dmatrix("x")
    theano.grad(Reversed()(x).sum(), x)
    y = theano.compile.ViewOp()(x)
    np.testing.assert_allclose(theano.grad(y.sum(), x).eval({x: MATRIX}), np.ones((2, 2)))
