"""Mistakes in calls of functions, and what is said of them and of what fails while they run."""

import numpy as np
import pytest
from pytensor.link.c.exceptions import CompileError

import theano
import theano.tensor as T
from tests_scan_grad.messages.mistakes import Mistakes
from theano.tensor.fft import rfft

mistakes = Mistakes()
k, s, x, y = T.lscalar("k"), T.scalar("s"), T.vector("x"), T.vector("y")
M, N = T.matrix("M"), T.matrix("N")
a = T.fvector("a")


# Calls


@mistakes.add(TypeError, 'Missing required input with name "y"', "at index 1", line="f = ")
def argument_is_missing():
    f = theano.function([x, y], x + y)
    f(np.ones(2))


@mistakes.add(
    TypeError, "it takes 1 (x: Vector(float64, shape=(?,))), and 2 were given", line="f = "
)
def too_many_arguments():
    f = theano.function([x], 2 * x)
    f(np.ones(2), np.ones(2))


@mistakes.add(TypeError, "Unknown input 'xs'", "it has x: Vector", "did you mean 'x'?", line="f = ")
def argument_of_an_unknown_name():
    f = theano.function([x], 2 * x)
    f(xs=np.ones(2))


@mistakes.add(
    TypeError, "Multiple values of input 'x'", "at index 0", "and by its name", line="f = "
)
def argument_is_given_twice():
    f = theano.function([x], 2 * x)
    f(np.ones(2), x=np.ones(2))


@mistakes.add(TypeError, "expected 1, got 2 with shape (2, 2)", 'name "x"', line="f = ")
def argument_of_more_dimensions():
    f = theano.function([x], 2 * x)
    f(np.ones((2, 2)))


@mistakes.add(
    TypeError,
    "expected Vector(float32, shape=(?,)), got ndarray of dtype float64",
    "allow_input_downcast=True",
    line="f = ",
)
def argument_that_loses_precision():
    f = theano.function([a], 2 * a)
    f(np.ones(2) + 1e-12)


@mistakes.add(TypeError, "got TensorVariable", "found a Variable", line="f = ")
def argument_is_symbolic():
    f = theano.function([x], 2 * x)
    f(y)


@mistakes.add(TypeError, "got NoneType None. None is no array", line="f = ")
def argument_is_none():
    f = theano.function([x], 2 * x)
    f(None)


@mistakes.add(ValueError, "got list [[1.0, 2.0], [3.0]]", "inhomogeneous", line="f = ")
def rows_of_different_lengths():
    f = theano.function([M], 2 * M)
    f([[1.0, 2.0], [3.0]])


@mistakes.add(TypeError, "got list [1.1, 1.1, 1.1,", "[...]", '"allow_input_downcast=True"')
def many_arguments_that_lose_precision():
    f = theano.function([a], 2 * a)
    f([1.1] * 100_000)


@mistakes.add(ValueError, "got str 'abcabc", "could not convert string to float: 'abcabc", "[...]")
def long_text_as_an_argument():
    f = theano.function([x], 2 * x)
    f("abc" * 10_000)


# What fails while a function runs


@mistakes.add(
    ValueError,
    "shapes (3,4) (3,5)",
    "Add(M, N)",
    "N: ndarray of dtype float64 and shape (3, 5)",
    line="total = ",
)
def lengths_that_differ():
    total = M + N
    theano.function([M, N], total)(np.ones((3, 4)), np.ones((3, 5)))


@mistakes.add(
    ValueError, "T.addbroadcast(x, axis)", "Inputs shapes: [(3, 4), (1, 4)]", line="total = "
)
def length_1_that_is_not_known():
    total = M + N
    theano.function([M, N], total)(np.ones((3, 4)), np.ones((1, 4)))


@mistakes.add(ValueError, "shapes (3,4) and (3,4) not aligned", line="product = ")
def product_that_does_not_fit():
    product = M.dot(N)
    theano.function([M, N], product)(np.ones((3, 4)), np.ones((3, 4)))


@mistakes.add(ValueError, "along dimension 1", "Join", "(3, 5)", line="joined = ")
def joined_lengths_that_differ():
    joined = T.concatenate([M, N])
    theano.function([M, N], joined)(np.ones((3, 4)), np.ones((3, 5)))


@mistakes.add(TypeError, "basic indices must be integers")
def half_of_a_length_as_end():
    x[: x.shape[0] / 2]


@mistakes.add(TypeError, "index must be integers or a boolean mask")
def floats_as_indices():
    x[M]


@mistakes.add(IndexError, "too many indices for tensor")
def more_indices_than_dimensions():
    x[0, 0]


@mistakes.add(IndexError, "index 5 is out of bounds for axis 0 with size 3", line="element = ")
def index_that_is_not_there():
    element = x[5]
    theano.function([x], element)(np.ones(3))


@mistakes.add(
    TypeError,
    "Half: perform must put a value of the type Vector(float64, shape=(?,)) into"
    " output_storage[0][0], and it put list [",
    line="halves = ",
)
def perform_that_puts_a_list():
    class Half(theano.Op):
        __props__ = ()
        itypes, otypes = (T.dvector,), (T.dvector,)

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = [element / 2 for element in inputs[0]]

    halves = Half()(x)
    theano.function([x], halves + 1)(np.ones(3))


@mistakes.add(ValueError, "cannot reshape array of size 5 into shape (2,2)", line="square = ")
def reshape_to_another_size():
    square = x.reshape((2, 2))
    theano.function([x], square)(np.ones(5))


@mistakes.add(ValueError, "negative dimensions are not allowed", "k: ndarray", line="zeros = ")
def negative_length():
    zeros = T.zeros((k,))
    theano.function([k], zeros)(-1)


@mistakes.add(ValueError, "expected 4 in dimension 1 of image, got 2", line="maps = ")
def channels_that_differ():
    images, filters = T.tensor4("images"), T.tensor4("filters")
    maps = T.nnet.conv2d(images, filters)
    theano.function([images, filters], maps)(np.ones((1, 2, 5, 5)), np.ones((3, 4, 2, 2)))


@mistakes.add(AssertionError, "NaN detected", "Log", line="logarithm = ")
def number_that_is_none():
    logarithm = T.log(x)
    theano.function([x], logarithm, mode="NanGuardMode")(-np.ones(2))


@mistakes.add(
    AssertionError,
    "Could not broadcast dimensions",
    "Inputs values: ndarray of dtype int64 and shape (), 3",
    line="length = ",
)
def positions_of_different_numbers():
    i, j = T.lvectors("i", "j")
    length = M[i, j].shape[0]
    theano.function([M, i, j], length)(np.ones((3, 4)), [0, 1], [0, 1, 2])


@mistakes.add(AssertionError, "Got shape (3,), expected (4,)", line="filled = ")
def array_of_another_length():
    filled = T.alloc(x, 4)
    theano.function([x], filled + 1)(np.ones(3))


@mistakes.add(ValueError, "Matmul(X, Y)", line="products = ")
def stacks_of_different_lengths():
    X, Y = T.tensor3("X"), T.tensor3("Y")
    products = T.batched_dot(X, Y)
    f = theano.function([X, Y], products, mode="FAST_COMPILE")
    f(np.ones((2, 3, 4)), np.ones((3, 4, 5)))


@mistakes.add(
    ValueError,
    "Invalid value 'wrong' for norm of rfft: it must be one of None, 'ortho', 'no_norm'",
)
def norm_that_there_is_not():
    rfft(M, norm="wrong")


@mistakes.add(
    CompileError,
    "C code of Undeclared does not compile: ",
    "missing_name",
    "are in the note of this error",
    line="doubled = ",
)
def c_code_that_does_not_compile():
    class Undeclared(theano.Op):
        __props__ = ()
        itypes, otypes = (T.dvector,), (T.dvector,)

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = 2 * inputs[0]

        def c_code(self, node, name, inputs, outputs, sub):
            return "npy_intp length = missing_name + 1;"

    doubled = Undeclared()(x)
    theano.function([x], doubled)


@pytest.mark.parametrize("name", mistakes)
def test_mistake(name):
    mistakes[name].check()


def test_arrays_in_messages_of_operations_are_short():
    X, Y = T.tensor3("X"), T.tensor3("Y")
    f = theano.function([X, Y], T.batched_dot(X, Y))
    with pytest.raises(TypeError, match="must have the same size in axis 0") as caught:
        f(np.ones((2, 9, 30)), np.ones((30, 30, 9)))
    assert len(str(caught.value)) < 3500


def test_values_in_messages_are_short():
    f = theano.function([a], 2 * a)
    for value in ([1.1] * 1000, np.ones(100_000) / 3, "abc" * 1000, [["a" * 1000] * 1000]):
        with pytest.raises((TypeError, ValueError)) as caught:
            f(value)
        assert len(str(caught.value)) < 1200
