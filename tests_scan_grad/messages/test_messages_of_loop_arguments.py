"""Things that a loop cannot be given, and what is said of them."""

import pytest

import theano
import theano.tensor as T
from tests_scan_grad.messages.mistakes import Mistakes

mistakes = Mistakes()
x = T.vector("x")


@mistakes.add(TypeError, "expected variables or arrays in non_sequences, got 'W'")
def name_in_the_place_of_a_variable():
    theano.scan(lambda u, W: u * W, sequences=x, non_sequences="W")


@mistakes.add(TypeError, "expected variables or arrays in n_steps, got '3'")
def number_of_steps_as_text():
    theano.scan(lambda h: 2 * h, outputs_info=x, n_steps="3")


@mistakes.add(TypeError, "scan 'path': expected variables or arrays in outputs_info, got True")
def truth_value_for_a_state():
    theano.scan(lambda u: 2 * u, sequences=x, outputs_info=True, name="path")


@mistakes.add(TypeError, "scan 'path': expected variables or arrays in n_steps, got True")
def truth_value_for_the_number_of_steps():
    theano.scan(lambda h: 2 * h, outputs_info=x, n_steps=True, name="path")


@mistakes.add(TypeError, "scan 'path': expected variables or arrays in sequences, got None")
def no_sequence_in_a_list():
    theano.scan(lambda u: 2 * u, sequences=[None], name="path")


@mistakes.add(TypeError, "scan 'path': expected variables or arrays in non_sequences, got None")
def nothing_that_stays_the_same():
    theano.scan(lambda u, W: u * W, sequences=x, non_sequences=[None], name="path")


@mistakes.add(TypeError, "scan 'path': expected variables or arrays in non_sequences, got {'W': x}")
def dictionary_of_what_stays_the_same():
    theano.scan(lambda u, W: u * W, sequences=x, non_sequences={"W": x}, name="path")


@mistakes.add(KeyError, "with the keys ['input', 'tap']", "did you mean 'taps'?")
def misspelt_taps_of_a_sequence():
    theano.scan(lambda u: 2 * u, sequences=dict(input=x, tap=[-1]))


@mistakes.add(KeyError, "with the keys ['input', 'taps']; its array belongs under 'input'")
def sequence_with_taps_of_nothing():
    theano.scan(lambda u: 2 * u, sequences=dict(input=None, taps=[-1]))


@mistakes.add(
    TypeError,
    "scan 'path': the step function step",
    "returned [[x[t], Mul.0]], in which a pair or a dictionary is of updates, and x[t] is no shared",
    "expected a variable or a list of variables",
    line="def step(",
)
def step_returns_a_list_in_a_list():
    def step(u):
        return [[u, 2 * u]]

    theano.scan(step, sequences=x, name="path")


@mistakes.add(TypeError, "and x[t] is no shared variable", line="def step(")
def step_updates_what_is_not_shared():
    def step(u):
        return 2 * u, {u: 3 * u}

    theano.scan(step, sequences=x)


@pytest.mark.parametrize("name", mistakes)
def test_mistake(name):
    mistakes[name].check()
