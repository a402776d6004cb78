"""Loops of many lengths in one program, with the flag ``xla.bucket_lengths``."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.link.xla import report
from theano.link.xla.buckets.bounds import bucket_of

pytest.importorskip("jax")

BATCH, WIDTH = 2, 3


def compiled(inputs, outputs, setting="powers", **settings):
    with theano.change_flags({"xla.bucket_lengths": setting}):
        return theano.function(inputs, outputs, mode="XLA", **settings)


def programs(function) -> int:
    return sum(stage.programs for stage in report(function).stages)


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).uniform(0.1, 1, shape)


def assert_same(function, other, *arguments) -> None:
    for actual, expected in zip(function(*arguments), other(*arguments), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("length", "setting", "expected"),
    [
        (0, "powers", range(1)),
        (1, "powers", range(1, 2)),
        (2, "powers", range(2, 3)),
        (3, "powers", range(3, 5)),
        (8, "powers", range(5, 9)),
        (9, "10", range(1, 11)),
        (11, "10", range(11, 21)),
        (7, "off", range(7, 8)),
    ],
)
def test_buckets(length, setting, expected):
    assert bucket_of(length, setting) == expected


def test_the_flag_is_checked():
    with pytest.raises(ValueError, match="off, powers, or a number of steps above 0"):
        theano.config.xla.bucket_lengths = "0"


def gated_network():
    """Inputs, cost and gradients of a gated network that is told what to do at each step."""
    x, y = T.tensor3("x"), T.tensor3("y")
    weights = [theano.shared(values(WIDTH, WIDTH) - 0.5, name=name) for name in "ABCDEF"]
    a, b, c, d, e, f = weights

    def step(x, h):
        z = T.nnet.sigmoid(x.dot(a) + h.dot(b))
        r = T.nnet.sigmoid(x.dot(c) + h.dot(d))
        return (1 - z) * T.tanh(x.dot(e) + (r * h).dot(f)) + z * h

    states, _ = theano.scan(step, x, T.zeros((x.shape[1], WIDTH)))
    cost = T.sqr(states - y).mean() + T.sqr(states[-1]).sum()
    return [x, y], cost, theano.grad(cost, weights), weights


@pytest.mark.parametrize(("setting", "expected"), [("powers", 3), ("6", 3)])
def test_a_gated_network_of_many_lengths(setting, expected):
    inputs, cost, gradients, _ = gated_network()
    function = compiled(inputs, [cost, *gradients], setting)
    other = theano.function(inputs, [cost, *gradients])
    for length in range(5, 18):
        assert_same(
            function, other, values(length, BATCH, WIDTH), values(length, BATCH, 1, 3)[:, :, 0]
        )
    # up to 8, 16 and 32; up to 6, 12 and 18
    assert programs(function) == expected
    assert not report(function).stages[0].exact


def test_a_training_step_updates_shared_variables():
    inputs, cost, gradients, weights = gated_network()
    updates = [(w, w - 0.1 * g) for w, g in zip(weights, gradients, strict=True)]
    before = [w.get_value() for w in weights]
    found = []
    for setting in ("off", "8"):
        for w, value in zip(weights, before, strict=True):
            w.set_value(value)
        train = compiled(inputs, cost, setting, updates=updates)
        costs = [train(values(n, BATCH, WIDTH), values(n, BATCH, WIDTH)) for n in (3, 7, 4)]
        found.append([*costs, *(w.get_value() for w in weights)])
    assert programs(train) == 1
    for actual, expected in zip(*found, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-10)


LABELS = T.lmatrix("labels")

# Of the states h (steps, batch, width), the sequence x of the same shape, and a number k
EXPRESSIONS = {
    "sum": lambda h, x, k: h.sum(),
    "mean": lambda h, x, k: h.mean(axis=0),
    "variance": lambda h, x, k: h.var(axis=(0, 1)),
    "product": lambda h, x, k: h.prod(axis=0),
    "maximum": lambda h, x, k: (-h).max(axis=0),
    "minimum": lambda h, x, k: h.min(),
    "position of maximum": lambda h, x, k: (-h).argmax(axis=0),
    "any and all": lambda h, x, k: T.stack([T.gt(h, 2).any(), T.gt(h, -1).all()]),
    "norm": lambda h, x, k: T.sqrt(T.sqr(h).sum()),
    "not a number in padding": lambda h, x, k: T.log(x).sum(axis=0) / h[-1],
    "product over all steps": lambda h, x, k: h.reshape((-1, WIDTH)).T.dot(x.reshape((-1, WIDTH))),
    "tensordot": lambda h, x, k: T.tensordot(T.log(x), h, [[0, 1], [0, 1]]),
    "products for each step": lambda h, x, k: T.batched_dot(h, x.dimshuffle(0, 2, 1)),
    "running sums": lambda h, x, k: T.cumsum(h, axis=0)[-1],
    "softmax": lambda h, x, k: T.nnet.softmax(h.reshape((-1, WIDTH))),
    "first rows": lambda h, x, k: h[:2],
    "last rows": lambda h, x, k: h[-3:],
    "all but the first": lambda h, x, k: h[1:] - h[:-1],
    "a row": lambda h, x, k: h[-2] + h[1],
    "a computed row": lambda h, x, k: h[k] + h[-k],
    "every other row": lambda h, x, k: h[::2],
    "backwards": lambda h, x, k: h[::-1] * x,
    "every other row backwards": lambda h, x, k: h[::-2],
    "a column": lambda h, x, k: h[:, k, ::-1],
    "after something": lambda h, x, k: T.concatenate([T.ones((2, BATCH, WIDTH)), h]),
    "before something": lambda h, x, k: T.concatenate([h, T.ones((2, BATCH, WIDTH)), x])[1:],
    "next to": lambda h, x, k: T.concatenate([h, x], axis=2),
    "a row set": lambda h, x, k: T.set_subtensor(h[-1], 7.0),
    "rows set": lambda h, x, k: T.set_subtensor(h[1:], x[1:] * 2),
    "rows added": lambda h, x, k: T.inc_subtensor(h[:-2], x[2:]),
    "rows added backwards": lambda h, x, k: T.inc_subtensor(h[::-1], x),
    "numbers": lambda h, x, k: T.arange(h.shape[0]).dimshuffle(0, "x", "x") * h,
    "filled": lambda h, x, k: T.alloc(k, h.shape[0], BATCH, 1) + h,
    "length": lambda h, x, k: (h.shape[0] * 2 + x.shape[1]) * h.sum(),
    "by labels": lambda h, x, k: h.reshape((-1, WIDTH))[
        T.arange(LABELS.size), LABELS.flatten()
    ].sum(),
    "cost of labels": lambda h, x, k: T.nnet.categorical_crossentropy(
        T.nnet.softmax(h.reshape((-1, WIDTH))), LABELS.flatten()
    ).mean(),
    "rows of a table": lambda h, x, k: T.constant(values(WIDTH, 2))[LABELS] * h[:, :, :1],
    "a loop over states": lambda h, x, k: theano.scan(
        lambda now, before, sum: now * before + sum,
        {"input": h, "taps": [0, -1]},
        T.zeros((BATCH, WIDTH)),
        go_backwards=True,
    )[0],
    "a flexible reshape": lambda h, x, k: h.reshape((h.shape[0], BATCH * WIDTH))[:, 2:4],
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_what_reads_a_loop(name):
    x, k = T.tensor3("x"), T.lscalar("k")
    states, _ = theano.scan(lambda x, h: T.tanh(x + h / 2), x, T.zeros((BATCH, WIDTH)))
    result = EXPRESSIONS[name](states, x, k)
    outputs = [result]
    if result.dtype == "float64":
        outputs.append(theano.grad((T.sin(result)).sum(), x, disconnected_inputs="ignore"))
    inputs = [x, LABELS, k]
    function = compiled(inputs, outputs, "4", on_unused_input="ignore")
    other = theano.function(inputs, outputs, on_unused_input="ignore")
    for length in (7, 5, 8):
        labels = np.arange(length * BATCH).reshape(length, BATCH) % WIDTH
        assert_same(function, other, values(length, BATCH, WIDTH), labels, 1)
    assert report(function).stages[0].exact == ()
    assert programs(function) == 1


def test_encoder_and_decoder_have_lengths_of_their_own():
    source, target = T.tensor3("source"), T.tensor3("target")
    w = theano.shared(values(WIDTH, WIDTH), name="w")

    def step(x, h):
        return T.tanh(x + h.dot(w))

    encoded, _ = theano.scan(step, source, T.zeros((BATCH, WIDTH)))
    decoded, _ = theano.scan(step, target[:-1], encoded[-1])
    cost = T.sqr(decoded - target[1:]).mean()
    outputs = [cost, theano.grad(cost, w)]
    function = compiled([source, target], outputs, "4")
    other = theano.function([source, target], outputs)
    for lengths in ((6, 9), (7, 12), (5, 11), (8, 10)):
        assert_same(function, other, *(values(n, BATCH, WIDTH) for n in lengths))
    assert programs(function) == 1


def test_a_number_of_steps_that_is_given():
    x, steps = T.vector("x"), T.lscalar("steps")
    powers, _ = theano.scan(lambda p: p * x, outputs_info=T.ones_like(x), n_steps=steps)
    outputs = [powers, powers[-1].sum(), theano.grad(powers[-1].sum(), x)]
    function = compiled([x, steps], outputs, "4")
    other = theano.function([x, steps], outputs)
    for count in (6, 8, 5):
        assert_same(function, other, values(3), count)
    assert programs(function) == 1


def test_a_piece_of_data_whose_length_varies():
    data, first, count = theano.shared(values(40)), T.lscalar("first"), T.lscalar("count")
    sums, _ = theano.scan(lambda x, s: s + x, data[first : first + count], T.zeros(()))
    function = compiled([first, count], [sums, sums[-1]], "8")
    other = theano.function([first, count], [sums, sums[-1]])
    for arguments in ((0, 5), (33, 7), (12, 6)):
        assert_same(function, other, *arguments)
    assert programs(function) == 1


def test_a_loop_that_stops_early():
    x, w = T.vector("x"), theano.shared(1.3, name="w")

    def step(x, s):
        new = s * w + x
        return [new, T.tanh(new)], theano.scan_module.until(new > 20)

    (states, traced), _ = theano.scan(step, x, [T.zeros(()), None])
    cost = traced.sum() + states[-1] + (states[1:] * traced[:-1]).mean()
    outputs = [states, traced, cost, theano.grad(cost, w), theano.grad(cost, x)]
    function, other = compiled([x], outputs, "8"), theano.function([x], outputs)
    made = []
    # it stops after 5 to 7 of 17 to 20 steps
    for length, value in ((18, 2.0), (20, 1.4), (17, 2.5), (19, 1.5)):
        assert_same(function, other, np.full(length, value))
        made.append(len(function(np.full(length, value))[1]))
    assert made == [6, 7, 5, 7]
    assert [stage.programs for stage in report(function).stages] == [1, 1]


def test_an_index_behind_the_rows_is_an_error():
    x, k = T.vector("x"), T.lscalar("k")
    sums, _ = theano.scan(lambda x, s: s + x, x, T.zeros(()))
    function = compiled([x, k], sums[k] + sums.sum(), "8")
    assert function(np.ones(5), 4) == 5 + 15
    assert function(np.ones(5), -5) == 1 + 15
    with pytest.raises(IndexError):
        function(np.ones(5), 5)
    assert programs(function) == 1


@pytest.mark.parametrize(
    "expression",
    [
        lambda h, x, y: h[6:].max(),
        lambda h, x, y: h[6:].argmax(axis=0),
        lambda h, x, y: h * y,
        lambda h, x, y: T.set_subtensor(h[1:], y[1:]),
        lambda h, x, y: T.concatenate([h, y], axis=1),
        lambda h, x, y: h.T.dot(y),
    ],
)
def test_lengths_that_do_not_fit_are_errors_beside_a_program_for_those_that_do(expression):
    x, y = T.matrices("x", "y")
    states, _ = theano.scan(lambda x, h: T.tanh(x + h / 2), x, T.zeros(3))
    result = expression(states, x, y)
    function = compiled([x, y], result, "4", on_unused_input="ignore")
    other = theano.function([x, y], result, on_unused_input="ignore")
    np.testing.assert_allclose(
        function(values(8, 3), values(8, 3)), other(values(8, 3), values(8, 3))
    )
    # 6 rows of x, whose maximum behind the sixth is asked for, with 8 of y
    with pytest.raises((ValueError, AssertionError)):
        other(values(6, 3), values(8, 3))
    with pytest.raises((ValueError, AssertionError)):
        function(values(6, 3), values(8, 3))


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("sort", lambda h, x: T.sort(h, axis=0)),
        ("dimensions joined", lambda h, x: h.dimshuffle(1, 0, 2).reshape((-1, WIDTH)) * 2),
        ("a step that reads all", lambda h, x: theano.scan(lambda now: now * x.sum(0), h)[0]),
    ],
)  # fmt: skip
def test_what_padding_would_change_has_a_program_for_each_length(name, expression):
    x = T.tensor3("x")
    states, _ = theano.scan(lambda x, h: T.tanh(x + h / 2), x, T.zeros((BATCH, WIDTH)))
    result = expression(states, x)
    function, other = compiled([x], [result], "4"), theano.function([x], [result])
    for length in (5, 7):
        assert_same(function, other, values(length, BATCH, WIDTH))
    if name != "a step that reads all":
        assert report(function).stages[0].exact
        assert "a program for each length, because of" in str(report(function))
