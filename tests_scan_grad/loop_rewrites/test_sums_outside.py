"""Sums that leave a loop are what the loop would have added up, in its dtype and its order."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import loops, python_mode

MODES = {"native": "FAST_RUN", "python": python_mode(), "xla": "XLA"}
HUGE = np.float32(3e38)


def last_value(step, start, sequences=None, **options):
    values, _ = theano.scan(step, sequences=sequences, outputs_info=start, **options)
    return values[-1]


def zero(dtype):
    return T.constant(np.zeros((), dtype))


@pytest.fixture(params=MODES)
def compiled(request):
    """``theano.function`` of a loop that goes, in each engine."""

    def function(inputs, output):
        made = theano.function(inputs, output, mode=MODES[request.param])
        assert loops(made) == []
        return made

    return function


@pytest.mark.parametrize(
    ("start", "step", "values", "expected"),
    [
        pytest.param("int64", lambda x, s: s + x, np.ones(300, "int8"), 300, id="narrow integers"),
        pytest.param("int8", lambda x, s: s + x, np.ones(300, "int8"), 44, id="wrapping integers"),
        pytest.param("uint64", lambda x, s: s - x, np.ones(3, "uint8"), 2**64 - 3, id="unsigned"),
        pytest.param(
            "int64",
            lambda x, s: s + (x > 0) + (x > 1),
            np.arange(5, dtype="int8"),
            7,
            id="booleans",
        ),
        pytest.param("float64", lambda x, s: s + x, np.full(3, HUGE), 9e38, id="narrow floats"),
        pytest.param(
            "float64",
            lambda x, s: s + (x + x),
            np.full(3, np.float32(1e38)),
            6e38,
            id="a sum of narrow floats",
        ),
        pytest.param(
            "float64", lambda x, s: s + T.cast(x, "float64"), np.full(3, HUGE), 9e38, id="a cast"
        ),
        pytest.param(
            "int64", lambda x, s: s + (x - 1) - x, np.full(4, 127, "int8"), -4, id="two terms"
        ),
        pytest.param(
            "int64",
            lambda x, s: s + x * T.constant(np.int8(100)),
            np.full(4, 2, "int8"),
            4 * (200 - 256),
            id="a product that wraps",
        ),
    ],
)
def test_a_sum_has_the_dtype_of_the_state(compiled, start, step, values, expected):
    x = T.TensorType(values.dtype, (None,))("x")
    result = compiled([x], last_value(step, zero(start), x))(values)
    assert result.dtype == start
    np.testing.assert_allclose(float(result), expected, rtol=1e-6)


def test_a_factor_is_as_narrow_as_it_was(compiled):
    """The largest sum of the sequence does not fit its dtype; each scaled value does."""
    x, factor = T.bvector("x"), T.bscalar("factor")
    total = last_value(lambda x, s, b: s + x * b, zero("int64"), x, non_sequences=factor)
    assert compiled([x, factor], total)(np.ones(200, "int8"), np.int8(1)) == 200


def test_products_of_narrow_integers_stay_narrow():
    """Each product wraps; the sum of them does not."""
    a, b = T.btensor3("a"), T.btensor3("b")
    start = T.unbroadcast(T.zeros((1, 1), "int64"), 0, 1)
    total = last_value(lambda a, b, s: s + a.dot(b), start, [a, b])
    ones = np.full((3, 1, 2), 10, "int8"), np.full((3, 2, 1), 10, "int8")
    for mode in MODES.values():
        function = theano.function([a, b], total, mode=mode)
        assert function(*ones).item() == 3 * (200 - 256)


def test_a_narrow_sum_of_products_wraps_before_it_is_widened():
    """100 + 100 is -56 in each step, though each product fits its dtype."""
    a, b = T.btensor3("a"), T.btensor3("b")
    start = T.unbroadcast(T.zeros((1, 1), "int64"), 0, 1)
    total = last_value(lambda a, b, s: s + (a.dot(b) + b.T.dot(a.T)), start, [a, b])
    given = np.full((3, 1, 1), 10, "int8"), np.full((3, 1, 1), 10, "int8")
    for mode in MODES.values():
        function = theano.function([a, b], total, mode=mode)
        assert function(*given).item() == 3 * (200 - 256)


@pytest.mark.parametrize(
    "step",
    [
        lambda x, y, s: s + (x - y),
        lambda x, y, s: s + x - y,
        lambda x, y, s: x + s - y,
        lambda x, y, s: (s - y) + x,
        lambda x, y, s: s - (y - x),
        lambda x, y, s: s + (-y + x),
    ],
)
@pytest.mark.parametrize(
    ("high", "low", "steps", "expected"), [(1.1e8 + 8, 1.1e8, 1001, 8008), (3e38, 2.9e38, 3, 3e37)]
)
def test_a_difference_is_taken_in_each_step(compiled, step, high, low, steps, expected):
    x, y = T.fvector("x"), T.fvector("y")
    function = compiled([x, y], last_value(step, zero("float32"), [x, y]))
    given = np.full(steps, high, "float32"), np.full(steps, low, "float32")
    np.testing.assert_allclose(function(*given), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("step", "factor", "expected"),
    [
        (lambda x, s, c: s + x / c, 100, 1.2e37),
        (lambda x, s, c: s + x * c, 0.01, 1.2e37),
        (lambda x, s, c: s - c * x, 0.01, -1.2e37),
    ],
)
def test_values_are_scaled_in_each_step(compiled, step, factor, expected):
    x, c = T.fvector("x"), T.fscalar("c")
    function = compiled([x, c], last_value(step, zero("float32"), x, non_sequences=c))
    np.testing.assert_allclose(function(np.full(4, HUGE), np.float32(factor)), expected, rtol=1e-5)


@pytest.mark.parametrize("value", [np.inf, np.nan, 2.5])
def test_without_steps_nothing_is_added(compiled, value):
    c, start, steps = T.dscalar("c"), T.dscalar("start"), T.iscalar("steps")
    values, _ = theano.scan(lambda s, c: s + c, outputs_info=start, non_sequences=c, n_steps=steps)
    # what is read is the initial value too, if there is no step
    buffer = values.owner.inputs[0]
    function = compiled([c, start, steps], buffer[-1])
    assert function(value, 1.5, 0) == 1.5
    np.testing.assert_equal(function(value, 1.5, 3), 1.5 + 3 * value)


def test_a_difference_of_products_leaves_as_two_products():
    a, b = T.tensor3("a"), T.tensor3("b")
    start = T.zeros((2, 2))
    total = last_value(lambda a, b, s: s + (a.dot(b) - b.dot(a)), start, [a, b])
    function = theano.function([a, b], total)
    values = np.random.default_rng(0).normal(size=(2, 4, 2, 2))
    assert loops(function) == []
    np.testing.assert_allclose(
        function(*values), sum(p @ q - q @ p for p, q in zip(*values, strict=True)), rtol=1e-10
    )


def test_a_scaled_state_is_summed_from_its_trace():
    """Nothing more is stored than the state's own values."""
    x, h0, c = T.matrix("x"), T.vector("h0"), T.scalar("c")

    def step(x, h, s, c):
        new = T.tanh(x + h)
        return new, s + c * new.dimshuffle("x", 0) - new.dimshuffle("x", 0)

    (h, s), _ = theano.scan(
        step, sequences=x, outputs_info=[h0, T.unbroadcast(T.zeros((1, 3)), 0)], non_sequences=c
    )
    function = theano.function([x, h0, c], [h, s[-1]], mode=python_mode())
    values = np.random.default_rng(0).normal(size=(4, 3))
    rows, total = function(values, np.zeros(3), 0.3)
    np.testing.assert_allclose(total[0], -0.7 * rows.sum(axis=0), rtol=1e-12)
