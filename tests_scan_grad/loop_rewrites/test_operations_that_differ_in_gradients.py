"""Operations that compute the same and differ in their gradients are not taken for each other."""

import numpy as np
import pytensor.gradient
import pytest
import scipy.sparse

import theano
import theano.sparse
import theano.tensor as T
from theano.gradient import grad_clip, grad_scale
from theano.scan_module.gradient.equal_gradients import what_decides_gradient

FACTORS = (1.0, 2.0, -1.0)


def scaled_three_times(scale, factor, start):
    states, _ = theano.scan(lambda h: scale(h, factor), outputs_info=start, n_steps=3)
    return states[-1]


# PyTensor's own does not compare its factor
@pytest.mark.parametrize("scale", [grad_scale, pytensor.gradient.grad_scale])
def test_loops_that_differ_in_a_factor_have_gradients_of_their_own(scale):
    start = T.dscalar("start")
    gradients = [theano.grad(scaled_three_times(scale, f, start), start) for f in FACTORS]
    assert [float(g) for g in theano.function([start], gradients)(1.0)] == [1, 8, -1]


@pytest.mark.parametrize("scale", [grad_scale, pytensor.gradient.grad_scale])
def test_a_factor_within_a_nested_loop(scale):
    start = T.dscalar("start")
    gradients = []
    for factor in FACTORS:
        states, _ = theano.scan(
            lambda h, factor=factor: scaled_three_times(scale, factor, h),
            outputs_info=start,
            n_steps=2,
        )
        gradients.append(theano.grad(states[-1], start))
    assert [float(g) for g in theano.function([start], gradients)(1.0)] == [1, 64, 1]


def step(h, w):
    return (
        T.tanh(grad_scale(h, 2.0) * w)
        + T.sin(grad_scale(h, -1.0)) * grad_scale(w, 0.1)
        + grad_scale(w, 3.0) * grad_scale(w, 5.0)
    )


def test_several_factors_in_one_step():
    """As in the unrolled loop, whose operations are never compared; second derivatives, too."""
    start, w = T.dscalars("start", "w")
    states, _ = theano.scan(step, outputs_info=start, non_sequences=w, n_steps=3)
    unrolled = start
    for _ in range(3):
        unrolled = step(unrolled, w)
    results = []
    for value in (states[-1], unrolled):
        first = [theano.grad(value, wrt) for wrt in (start, w)]
        results += first + [theano.grad(g, wrt) for g in first for wrt in (start, w)]
    values = theano.function([start, w], results)(0.3, 0.7)
    np.testing.assert_allclose(values[:6], values[6:], rtol=1e-12)


def test_loops_that_differ_in_bounds_have_gradients_of_their_own():
    start = T.dscalar("start")
    gradients = []
    for bound in (0.5, 0.25):
        states, _ = theano.scan(
            lambda h, bound=bound: 3 * grad_clip(h, -bound, bound), outputs_info=start, n_steps=2
        )
        gradients.append(theano.grad(states[-1], start))
    assert [float(g) for g in theano.function([start], gradients)(1.0)] == [0.5, 0.25]


def test_copies_of_a_graph_keep_factors_apart():
    x = T.dscalar("x")
    total = sum(grad_scale(x, factor) for factor in (2.0, -1.0, 5.0))
    copy = theano.clone(total, {x: 3 * x})
    assert float(theano.function([x], theano.grad(copy, x))(1.0)) == 3 * 6


@pytest.mark.parametrize(
    "of",
    [
        lambda x, structured: theano.sparse.DenseFromSparse(structured)(x).sum(),
        lambda x, structured: theano.sparse.sp_sum(x, sparse_grad=structured),
    ],
)
def test_copies_of_sparse_operations_keep_their_gradients(of):
    x = theano.sparse.csr_matrix("x", dtype="float64")
    y = theano.sparse.csr_matrix("y", dtype="float64")
    total = theano.clone(of(x, True) + of(x, False), {x: y})
    gradient = theano.grad(total, y)
    value = scipy.sparse.csr_matrix(np.eye(2))
    result = theano.function([y], theano.sparse.dense_from_sparse(gradient))(value)
    np.testing.assert_array_equal(result, [[2, 1], [1, 2]])


def test_tangents_pass_a_scaled_gradient_unchanged():
    x, v = T.dscalars("x", "v")
    tangent = theano.Rop(grad_scale(x, 7.0) ** 2, x, v)
    assert float(theano.function([x, v], tangent)(3.0, 1.0)) == 6.0


class Custom(theano.gof.Op):
    """Twice its input; what its gradient is, its properties do not say."""

    __props__ = ()

    def __init__(self, slope):
        self.slope = {"value": [slope]}

    def make_node(self, x):
        return theano.gof.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = 2 * inputs[0]

    def pullback(self, inputs, outputs, cotangents):
        return [c * self.slope["value"][0] for c in cotangents]


def test_operations_of_users():
    assert Custom(1.0) == Custom(2.0)
    assert what_decides_gradient(Custom(1.0)) != what_decides_gradient(Custom(2.0))
    assert what_decides_gradient(Custom(1.0)) == what_decides_gradient(Custom(1.0))
    start = T.dscalar("start")
    gradients = []
    for slope in (1.0, 3.0):
        states, _ = theano.scan(Custom(slope), outputs_info=start, n_steps=2)
        gradients.append(theano.grad(states[-1], start))
    assert [float(g) for g in theano.function([start], gradients)(1.0)] == [1, 9]
