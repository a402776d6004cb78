"""Errors of running functions: they name the operation, also inside loops, and the line."""

import inspect
import re

import numpy as np
import pytest

import theano
import theano.tensor as T

MODES = {
    "FAST_RUN": "FAST_RUN",
    "FAST_COMPILE": "FAST_COMPILE",
    "Python": theano.Mode(linker="py", optimizer=None),
    "C": theano.Mode(linker="pytensor_cvm"),
    "NanGuardMode": "NanGuardMode",
}
every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)


def line_of(function, text):
    """The line of a function that begins so, as an error names it."""
    lines, first = inspect.getsourcelines(function)
    [position] = [k for k, line in enumerate(lines) if line.lstrip().startswith(text)]
    return f"Created at: {__file__}:{first + position}"


def message_of(kind, function, *arguments):
    with pytest.raises(kind) as caught:
        function(*arguments)
    return str(caught.value)


@pytest.fixture
def weights():
    return theano.shared(np.ones((5, 4)), name="U")


def make_step(U):
    def step(x_t, h):
        return T.tanh(x_t + T.dot(h, U))

    return step


@every_mode
@pytest.mark.parametrize("differentiated", [False, True])
def test_product_of_a_step(weights, mode, differentiated):
    x, h0 = T.matrix("x"), T.vector("h0")
    step = make_step(weights)
    h, _ = theano.scan(step, sequences=x, outputs_info=h0, name="rnn")
    output = theano.grad(h[-1].sum(), weights) if differentiated else h[-1]
    message = message_of(
        ValueError, theano.function([x, h0], output, mode=mode), np.ones((5, 4)), np.ones(3)
    )
    assert "In a step of the loop rnn: state(h0)[t-1].dot(U)\n" in message
    assert line_of(step, "return") in message
    assert "(5, 4)]\nApply node that caused the error: Scan{rnn" in message
    assert "h0: ndarray of dtype float64 and shape (3,)" in message


@every_mode
def test_innermost_loop_first(mode):
    rows, table = T.lmatrix("rows"), T.matrix("table")

    def take(position, total):
        return total + table[position]

    def of_row(row, total):
        totals, _ = theano.scan(take, sequences=row, outputs_info=total, name="inner")
        return totals[-1]

    totals, _ = theano.scan(of_row, sequences=rows, outputs_info=T.zeros(2), name="outer")
    f = theano.function([rows, table], totals[-1], mode=mode)
    message = message_of(IndexError, f, [[0, 1], [0, 7]], np.ones((3, 2)))
    assert message.startswith("index 7 is out of bounds for axis 0 with size 3\n")
    assert "In a step of the loop inner: table[rows[t][t]]\n" + line_of(take, "return") in message
    assert message.index("of the loop inner") < message.index("of the loop outer")
    assert message.index("of the loop outer") < message.index("Apply node")
    np.testing.assert_array_equal(f([[0, 1], [0, 2]], np.ones((3, 2))), [4, 4])


@every_mode
def test_step_that_failed_before_is_not_named_again(weights, mode):
    x, y = T.matrix("x"), T.matrix("y")
    h, _ = theano.scan(
        lambda x_t, y_t, h: x_t + y_t + T.dot(h, weights[:4]),
        sequences=[x, y],
        outputs_info=T.zeros(4),
        n_steps=3,
    )
    f = theano.function([x, y], h, mode=mode)
    assert "In a step" in message_of(ValueError, f, np.ones((3, 4)), np.ones((3, 5)))
    assert "In a step" not in message_of(ValueError, f, np.ones((2, 4)), np.ones((2, 4)))


@every_mode
def test_no_silent_broadcasting_in_a_step(mode):
    x, b = T.tensor3("x"), T.matrix("b")

    def step(x_t, h):
        return T.tanh(x_t + h + b)

    h, _ = theano.scan(step, sequences=x, outputs_info=T.zeros((2, 3)))
    f = theano.function([x, b], h[-1], mode=mode)
    message = message_of(ValueError, f, np.ones((4, 2, 3)), np.ones((1, 3)))
    assert line_of(step, "return") in message


@every_mode
@pytest.mark.parametrize("given", [[1, 7], [-4, 0]])
def test_index_outside_of_an_array(mode, given):
    x, positions = T.matrix("x"), T.lvector("positions")
    taken = x[positions]
    message = message_of(
        IndexError, theano.function([x, positions], taken.sum(), mode=mode), np.ones((3, 2)), given
    )
    assert "is out of bounds for axis 0 with size 3\nApply node that caused" in message
    assert line_of(test_index_outside_of_an_array, "taken = x") in message


def test_failed_update_is_made_no_second_time():
    table = theano.shared(np.zeros((5, 2)), name="table")
    positions = T.lvector("positions")
    add = theano.function([positions], updates=[(table, T.inc_subtensor(table[positions], 1))])
    add([3])
    before = table.get_value()
    message = message_of(IndexError, add, [9, 3])
    assert "index 9 is out of bounds" in message
    np.testing.assert_array_equal(table.get_value(), before)
    add([3])
    assert table.get_value()[3, 0] == 2


def test_gradient_names_a_line_of_the_user():
    x, y = T.matrix("x"), T.lvector("y")
    cost = T.nnet.categorical_crossentropy(T.nnet.softmax(x), y).mean()
    f = theano.function([x, y], theano.grad(cost, x))
    message = message_of(IndexError, f, np.ones((3, 3)), [0, 1, 5])
    line = line_of(test_gradient_names_a_line_of_the_user, "cost = ")
    assert line.replace("Created at", "Computed from what was created at") in message


def a_result_that_nobody_reads(x, w):
    (states, _), _ = theano.scan(
        lambda v, h: (T.dot(w, h) + v, v * 2),
        x,
        [x[0], None],
    )
    return states


def a_sequence_given_twice(x, w):
    states, _ = theano.scan(
        lambda v, u, h: T.dot(w, h) + v * u,
        [x, x],
        x[0],
    )
    return states


def loops_that_become_one(x, w):
    states, _ = theano.scan(
        lambda v, h: T.dot(w, h) + v,
        x,
        x[0],
    )
    others, _ = theano.scan(lambda v, h: h * T.exp(v), x, x[0])
    return [states, others]


def a_loop_that_ends(x, w):
    (states, _), _ = theano.scan(
        lambda v, h: ((T.dot(w, h) + v, v * 2), theano.scan_module.until(h[0] > 5)),
        x,
        [x[0], None],
    )
    return states


@pytest.mark.parametrize("mode", ["FAST_RUN", theano.Mode(linker="vm")], ids=["FAST_RUN", "vm"])
@pytest.mark.parametrize(
    "loop",
    [a_result_that_nobody_reads, a_sequence_given_twice, loops_that_become_one, a_loop_that_ends],
)
def test_a_loop_that_was_made_anew_names_the_line_of_its_step(loop, mode):
    x, w = T.matrix("x"), T.matrix("w")
    f = theano.function([x, w], loop(x, w), mode=mode)
    message = message_of(ValueError, f, np.ones((3, 4)), np.ones((5, 6)))
    assert line_of(loop, "lambda ") in message


def test_number_that_was_given():
    steps = T.iscalar("steps")
    h, _ = theano.scan(lambda h: h + 1, outputs_info=T.zeros(()), n_steps=steps)
    message = message_of(ValueError, theano.function([steps], h), -3)
    assert "steps: ndarray of dtype int32 and shape (), -3, expected" in message
    assert line_of(test_number_that_was_given, "h, _ = theano.scan") in message


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE", "XLA", theano.Mode(linker="py")])
@pytest.mark.parametrize(
    "make",
    [
        lambda x: x + np.ones((2, 3)),
        lambda x: (x * np.ones((2, 3))).sum(),
        lambda x: T.grad(T.nnet.binary_crossentropy(T.nnet.sigmoid(x), np.ones((2, 3))).mean(), x),
        lambda x: x[:, ::-1] - T.zeros((2, 3)),
    ],
)
def test_operands_of_other_lengths_are_a_value_error(make, mode):
    if mode == "XLA":
        pytest.importorskip("jax")
    x = T.dmatrix("x")
    f = theano.function([x], make(x), mode=mode)
    f(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"\(4, 3\)"):
        f(np.ones((4, 3)))


def test_a_shape_that_the_program_declares_is_an_assertion_error():
    x = T.dmatrix("x")
    f = theano.function([x], T.specify_shape(x, (2, 3)) + 1)
    with pytest.raises(AssertionError, match=r"Got shape \(4, 3\), expected \(2, 3\)"):
        f(np.ones((4, 3)))


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_lengths_that_differ_are_told_in_theanos_words(mode):
    x, y, z = T.matrices("xyz")
    f = theano.function([x, y, z], T.exp(x) * y + z, mode=mode)
    with pytest.raises(ValueError) as caught:
        f(np.ones((3, 4)), np.ones((3, 4)), np.ones((3, 5)))
    assert re.search(
        r"Input dimension mis-match. \(input\[\d\].shape\[1\] = (4|5), "
        r"input\[\d\].shape\[1\] = (5|4)\)",
        str(caught.value),
    )
