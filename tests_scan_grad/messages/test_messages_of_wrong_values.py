"""NaN, infinity and huge numbers in loops: in which step, by which operation, of which line."""

import logging
import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.messages.mistakes import Mistakes
from theano.compile import MonitorMode, NanGuardMode
from theano.compile.debugmode import InvalidValueError

mistakes = Mistakes()
w, x, M = T.scalar("w"), T.vector("x"), T.matrix("M")
EACH = NanGuardMode(nan_is_error=True, inf_is_error=True, big_is_error=True)
NAN = NanGuardMode(nan_is_error=True, inf_is_error=False, big_is_error=False)
BIG = NanGuardMode(nan_is_error=False, inf_is_error=False, big_is_error=True)


def numbers(at=37, value=-5000.0):
    given = np.arange(100.0) + 1000
    given[at] = value
    return given


@mistakes.add(
    AssertionError,
    "NaN detected\nlog(-50",
    "In a step of the loop path: log(x[t] - state(0)[t-1])",
    "Step 37 of 100, the first being 0",
    line="logarithm = ",
)
def logarithm_in_step_37():
    def step(u, h):
        logarithm = T.log(u - h)
        return 0.1 * logarithm + h

    h, _ = theano.scan(step, sequences=x, outputs_info=T.zeros(()), name="path")
    theano.function([x], h[-1], mode=NAN)(numbers())


@mistakes.add(
    InvalidValueError,
    "NaN detected\n          log(-50",
    "In a step of the loop path: log(x[t] - state(0)[t-1])",
    "Step 37 of 100, the first being 0",
    line="logarithm = ",
)
def logarithm_in_debug_mode():
    def step(u, h):
        logarithm = T.log(u - h)
        return 0.1 * logarithm + h

    h, _ = theano.scan(step, sequences=x, outputs_info=T.zeros(()), name="path")
    theano.function([x], h[-1], mode="DebugMode")(numbers())


@mistakes.add(
    AssertionError,
    "NaN detected",
    "0.0 / 0.0 = nan",
    "In a step of the loop grad_of_path",
    "Step 62 of 100, the first being 0; it goes back from the last step of path",
    line="root = ",
)
def root_of_zero_in_a_gradient():
    def step(u, h, w):
        root = T.sqrt(T.abs_(u - h))
        return w * root

    h, _ = theano.scan(step, x, T.zeros(()), w, name="path")
    gradient = T.grad(h.sum(), w)
    theano.function([x, w], gradient, mode=NAN)(numbers(value=0.0), 0.0)


@mistakes.add(
    AssertionError,
    "Big value detected\n10000000000.0 * 10.0 = 100000000000.0 at [1]",
    "Result: float64 (2,), from 1.0 to 100000000000.0",
    "Step 10 of 20, the first being 0",
    line="grown = ",
)
def numbers_that_grow():
    def step(h):
        grown = h * T.stack([1.0, w])
        return grown

    h, _ = theano.scan(step, outputs_info=T.ones(2), n_steps=20)
    theano.function([w], h, mode=BIG)(10.0)


@mistakes.add(
    AssertionError,
    "sqrt(-",
    "In a step of the loop inner: sqrt(M[t][t] - state(0)[t-1])",
    "Step 5 of 10, the first being 0\nInputs types",
    "In a step of the loop outer",
    "Step 4 of 6, the first being 0\nInputs types",
    line="root = ",
)
def root_in_a_loop_in_a_loop():
    def inner(u, h):
        root = T.sqrt(u - h)
        return root

    def outer(row):
        h, _ = theano.scan(inner, sequences=row, outputs_info=T.zeros(()), name="inner")
        return h[-1]

    h, _ = theano.scan(outer, sequences=M, name="outer")
    rows = np.full((6, 10), 4.0)
    rows[4, 5] = 1
    theano.function([M], h, mode=NAN)(rows)


@mistakes.add(
    AssertionError,
    "NaN detected\nsqrt(-1.0) = nan at [2]",
    "Result: float64 (3,), 1 of 3 NaN, the others from 0.0 to 1.0",
    line="root = ",
)
def root_beside_a_logarithm_that_is_not_chosen():
    chosen = T.switch(x > 0, x * T.log(x), 0)
    root = T.sqrt(x - 1)
    theano.function([x], chosen + root, mode=EACH)([2, 1, 0])


@mistakes.add(
    AssertionError,
    "NanGuardMode found an error in an input of the graph: M",
    "Value: float64 (2, 3), 1 of 6 NaN, the others from 1.0 to 1.0",
)
def input_that_is_none():
    theano.function([M], T.exp(M), mode=EACH)([[1, 1, 1], [1, np.nan, 1]])


@mistakes.add(
    RuntimeError,
    "I saw NaN",
    "In a step of the loop path: elementwise(",
    "Step 2 of 3, the first being 0",
    line="total = ",
)
def error_of_a_monitor():
    def look(i, node, fn):
        if any(np.isnan(value[0]).any() for value in fn.outputs):
            raise RuntimeError("I saw NaN")

    def step(u, h):
        total = T.log(u) + h
        return total

    monitor = MonitorMode(post_func=look)
    h, _ = theano.scan(step, sequences=x, outputs_info=T.zeros(()), mode=monitor, name="path")
    theano.function([x], h)([2.0, 1.0, -1.0])


@mistakes.add(
    ValueError,
    "Composite{",
    "Input dimension mis-match. (input[0].shape[0] = ",
    line="product = ",
)
def lengths_that_differ_in_a_fused_map():
    product = T.exp(x) * T.vector("y")
    y = product.owner.inputs[1]
    theano.function([x, y], product, mode=theano.Mode(linker="pytensor_vm"))(np.ones(3), np.ones(4))


@pytest.mark.parametrize("name", mistakes)
def test_mistake(name):
    mistakes[name].check()


def test_what_a_switch_does_not_choose_is_no_error():
    h, _ = theano.scan(
        lambda u, h: T.switch(u > 0, u * T.log(u), 0) + h, sequences=x, outputs_info=T.zeros(())
    )
    f = theano.function([x], [h[-1], T.grad(h[-1], x)], mode=EACH)
    total, gradient = f([0.0, 1.0, 2.0])
    np.testing.assert_allclose(total, 2 * np.log(2))
    np.testing.assert_allclose(gradient, [0, 1, 1 + np.log(2)])


def test_a_constant_that_rewrites_or_users_offer_is_no_error_unless_it_is_chosen():
    length = T.sqrt(T.sqr(x).sum())
    for result, value in (
        (T.sqr(length), 5),
        (T.exp(T.log(x)).sum(), 3),
        (T.switch(x > 0, x, np.nan).sum(), 3),
        (theano.scan(lambda u: T.sqr(T.sqrt(u)), sequences=x)[0].sum(), 3),
    ):
        f = theano.function([x], result, mode=EACH)
        np.testing.assert_allclose(f([1.0, 2.0]), value)
        if result.owner.inputs[0] is not length:
            with pytest.raises(AssertionError, match="NaN detected"):
                f([1.0, -2.0])
    chosen = theano.function([x], [x, T.constant(np.nan)], mode=EACH)
    with pytest.raises(AssertionError, match="NaN detected"):
        chosen([1.0])


def test_variables_that_are_not_to_be_checked():
    checked, exempt = T.vector("checked"), T.vector("exempt")
    exempt.tag.nan_guard_mode_check = False
    h, _ = theano.scan(lambda u, h: T.switch(T.isnan(u), 0, u) + h, exempt, T.zeros(()))
    f = theano.function([checked, exempt], h[-1] + checked.sum(), mode=NAN)
    assert f([1.0], [np.nan, 2.0]) == 3
    with pytest.raises(AssertionError, match="an input of the graph: checked"):
        f([np.nan], [1.0, 2.0])


def test_warning_in_place_of_an_error(caplog):
    with theano.change_flags({"NanGuardMode.action": "warn"}), caplog.at_level(logging.ERROR):
        assert np.isnan(theano.function([x], T.log(x), mode=NAN)([-1.0])).all()
    [message] = [record.getMessage() for record in caplog.records]
    assert message.startswith("NaN detected\nlog(-1.0) = nan at [0]")
    assert __file__ in message


def test_mode_is_pickled_with_its_checks():
    mode = pickle.loads(pickle.dumps(NAN))
    f = theano.function([x], T.log(x), mode=mode)
    assert np.isinf(f([0.0])).all()
    with pytest.raises(AssertionError, match="NaN detected"):
        f([-1.0])


def test_monitors_of_a_function_see_its_loops_as_one_operation_each(caplog):
    seen = []

    def note(i, node, fn):
        seen.append(node.op)

    h, _ = theano.scan(lambda u, h: T.tanh(u + h), x, T.zeros(()))
    f = theano.function([x], h[-1], mode=MonitorMode(pre_func=note))
    assert f([1.0, 2.0]) == np.tanh(2 + np.tanh(1.0))
    assert sum("Scan" in str(op) for op in seen) == 1
    assert not caplog.records
