"""Arguments of a wrong length are refused, whatever the rewrites leave of a program."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loops.wrong_lengths import PROGRAMS


def compiled(inputs, outputs, mode):
    return theano.function(list(inputs.values()), outputs, mode=mode, on_unused_input="ignore")


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_cost_and_its_gradients_refuse_what_does_not_fit(name, mode):
    program = PROGRAMS[name]
    inputs = program.inputs()
    cost = program.cost(inputs)
    f = compiled(inputs, [cost, *T.grad(cost, list(inputs.values()))], mode)
    f(*program.arrays().values())
    for wrong, arrays in program.mistakes():
        with pytest.raises(ValueError):
            f(*arrays.values())
            pytest.fail(f"{wrong} was accepted")


# gradients that need little of the program's values
ALONE = ("product", "sum", "choice", "maximum", "state", "linear", "inner product", "columns")


@pytest.mark.parametrize("name", ALONE)
def test_a_gradient_alone_has_the_shape_of_its_variable(name):
    """It may need little of what the program computes, and so not see what does not fit there."""
    program = PROGRAMS[name]
    inputs = program.inputs()
    cost = program.cost(inputs)
    for argument, variable in inputs.items():
        f = compiled(inputs, T.grad(cost, variable), "FAST_RUN")
        f(*program.arrays().values())
        for wrong, arrays in program.mistakes():
            try:
                gradient = f(*arrays.values())
            except ValueError:
                continue
            assert np.shape(gradient) == arrays[argument].shape, (argument, wrong)


@pytest.mark.parametrize("argument", ["a", "b"])
def test_the_gradient_of_a_sum_over_rows_refuses_a_factor_of_another_length(argument):
    """It is a sum over the steps that left the loop, in which the factor itself does not occur."""
    program = PROGRAMS["product"]
    inputs = program.inputs()
    f = compiled(inputs, T.grad(program.cost(inputs), inputs[argument]), "FAST_RUN")
    with pytest.raises(ValueError, match="expected"):
        f(*(program.arrays() | {argument: np.ones(5, theano.config.floatX)}).values())


def test_a_filled_increment_of_another_length_is_a_value_error():
    """PyTensor's rewrite takes away the filling and asserts its length."""
    x, n = T.vector("x"), T.lscalar("n")
    f = theano.function([x, n], T.inc_subtensor(x[1:], T.alloc(2.0, n)))
    assert f([1.0, 1.0, 1.0], 2).tolist() == [1.0, 3.0, 3.0]
    with pytest.raises(ValueError):
        f([1.0, 1.0, 1.0], 3)


def test_filling_what_was_filled_to_another_length_is_a_value_error():
    """PyTensor's rewrite fills once and asserts that the lengths are the same."""
    m, n = T.lscalars("m", "n")
    f = theano.function([m, n], T.alloc(T.alloc(2.0, n), 2, m))
    assert f(3, 3).shape == (2, 3)
    with pytest.raises(ValueError):
        f(3, 4)
