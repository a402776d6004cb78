"""Mistakes in what functions are made of, in updates and givens, and what is said of them."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.messages.mistakes import Mistakes, shared
from theano.compile.function_module import UnusedInputError
from theano.gof.fg import MissingInputError

mistakes = Mistakes()
k, s, x, y = T.lscalar("k"), T.scalar("s"), T.vector("x"), T.vector("y")
M, N = T.matrix("M"), T.matrix("N")
a = T.fvector("a")


# What a function is made of


@mistakes.add(MissingInputError, "Input 1 (y) of the graph", "compute Add(x, y)", "not provided")
def input_is_missing():
    theano.function([x], x + y)


@mistakes.add(UnusedInputError, "at index 1 is not part of", ": y.", "on_unused_input='warn'")
def input_is_not_used():
    theano.function([x, y], x)


@mistakes.add(UnusedInputError, "Variable x is used twice", "at indices 0 and 1")
def input_is_listed_twice():
    theano.function([x, x], x)


@mistakes.add(TypeError, "should be contained in a list", "got TensorVariable")
def input_without_a_list():
    theano.function(x, x)


@mistakes.add(
    TypeError, "Unknown parameter type: <class 'str'>: inputs[1] is str 'x'", "expected a variable"
)
def input_is_a_name():
    theano.function([y, "x"], x)


@mistakes.add(
    TypeError, "inputs[0] is ndarray of dtype float64 and shape (3,); expected a variable"
)
def input_is_an_array():
    theano.function([np.ones(3)], x)


@mistakes.add(TypeError, "inputs[1] is the constant", "expected a variable without a value")
def input_is_a_constant():
    theano.function([x, T.constant(1.0)], x)


@mistakes.add(
    TypeError, "Outputs must be Theano variables or Out instances. Received y of type", "as outputs"
)
def output_is_a_name():
    theano.function([x], "y")


@mistakes.add(TypeError, "Received y of type <class 'str'> as outputs[1]")
def one_output_is_a_name():
    theano.function([x], [x, "y"])


@mistakes.add(TypeError, "Received 1.0 of type <class 'float'> as outputs['total']")
def output_by_name_is_a_number():
    theano.function([x], {"twice": 2 * x, "total": 1.0})


@mistakes.add(TypeError, "'borow'")
def misspelt_argument_of_an_output():
    theano.function([x], theano.Out(x, borow=True))


@mistakes.add(TypeError, "Cannot use a shared variable (w) as explicit input", "givens")
def input_is_shared():
    theano.function([w := shared()], 2 * w)


@mistakes.add(ValueError, "No predefined mode exists for 'FAST_RNU'", "did you mean 'FAST_RUN'?")
def misspelt_mode():
    theano.function([x], x, mode="FAST_RNU")


# Updates and givens


@mistakes.add(
    TypeError,
    "An update must have the same type as the original shared variable",
    "w is Vector(float32, shape=(?,)), and its new value",
    "is Vector(float64, shape=(?,))",
    "T.cast(value, 'float32')",
    "doc/reference/flags.md",
    line="new = w + x",
)
def update_of_another_dtype():
    w = shared("float32")
    new = w + x
    theano.function([x], [], updates=[(w, new)])


@mistakes.add(
    TypeError,
    "mend what made the value float64: Mul (created at",
    "makes it of Vector(float32, shape=(?,)), Vector(int64, shape=(?,))",
    line="mixed = a",
)
def update_that_an_integer_made_wide():
    w, counts = shared("float32"), T.lvector("counts")
    mixed = a * counts
    theano.function([a, counts], [], updates=[(w, T.exp(mixed) + w)])


@mistakes.add(TypeError, "x is float64, which", "reads", line="mixed = a")
def update_that_an_input_made_wide():
    w = shared("float32")
    mixed = a * x
    theano.function([a, x], [], updates=[(w, mixed - w)])


@mistakes.add(TypeError, "one without a name is Scalar(int64", "make the shared variable float64")
def counter_that_becomes_a_fraction():
    counter = theano.shared(0)
    theano.function([], [], updates=[(counter, counter + 0.5)])


@mistakes.add(TypeError, "w is Vector(float64", "M is Matrix(float64", "2 dimensions in place of 1")
def update_of_more_dimensions():
    theano.function([M], [], updates=[(shared(), M)])


@mistakes.add(ValueError, "w is to become Add.0", "already has an update", line="updates = [")
def update_twice():
    w = shared()
    updates = [(w, w + 1), (w, w + 2)]
    theano.function([], [], updates=updates)


@mistakes.add(TypeError, "update target must be a SharedVariable", "but is y")
def update_of_what_is_not_shared():
    theano.function([x], x, updates=[(y, x)])


@mistakes.add(ValueError, "list of lists/tuples with 2 elements", "got w")
def updates_that_are_no_pairs():
    theano.function([], [], updates=[shared()])


@mistakes.add(TypeError, "updates[0]: update target", "is ndarray of dtype float64 and shape (2,)")
def update_of_an_array():
    theano.function([x], x, updates=[(np.ones(2), x)])


@mistakes.add(
    TypeError,
    "givens[1]: expected a pair (variable, replacement)",
    "the variable is ndarray of dtype float64 and shape (2, 2)",
)
def givens_the_wrong_way_round():
    theano.function([], M, givens=[(y, x), (np.ones((2, 2)), M)])


@mistakes.add(ValueError, "givens[0]: expected a pair (variable, replacement), got x")
def givens_that_are_no_pairs():
    theano.function([], x, givens=[x])


@mistakes.add(AssertionError, "givens: x is to be replaced by", line="givens = [")
def given_twice():
    givens = [(x, T.ones(3)), (x, T.zeros(3))]
    theano.function([], 2 * x, givens=givens)


@mistakes.add(RuntimeError, "replace variable 'x' through the `givens` parameter", "an input")
def input_is_given():
    theano.function([x], 2 * x, givens={x: y})


@mistakes.add(TypeError, "Matrix(float64", "into Type Vector(float64")
def given_of_another_type():
    theano.function([], 2 * x, givens={x: np.ones((3, 3))})


@mistakes.add(TypeError, "givens: training is of int32", "by 1 of int64: np.int32(1) makes it")
def a_number_of_another_dtype_is_given():
    training = T.iscalar("training")
    theano.function([x], x * training, givens={training: 1})


@mistakes.add(TypeError, "givens: rows is of float32", "by an array of float64: astype makes it")
def an_array_of_another_dtype_is_given():
    rows = T.fmatrix("rows")
    theano.function([], rows * 2, givens={rows: np.ones((2, 2))})


@mistakes.add(TypeError, "givens: rows is of float32", "M of float64: T.cast(..., 'float32') makes")
def a_variable_of_another_dtype_is_given():
    rows = T.fmatrix("rows")
    theano.function([M], rows * 2, givens={rows: M})


@mistakes.add(TypeError, "Matrix(float64", "of Variable M", "into Type Vector(float64")
def clone_of_another_type():
    theano.clone(2 * x, replace={x: M})


@pytest.mark.parametrize("name", mistakes)
def test_mistake(name):
    mistakes[name].check()
