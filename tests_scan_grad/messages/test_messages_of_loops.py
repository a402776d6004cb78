"""Mistakes in loops, and what is said of them."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.messages.mistakes import Mistakes
from theano.gof.fg import MissingInputError
from theano.scan_module import until

mistakes = Mistakes()
k, s, x, M, X = T.lscalar("k"), T.scalar("s"), T.vector("x"), T.matrix("M"), T.tensor3("X")


# The step's arguments and results


@mistakes.add(TypeError, "expected a function of one step, got 3")
def no_function():
    theano.scan(3, sequences=x)


@mistakes.add(
    TypeError,
    "is called with 2 argument(s), in this order: elements of the sequences, values of the steps",
    "it takes (u): too many positional arguments",
    line="theano.scan(",
)
def step_takes_too_few():
    theano.scan(lambda u: u, sequences=x, outputs_info=T.zeros(()))


@mistakes.add(
    TypeError, "it takes (u, h, W): missing a required argument: 'W'", line="theano.scan("
)
def step_takes_too_many():
    theano.scan(lambda u, h, W: u, sequences=x, outputs_info=T.zeros(()))


@mistakes.add(
    ValueError, "returned None; expected a variable or a list of variables", line="def step("
)
def step_returns_nothing():
    def step(u, h):
        u + h

    theano.scan(step, sequences=x, outputs_info=T.zeros(()))


@mistakes.add(
    ValueError,
    "returned 3.0; expected",
    "T.constant(number)",
    "doc/tutorials/scan_by_example.md",
    line="def step(",
)
def step_returns_a_number():
    def step(u):
        return 3.0

    theano.scan(step, sequences=x)


@mistakes.add(ValueError, "returned {'h': Add.0}; expected", line="def step(")
def step_returns_a_dictionary_of_names():
    def step(u, h):
        return {"h": u + h}

    theano.scan(step, sequences=x, outputs_info=T.zeros(()))


@mistakes.add(
    ValueError,
    "returned (Add.0, x[t], until(Gt.0)); expected",
    "`return [a, b], updates, until(a > 1)`",
    line="def step(",
)
def outputs_and_condition_in_one_tuple():
    def step(u, h):
        return u + h, u, until(u > 3)

    theano.scan(step, sequences=x, outputs_info=[T.zeros(()), None])


@mistakes.add(ValueError, "returned [[Add.0], [x[t]]]; expected", line="def step(")
def step_returns_lists_of_lists():
    def step(u, h):
        return [[u + h], [u]]

    theano.scan(step, sequences=x, outputs_info=[T.zeros(()), None])


@mistakes.add(
    ValueError,
    "In a step of the loop scan_fn: x[t] + state(0)[t-1].dot(u)",
    "A state of a loop keeps the length of its first value: T.zeros((x.shape[1], n))",
    line="lambda x, h, u:",
)
def start_of_one_row_where_the_later_ones_have_more():
    x, u = T.dtensor3("x"), T.dmatrix("u")
    h, _ = theano.scan(
        lambda x, h, u: T.tanh(x + h.dot(u)), x, outputs_info=T.zeros((1, 2)), non_sequences=u
    )
    theano.function([x, u], theano.grad(h[-1].sum(), u))(np.ones((3, 4, 2)), np.ones((2, 2)))


@mistakes.add(ValueError, "returned 2 output(s), but outputs_info has 1 entry", line="def step(")
def too_few_entries_of_outputs_info():
    def step(u, h):
        return u + h, u

    theano.scan(step, sequences=x, outputs_info=[T.zeros(())])


@mistakes.add(ValueError, "returned 1 output(s), but outputs_info has 2 entries", line="def step(")
def too_many_entries_of_outputs_info():
    def step(u, h, g):
        return u + h

    theano.scan(step, sequences=x, outputs_info=[T.zeros(()), T.zeros(())])


# States


@mistakes.add(
    ValueError,
    "the initial value of output 0 has dtype float32, and the step returns float64",
    "T.zeros(shape, dtype='float64')",
    "it is the step function step",
    line="def step(",
)
def float32_becomes_float64():
    def step(u, h):
        return u + h

    theano.scan(step, sequences=x, outputs_info=T.constant(np.float32(0)))


@mistakes.add(
    ValueError,
    "the initial value of output 0 (start) has dtype float32, and the step returns float64.",
    "The numbers of its dimensions differ, too: it has 0, and the step returns 1",
)
def float32_number_becomes_a_float64_vector():
    theano.scan(lambda u, h: u + h, sequences=M, outputs_info=T.fscalar("start"))


@mistakes.add(
    ValueError, "output 0 (start) has 0 for each step, and the step returns 1", "step function"
)
def numbers_of_steps_before_become_a_vector():
    start = {"initial": T.vector("start"), "taps": [-2]}
    theano.scan(lambda u, h: u + h, sequences=M, outputs_info=start)


@mistakes.add(ValueError, "map: a sequence has fewer rows than the loop's number of steps: x")
def fewer_rows_than_steps_of_what_leaves_a_loop():
    n_steps = T.iscalar("n_steps")
    rows, _ = theano.scan(lambda u: T.exp(u) * 2, sequences=x, n_steps=n_steps, name="map")
    theano.function([x, n_steps], rows)(np.ones(3), 5)


@mistakes.add(TypeError, "In outputs_info, entry 0 is None, so no state is passed for it")
def state_without_an_entry():
    theano.scan(lambda u, h: u + h, sequences=x, outputs_info=[None])


@mistakes.add(TypeError, "Without outputs_info, no state is passed")
def state_without_outputs_info():
    theano.scan(lambda u, h: u + h, sequences=x)


@mistakes.add(ValueError, "output 0 has dtype int8, and the step returns float64")
def whole_number_becomes_a_fraction():
    theano.scan(lambda h: h / 2, outputs_info=T.constant(4), n_steps=3)


@mistakes.add(ValueError, "scan 'sums'", "output 0 has 0, and the step returns 1")
def number_becomes_a_vector():
    theano.scan(lambda u, h: u + h, sequences=M, outputs_info=T.zeros(()), name="sums")


@mistakes.add(
    ValueError,
    "shape (4,) into shape (3,)",
    "A state keeps its shape: a step returned a value of another shape",
    "Inputs shapes",
    line="h, _ = theano.scan(",
)
def state_changes_its_shape():
    h, _ = theano.scan(lambda h, M: h.dot(M), outputs_info=x, non_sequences=M, n_steps=2)
    theano.function([x, M], h)(np.ones(3), np.ones((3, 4)))


@mistakes.add(
    ValueError,
    "shapes (3,) (4,)",
    "In a step of the loop sums: M[t] + state(x)[t-1]",
    "M: ndarray of dtype float64 and shape (2, 3)",
    line="return u + h",
)
def terms_of_a_step_do_not_fit():
    def step(u, h):
        return u + h

    h, _ = theano.scan(step, sequences=M, outputs_info=x, name="sums")
    theano.function([M, x], h)(np.ones((2, 3)), np.ones(4))


@mistakes.add(ValueError, "(3,4) not aligned", "Created at", line="return T.tanh(u.dot(M))")
def product_that_left_the_loop_does_not_fit():
    def step(u, M):
        return T.tanh(u.dot(M))

    h, _ = theano.scan(step, sequences=X, non_sequences=M)
    theano.function([X, M], h)(np.ones((2, 3, 4)), np.ones((3, 4)))


@mistakes.add(ValueError, "output 0 has the taps [0]", "all tap values must be smaller than 0")
def tap_of_a_state_in_the_present():
    theano.scan(lambda h: h, outputs_info=dict(initial=x, taps=[0]), n_steps=3)


@mistakes.add(TypeError, "output 0: taps: expected integers, such as [-2, -1]", "got '-1'")
def taps_in_words():
    theano.scan(lambda a: a, outputs_info=dict(initial=x, taps="-1"), n_steps=3)


@mistakes.add(TypeError, "sequence 0: taps: expected integers", "got [0, 0.5]")
def taps_between_elements():
    theano.scan(lambda a, b: a + b, sequences=dict(input=x, taps=[0, 0.5]))


@mistakes.add(ValueError, "output 0 has the taps [-1, -1]: all of them must be different")
def tap_twice():
    theano.scan(lambda a, b: a + b, outputs_info=dict(initial=x, taps=[-1, -1]), n_steps=3)


@mistakes.add(ValueError, "output 0 is read at the taps [-2, -1], and needs an initial state")
def taps_without_an_initial_state():
    theano.scan(lambda a, b: a + b, outputs_info=dict(taps=[-2, -1]), n_steps=3)


@mistakes.add(
    ValueError,
    "output 0 is read 2 steps back, so that its initial value needs 2 rows",
    "Inputs shapes: [(1,), ()]",
    line="h, _ = theano.scan(",
)
def initial_state_with_too_few_rows():
    h, _ = theano.scan(lambda a, b: a + b, outputs_info=dict(initial=x, taps=[-2, -1]), n_steps=3)
    theano.function([x], h)(np.ones(1))


@mistakes.add(ValueError, "output 0 has the key 'inital'", "did you mean 'initial'?")
def misspelt_key_of_a_state():
    theano.scan(lambda h: h, outputs_info=dict(inital=x), n_steps=3)


# Sequences and the number of steps


@mistakes.add(KeyError, "sequence 0 is a dictionary with the keys ['inputs']", "under 'input'")
def misspelt_key_of_a_sequence():
    theano.scan(lambda u: u, sequences=dict(inputs=x))


@mistakes.add(IndexError, "sequence 0 (s) is a number", "belongs in non_sequences")
def sequence_is_a_number():
    theano.scan(lambda u: 2 * u, sequences=s)


@mistakes.add(
    ValueError,
    "a sequence has fewer rows than the loop's number of steps",
    "x: ndarray of dtype float64 and shape (3,)",
    line="h, _ = theano.scan(",
)
def sequence_is_too_short():
    h, _ = theano.scan(lambda u: 2 * u, sequences=x, n_steps=5)
    theano.function([x], h)(np.ones(3))


@mistakes.add(ValueError, "n_steps must be an int", "float64")
def number_of_steps_is_a_fraction():
    theano.scan(lambda h: 2 * h, outputs_info=x, n_steps=s)


@mistakes.add(TypeError, "scan 'path': truncate_gradient must be an int", "got 2.5, of type float")
def gradient_of_a_fraction_of_steps():
    theano.scan(lambda h: 2 * h, outputs_info=x, n_steps=5, truncate_gradient=2.5, name="path")


@mistakes.add(ValueError, "number of steps")
def number_of_steps_is_not_given():
    theano.scan(lambda h: 2 * h, outputs_info=x)


@mistakes.add(ValueError, "scan 'path': n_steps must be an int, but 2.5 has the dtype float")
def fractional_number_of_steps():
    theano.scan(lambda h: 2 * h, outputs_info=x, n_steps=2.5, name="path")


@mistakes.add(ValueError, "n_steps must be an int, but nan has the dtype float", "T.iround")
def number_of_steps_that_is_no_number():
    theano.scan(lambda u: 2 * u, sequences=x, n_steps=float("nan"))


@mistakes.add(ValueError, "n_steps must be an int, but -2.0 has the dtype float")
def negative_fractional_number_of_steps():
    theano.scan(lambda h: 2 * h, outputs_info=x, n_steps=T.constant(-2.0))


@mistakes.add(ValueError, "n_steps must be one integer, but [2 3] has the shape (2,)")
def two_numbers_of_steps():
    theano.scan(lambda h: 2 * h, outputs_info=x, n_steps=np.array([2, 3]))


@mistakes.add(ValueError, "n_steps must be one integer, but times has the shape (?,)")
def times_as_number_of_steps():
    theano.scan(lambda h: 2 * h, outputs_info=x, n_steps=T.lvector("times"))


@mistakes.add(IndexError, "n_steps must be 0 or more, but is -2", "go_backwards=True")
def negative_number_of_steps():
    theano.scan(lambda h: 2 * h, outputs_info=x, n_steps=-2)


@mistakes.add(IndexError, "number of steps is negative", line="h, _ = theano.scan(")
def negative_number_of_steps_in_a_call():
    h, _ = theano.scan(lambda i, s: i * s, sequences=x, non_sequences=s, n_steps=k)
    theano.function([x, s, k], h)(np.ones(3), 1.0, -2)


@mistakes.add(
    ValueError,
    "was asked for a negative number of steps",
    "-2, expected",
    line="h, _ = theano.scan(",
)
def negative_number_of_steps_of_a_state():
    h, _ = theano.scan(lambda h: 2 * h, outputs_info=x, n_steps=k)
    theano.function([x, k], h)(np.ones(3), -2)


@mistakes.add(TypeError, "'sequence'")
def misspelt_argument():
    theano.scan(lambda u: u, sequence=x)


@mistakes.add(
    MissingInputError,
    "scan 'path': with strict=True, what the step reads of shared variables must be in"
    " non_sequences, and w is not",
)
def shared_variable_that_a_strict_loop_is_not_given():
    w, v = theano.shared(1.0, name="w"), theano.shared(2.0, name="v")
    theano.scan(lambda u, v: u * v * w, x, non_sequences=[v], strict=True, name="path")


@mistakes.add(TypeError, "one is the updates of a loop", "`outputs, updates = theano.scan(...)`")
def outputs_and_updates_that_are_not_taken_apart():
    theano.function([x], theano.scan(lambda u: 2 * u, sequences=x))


# Conditions, functions, what belongs to the loop


@mistakes.add(AssertionError, "expected one boolean, got Gt.0, Vector(bool", "T.all or T.any")
def condition_of_several_elements():
    theano.scan(lambda h: (2 * h, until(h > 3)), outputs_info=x, n_steps=3)


@mistakes.add(TypeError, "until: expected a scalar variable, got False", "write T.eq(a, b)")
def condition_that_python_computed():
    theano.scan(lambda h: (2 * h, until(h == 3)), outputs_info=T.zeros(()), n_steps=3)


@mistakes.add(TypeError, "until: expected a scalar variable, got None")
def no_condition():
    theano.scan(lambda h: (2 * h, until(None)), outputs_info=T.zeros(()), n_steps=3)


@mistakes.add(
    ValueError,
    "returned 2 output(s), but outputs_info has 1 entry",
    "If the loop shall end once Gt.0 is true, return until(Gt.0) in its place",
    line="theano.scan(",
)
def condition_without_until():
    theano.scan(lambda h: (2 * h, h > 3), outputs_info=T.zeros(()), n_steps=3)


@mistakes.add(
    ValueError,
    "returned ([Mul.0], Gt.0); expected",
    "If the loop shall end once Gt.0 is true, return until(Gt.0) in its place",
    line="theano.scan(",
)
def condition_after_a_list_without_until():
    theano.scan(lambda h: ([2 * h], h > 3), outputs_info=T.zeros(()), n_steps=3)


@mistakes.add(
    ValueError, "No information about the number of steps", "`until` needs n_steps as well"
)
def condition_without_number_of_steps():
    theano.scan(lambda h: (2 * h, until(h > 3)), outputs_info=T.zeros(()))


@mistakes.add(TypeError, "Outputs must be Theano variables", "until")
def condition_outside_of_a_loop():
    theano.function([x], until(x.sum() > 3))


@mistakes.add(TypeError, "do not support boolean operations", "T.and_(a < b, b < c)")
def condition_of_python_in_a_step():
    theano.scan(lambda u: u if u > 0 else -u, sequences=x)


@mistakes.add(TypeError, 'Bad input argument with name "u"', "found a Variable")
def function_compiled_in_a_step():
    def step(element):
        u = T.dscalar("u")
        return theano.function([u], 2 * u)(element)

    theano.scan(step, sequences=x)


@mistakes.add(MissingInputError, "Input 3 (s) of the graph", "was not provided", "Theano flag")
def input_of_a_step_is_missing():
    h, _ = theano.scan(lambda u: u * s, sequences=x)
    theano.function([x], h)


@mistakes.add(
    TypeError, "must have the same type", "shared_var=w", "Vector(float64", "update_val=x[t]"
)
def update_of_another_type_in_a_step():
    w = theano.shared(np.zeros(3), name="w")
    _, updates = theano.scan(lambda u: {w: u}, sequences=x)
    theano.function([x], [], updates=updates)


# Sparse matrices

A = theano.sparse.csr_matrix("A")


@mistakes.add(Exception, "sequence 0 is a sparse matrix, A", "dense_from_sparse", "non_sequences")
def sparse_sequence():
    theano.scan(lambda u: u, sequences=A)


@mistakes.add(Exception, "the initial value of output 0 is a sparse matrix, A")
def sparse_state():
    theano.scan(lambda h: theano.sparse.mul(h, 2.0), outputs_info=A, n_steps=3)


@mistakes.add(Exception, "output 1 is a sparse matrix", line="theano.scan(")
def sparse_result():
    theano.scan(lambda u: (u, theano.sparse.mul(A, 2.0)), sequences=x)


@mistakes.add(AttributeError, "updates have no attribute 'sum'", "outputs, updates = theano.scan(")
def result_not_taken_apart():
    theano.scan(lambda u: 2 * u, sequences=x)[-1].sum()


@pytest.mark.parametrize("name", mistakes)
def test_mistake(name):
    mistakes[name].check()
