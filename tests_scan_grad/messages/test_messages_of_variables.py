"""Mistakes in variables, values of shared variables and flags, and what is said of them."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import run_python
from tests_scan_grad.messages.mistakes import Mistakes, shared
from theano.ifelse import ifelse
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.tensor.var import AsTensorError

mistakes = Mistakes()
k, s, x = T.lscalar("k"), T.scalar("s"), T.vector("x")
M = T.matrix("M")
a = T.fvector("a")


# Variables used as values


@mistakes.add(TypeError, "do not support boolean operations", "T.lt")
def truth_of_a_comparison():
    bool(x < 1)


@mistakes.add(TypeError, "cannot be converted to Python float")
def variable_as_a_number():
    float(s)


@mistakes.add(TypeError, "does not support item assignment")
def assignment_to_an_element():
    x[0] = 1


@mistakes.add(TypeError, "must be the result of a subtensor operation")
def set_subtensor_of_a_whole():
    T.set_subtensor(x, 1.0)


@mistakes.add(AsTensorError, "Cannot convert 'a' of <class 'str'>")
def text_as_a_tensor():
    T.as_tensor_variable("a")


@mistakes.add(TypeError, "float23")
def unknown_dtype():
    T.vector(dtype="float23")


@mistakes.add(TypeError, "true_branch=1, false_branch=2")
def branches_of_two_types():
    ifelse(k, x, M)


@mistakes.add(TypeError, "can not be symbolic")
def shared_of_a_variable():
    theano.shared(x)


@mistakes.add(
    TypeError, "shared variable w: expected Vector(float64", "shape (3, 3)", "expected 1, got 2"
)
def value_of_more_dimensions():
    shared().set_value(np.zeros((3, 3)))


@mistakes.add(
    TypeError, "shared variable w: expected Vector(float32", "got ndarray of dtype float64"
)
def value_that_loses_precision():
    shared("float32").set_value(np.full(3, 1e-12))


def test_a_shared_variable_is_not_advised_as_an_input_is():
    for value, advice in (
        (np.ones(3), "If you do not mind this loss, store value.astype('float32')."),
        (np.ones(3, "complex64"), "Store value.real, or make the shared variable one of complex64"),
    ):
        with pytest.raises(TypeError) as caught:
            shared("float32").set_value(value)
        assert advice in str(caught.value) and "allow_input_downcast" not in str(caught.value)


@pytest.mark.parametrize("name", ["uniform", "normal", "binomial", "truncated_normal"])
def test_samples_of_a_symbolic_size_ask_for_the_number_of_dimensions(name):
    with pytest.raises(ValueError, match="expected ndim, .* where the size v is a vector"):
        getattr(MRG_RandomStreams(1), name)(size=T.lvector("v"))


@mistakes.add(ValueError, "a seed that is not 0")
def seed_of_zero():
    MRG_RandomStreams(0)


# Joining


@mistakes.add(
    TypeError,
    "concatenate: expected tensors of the same number of dimensions",
    "tensors[0] (x) has 2, and tensors[1] (v) has 1",
)
def matrix_and_vector_concatenated():
    T.concatenate([T.matrix("x"), T.vector("v")])


@mistakes.add(TypeError, "stack: expected tensors", "tensors[2] (x) has 2")
def matrix_stacked_on_vectors():
    T.stack([T.vector(), T.vector(), T.matrix("x")])


@mistakes.add(TypeError, "join: expected tensors", "tensors[1] (v) has 1")
def matrix_and_vector_joined():
    T.join(0, T.matrix("x"), T.vector("v"))


# Flags


@mistakes.add(AttributeError, "no flag 'flotaX'; did you mean 'floatX'?")
def misspelt_flag():
    theano.config.flotaX = "float32"


@mistakes.add(ValueError, '"float23"', "valid values are", "did you mean 'float32'?")
def value_that_a_flag_has_not():
    theano.config.floatX = "float23"


@mistakes.add(Exception, "Can't change the value of 'device'", "THEANO_FLAGS=device=")
def device_after_the_start():
    theano.config.device = "cuda"


@pytest.mark.parametrize("name", mistakes)
def test_mistake(name):
    mistakes[name].check()


@pytest.mark.parametrize(
    ("flags", "status", "said"),
    [
        (
            "floatX=float23",
            1,
            "valid values are 'float64', 'float32', 'float16'; did you mean 'float32'?",
        ),
        ("flotaX=float32", 1, "did you mean 'floatX'?"),
        ("floatX", 0, "TheanoConfigWarning: Config key 'floatX' has no value, ignoring it"),
        ("device=gpu7", 0, "The flag device=gpu7 has no effect: use device=cuda for a GPU"),
    ],
)
def test_flags_of_the_environment(flags, status, said):
    done = run_python("import theano", THEANO_FLAGS=flags)
    assert done.returncode == status
    assert said in done.stderr.splitlines()[-1]
