"""``memory_budget``: loops keep as many steps as fit into it, and compute the others again."""

import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.memory.measured import least_of, within_budgets
from tests_scan_grad.memory.nets import NETS, rows, training
from theano.link import native
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.scan_module import scan_report, until

pytestmark = pytest.mark.skipif(
    theano.config.mode not in ("Mode", "FAST_RUN") or not theano.config.cxx, reason="native engine"
)
MEBIBYTE = 2**20
STEPS, BATCH, WIDTH = 400, 4, 8


@pytest.mark.parametrize("name", NETS)
def test_measured_peak_stays_below_the_budget(name):
    # so many steps that a megabyte of the interpreter's own does not matter
    for found in within_budgets(name, 12_000, 5):
        assert found["measured"] <= 1.05 * found["budget"]


@pytest.mark.parametrize("name", NETS)
def test_parameters_after_an_update_are_those_without_a_budget(name):
    x = rows(300)
    plain, expected = training(name)
    cost = plain(x)
    most = scan_report(plain, [x]).memory.peak
    least = least_of(training(name, memory_budget=1e-3)[0], x)
    for budget in np.linspace(1.02 * least, 0.9 * most, 3):
        train, parameters = training(name, memory_budget=budget / MEBIBYTE)
        np.testing.assert_allclose(train(x), cost, rtol=1e-6)
        for got, wanted in zip(parameters, expected, strict=True):
            np.testing.assert_allclose(got.get_value(), wanted.get_value(), atol=1e-6)
        memory = scan_report(train, [x]).memory
        assert memory.peak <= budget


def test_no_more_steps_are_computed_again_than_the_choice_says():
    x = rows(600)
    most = scan_report(training("lstm")[0], [x]).memory.peak
    train, _ = training("lstm", memory_budget=0.5 * most / MEBIBYTE, profile=True)
    train(x)
    again, kept = steps_of(train)
    assert again + kept == 600 and kept > 100
    loops = native.profile(train).loops
    # forward, then those that are not kept once more
    assert sum(loop.steps for loop in loops if loop.name == "net") == 600 + again
    assert sum(loop.steps for loop in loops if loop.name == "grad_of_net") == 600


def steps_of(train):
    """Return how many steps a function recomputed and how many it kept."""
    values = {spec.variable.name: box.data for spec, box in inputs_of(train)}
    kept, length = int(values["steps_kept"]), int(values["steps_of_a_segment"])
    segments = -(-max(600 - kept, 0) // length)
    again = segments * ((600 - kept) // segments) if segments else 0
    return again, 600 - again


def inputs_of(train):
    return zip(train.maker.inputs, train.input_storage, strict=True)


def test_all_steps_are_kept_where_they_fit():
    x = rows(100)
    plain, _ = training("gru")
    most = scan_report(plain, [x]).memory.peak
    train, _ = training("gru", memory_budget=1.1 * most / MEBIBYTE)
    assert train(x) == plain(x)
    assert scan_report(train, [x]).memory.peak == pytest.approx(most, rel=0.05)


def test_a_budget_that_is_too_small_says_what_is_needed():
    x = rows(300)
    train, _ = training("tanh", memory_budget=0.01)
    with pytest.raises(MemoryError, match=r"at least [\d.]+ MiB; the budget is 0.01 MiB"):
        train(x)
    least = least_of(train, x)
    train, _ = training("tanh", memory_budget=1.05 * least / MEBIBYTE)
    train(x)
    # other sizes are another matter
    with pytest.raises(MemoryError, match="at least"):
        train(rows(30_000))
    train(rows(10))


def test_the_flag_is_a_budget_for_functions_that_are_given_none():
    x = rows(300)
    with theano.config.change_flags(scan__memory_budget=0.01):
        train, _ = training("tanh")
        with pytest.raises(MemoryError, match="the budget is 0.01 MiB"):
            train(x)
        free, _ = training("tanh", memory_budget=0)
        free(x)
        # engines that keep to none leave the flag alone
        a = T.dvector("a")
        assert theano.function([a], a.sum(), mode=theano.Mode(linker="py"))([1.0, 2.0]) == 3
    train, _ = training("tanh")
    train(x)


def test_other_engines_and_other_numbers_are_refused():
    a = T.dvector("a")
    with pytest.raises(ValueError, match="only the native engine"):
        theano.function([a], a.sum(), mode=theano.Mode(linker="py"), memory_budget=1)
    with pytest.raises(ValueError, match="expected MiB"):
        theano.function([a], a.sum(), memory_budget=-1)


def network(step, *, with_rows=False, **options):
    """The gradient of a loop by all that it is given, with values of that."""
    x, h0, w = T.dtensor3("x"), T.dmatrix("h0"), T.dmatrix("w")
    h, updates = theano.scan(step, x, h0, w, **options)
    h = h[-1] if isinstance(h, list) else h
    cost = (h**2).sum() if with_rows else (h[-1] ** 2).sum()
    random = np.random.default_rng(0)
    shapes = [(STEPS, BATCH, WIDTH), (BATCH, WIDTH), (WIDTH, WIDTH)]
    values = [random.standard_normal(shape) * WIDTH**-0.5 for shape in shapes]
    return [x, h0, w], theano.grad(cost, [x, h0, w]), updates, values


def step(x, h, w):
    return T.tanh(x + h.dot(w))


CASES = {
    "by all that it is given": (step, {}),
    "all rows": (step, {"with_rows": True}),
    "from the end": (step, {"go_backwards": True}),
    "of fewer steps than rows": (step, {"n_steps": STEPS - 7}),
    "truncated": (step, {"truncate_gradient": 10}),
    "that may stop": (lambda x, h, w: (step(x, h, w), until(h.sum() > 1e9)), {}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("part", [0.7, 0.95])
def test_gradients_of_loops_of_all_kinds(case, part):
    made, options = CASES[case]
    inputs, gradients, updates, values = network(made, **options)
    plain = theano.function(inputs, gradients, updates=updates)
    memory = scan_report(plain, values).memory
    budget = part * memory.peak / MEBIBYTE if memory else 1
    bounded = theano.function(inputs, gradients, updates=updates, memory_budget=budget)
    try:
        found = bounded(*values)
    except MemoryError:
        # what is read of all steps outside of loops is there in any case
        least = least_of(bounded, *values) / MEBIBYTE
        bounded = theano.function(inputs, gradients, memory_budget=1.01 * least)
        found = bounded(*values)
    for got, wanted in zip(found, plain(*values), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(("kept", "length"), [(0, 1), (1, 1), (2, 3), (0, 7), (50, 4), (99, 2)])
def test_any_division_of_the_steps_gives_the_same(steps, kept, length):
    inputs, gradients, _, values = network(step)
    function = theano.function(inputs, gradients, memory_budget=1000)
    divide(function, kept, length)
    plain = theano.function(inputs, gradients)
    values[0] = values[0][:steps]
    for got, wanted in zip(function(*values), plain(*values), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


def divide(function, kept, length):
    """Have a function keep so many steps, and segments of that length, whatever its budget."""
    function.vm.within_budget = None
    for spec, box in inputs_of(function):
        if spec.variable.name == "steps_kept":
            box.storage[0] = np.asarray(kept)
        elif spec.variable.name == "steps_of_a_segment":
            box.storage[0] = np.asarray(length)


def test_loops_one_after_the_other():
    x, h0, w = T.dtensor3("x"), T.dmatrix("h0"), T.dmatrix("w")
    first, _ = theano.scan(step, x, h0, w, name="first")
    second, _ = theano.scan(step, first, h0, w, name="second")
    gradients = theano.grad((second[-1] ** 2).sum(), [h0, w])
    values = network(step)[3]
    plain = theano.function([x, h0, w], gradients)
    most = scan_report(plain, values).memory.peak / MEBIBYTE
    bounded = theano.function([x, h0, w], gradients, memory_budget=0.9 * most)
    for got, wanted in zip(bounded(*values), plain(*values), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


def test_random_numbers_of_steps_that_run_again_are_the_same():
    x, w = T.dtensor3("x"), T.dmatrix("w")

    def gradient():
        stream = MRG_RandomStreams(seed=3)
        h, updates = theano.scan(
            lambda x, h, w: T.tanh(x + h.dot(w)) * stream.binomial(h.shape, p=0.5, dtype="float64"),
            x,
            T.zeros((BATCH, WIDTH)),
            w,
        )
        return theano.grad((h[-1] ** 2).sum(), w), updates

    _, _, _, (rows_given, _, weights) = network(step)
    functions = []
    for budget in (None, 1000):
        found, updates = gradient()
        functions.append(theano.function([x, w], found, updates=updates, memory_budget=budget))
    plain, bounded = functions
    divide(bounded, 50, 30)
    for _ in range(2):
        got, wanted = bounded(rows_given, weights), plain(rows_given, weights)
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


def test_copies_and_pickles_keep_to_the_budget():
    x = rows(300)
    train, _ = training("tanh", memory_budget=0.01)
    for again in (pickle.loads(pickle.dumps(train)), train.copy()):
        with pytest.raises(MemoryError, match="the budget is 0.01 MiB"):
            again(x)


def test_what_else_a_function_is_given():
    inputs, gradients, _, values = network(step)
    total = theano.shared(0.0)
    other = T.dmatrix("other")
    function = theano.function(
        [inputs[0], theano.In(inputs[1], value=values[1]), other],
        {"dw": gradients[2], "dh": theano.Out(gradients[1], borrow=True)},
        givens={inputs[2]: other},
        updates=[(total, total + gradients[2].sum())],
        memory_budget=1000,
    )
    plain = theano.function(inputs, gradients)(*values)
    found = function(values[0], other=values[2])
    np.testing.assert_allclose(found["dw"], plain[2])
    np.testing.assert_allclose(found["dh"], plain[1])
    np.testing.assert_allclose(total.get_value(), plain[2].sum())
    assert scan_report(function, [values[0], values[1], values[2]]).memory is not None


def test_memory_that_is_not_known_before_a_call_is_not_bounded():
    x = T.dvector("x")
    f = theano.function([x], (x[x > 0] * 2).sum(), memory_budget=1)
    with pytest.warns(UserWarning, match="memory_budget has no effect"):
        assert f([1.0, -1.0]) == 2
