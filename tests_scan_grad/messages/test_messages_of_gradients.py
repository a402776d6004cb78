"""Mistakes in gradients, and what is said of them."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.messages.mistakes import Mistakes
from theano.gradient import DisconnectedInputError, NullTypeGradError

mistakes = Mistakes()
k, x, y, M = T.lscalar("k"), T.vector("x"), T.vector("y"), T.matrix("M")


@mistakes.add(
    TypeError,
    "the cost must be a scalar",
    "sum() or mean()",
    "doc/how_to/gradients.md",
    line="cost = ",
)
def cost_is_a_vector():
    cost = 2 * x
    theano.grad(cost, x)


@mistakes.add(TypeError, "the cost must be a scalar variable, but is [Sum")
def cost_is_a_list():
    theano.grad([x.sum()], x)


@mistakes.add(TypeError, "the cost must be a scalar variable, but is 3.0")
def cost_is_a_number():
    theano.grad(3.0, x)


@mistakes.add(TypeError, "expected wrt to be variables, got 'x'")
def wrt_is_a_name():
    theano.grad(x.sum(), "x")


@mistakes.add(ValueError, "a list of variables, got a; write consider_constant=[a]")
def one_variable_as_constant():
    a = (2 * x).copy(name="a")
    theano.grad((a * x).sum(), x, consider_constant=a)


@mistakes.add(ValueError, "a list of variables, got y; write consider_constant=[y]")
def one_variable_as_constant_of_a_jacobian():
    theano.gradient.jacobian(x * y, x, consider_constant=y)


@mistakes.add(ValueError, "a list of variables, got y; write consider_constant=[y]")
def one_variable_as_constant_of_a_product():
    theano.gradient.Lop(x * y, x, x, consider_constant=y)


@mistakes.add(TypeError, "known_grads to be a dictionary of gradients by variables, got [(y, x)]")
def known_gradients_in_a_list():
    theano.grad(None, x, known_grads=[(y, x)])


@mistakes.add(
    DisconnectedInputError, "the cost does not depend on y", "disconnected_inputs='ignore'"
)
def cost_does_not_depend():
    theano.grad(x.sum(), [x, y])


@mistakes.add(DisconnectedInputError, "does not depend on x", "such as a shape or an index")
def dependence_through_a_shape():
    theano.grad(x.shape[0] * 1.0, x)


@mistakes.add(DisconnectedInputError, "does not depend on x")
def dependence_that_was_cut():
    h, _ = theano.scan(
        lambda u, h: h + theano.gradient.disconnected_grad(u),
        sequences=x,
        outputs_info=T.zeros(()),
    )
    theano.grad(h[-1], x)


@mistakes.add(
    NotImplementedError,
    "operation FromFunctionOp{sort} has no gradient",
    "doc/how_to/own_operation.md",
)
def operation_without_a_gradient():
    @theano.compile.ops.as_op(itypes=[T.dvector], otypes=[T.dvector])
    def sort(values):
        return np.sort(values)

    theano.grad(sort(x).sum(), x)


@mistakes.add(ValueError, "mismatched dimensionalities: 1 and 2")
def direction_of_another_type():
    theano.Rop(2 * x, x, M)


@mistakes.add((AssertionError, ValueError), "hessian: expected a scalar as cost, got")
def hessian_of_a_vector():
    theano.gradient.hessian(2 * x, x)


class Undefined(theano.Op):
    """The identity, whose derivative is not defined."""

    __props__ = ()
    itypes = [T.dvector]
    otypes = [T.dvector]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0].copy()

    def grad(self, inputs, output_gradients):
        return [theano.gradient.grad_undefined(self, 0, inputs[0], "of jumps")]


@mistakes.add(
    NullTypeGradError,
    "the grad method for input 0 (x) of the Undefined op is undefined",
    "of jumps",
)
def gradient_that_is_not_defined():
    theano.grad(Undefined()(x).sum(), x)


@mistakes.add(TypeError, "the gradient by an input of Abs is complex128, and gradients are real")
def gradient_of_complex_numbers():
    z = T.zvector("z")
    states, _ = theano.scan(lambda h: h * h, outputs_info=z, n_steps=3)
    theano.grad(abs(states[-1]).sum(), z)


@mistakes.add(Exception, "by the sparse matrix A is not defined", "theano.sparse.CSR")
def gradient_of_a_loop_by_a_sparse_matrix():
    A = theano.sparse.csr_matrix("A")
    states, _ = theano.scan(
        lambda h, A: theano.sparse.structured_dot(A, h), outputs_info=M, non_sequences=A, n_steps=2
    )
    theano.grad(states.sum(), M)
    theano.grad(states.sum(), A)


@pytest.mark.parametrize("name", mistakes)
def test_mistake(name):
    mistakes[name].check()
