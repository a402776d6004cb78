"""The gradient of ``theano.scan``: each kind of loop, what is saved, and what is refused."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import loops, products, python_mode, theano_scan
from tests_scan_grad.loop_runs import ONLY_UNIFIED, unrewritten_mode
from tests_scan_grad.unrolled_loops import unrolled_scan
from theano.compile.mode import Mode
from theano.gradient import DisconnectedInputError, NullTypeGradError

LENGTH, ROWS, COLUMNS = 5, 3, 2


def values(*shape: int, seed: int = 0) -> np.ndarray:
    return 0.5 * np.random.default_rng(seed).standard_normal(shape)


X, H, W = T.tensor3("X"), T.matrix("H"), T.matrix("W")
GIVEN = [
    values(LENGTH, ROWS, COLUMNS, seed=1),
    values(ROWS, COLUMNS, seed=2),
    values(COLUMNS, COLUMNS, seed=3),
]
INPUTS = [X, H, W]


def rnn_step(x, h, w):
    return T.tanh(x + h.dot(w))


def check(build, inputs=INPUTS, given=GIVEN, steps: int = LENGTH) -> None:
    """``build(scan)`` is a cost; it and its gradients are those of the loop unrolled."""

    def unrolled(*arguments, **options):
        outputs, _ = unrolled_scan(*arguments, **(options | {"n_steps": steps}))
        return outputs if len(outputs) > 1 else outputs[0]

    def run(cost, mode):
        gradients = theano.grad(cost, inputs, disconnected_inputs="ignore")
        return theano.function(inputs, [cost, *gradients], mode=mode)(*given)

    looped = run(build(theano_scan), python_mode())
    straight = run(build(unrolled), unrewritten_mode())
    for ours, expected in zip(looped, straight, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)


# ---- kinds of loops --------------------------------------------------------------------------


def test_plain_rnn():
    check(lambda scan: (scan(rnn_step, [X], [H], [W]) ** 2).sum())


def test_several_states_that_read_each_other():
    def build(scan):
        a, b = scan(lambda x, a, b, w: [T.tanh(x + b.dot(w)), a * b + x], [X], [H, T.tanh(H)], [W])
        return (a[-1] * b[-1]).sum() + T.sin(a).sum()

    check(build)


def test_a_state_that_passes_another_on():
    def build(scan):
        a, b = scan(lambda x, a, b, w: [rnn_step(x, b, w), a], [X], [H, 2 * H], [W])
        return (a * b).sum()

    check(build)


@pytest.mark.parametrize("taps", [[-1, -3], [-2], [-3, -1, -2]])
def test_state_with_taps(taps):
    start = T.tensor3("start")

    def build(scan):
        states = scan(
            lambda x, *rest: T.tanh(x + sum(k * h for k, h in enumerate(rest[:-1], 1)) @ rest[-1]),
            [X],
            [{"initial": start, "taps": taps}],
            [W],
        )
        return (states**2).sum()

    check(build, [X, start, W], [GIVEN[0], values(-min(taps), ROWS, COLUMNS), GIVEN[2]])


def test_sequence_with_taps():
    def build(scan):
        states = scan(
            lambda before, now, later, h, w: rnn_step(before * now + later, h, w),
            [{"input": X, "taps": [-1, 0, 2]}],
            [H],
            [W],
        )
        return (states**2).sum()

    check(build, steps=LENGTH - 3)


@pytest.mark.parametrize("n_steps", [None, 3, 1], ids=["all", "three", "one"])
def test_go_backwards(n_steps):
    def build(scan):
        return (scan(rnn_step, [X], [H], [W], n_steps=n_steps, go_backwards=True) ** 2).sum()

    check(build, steps=n_steps or LENGTH)


@pytest.mark.parametrize("steps_back", [1, 3, 9])
def test_truncate_gradient(steps_back):
    def build(scan):
        return (scan(rnn_step, [X], [H], [W], truncate_gradient=steps_back) ** 2).sum()

    check(build)


def test_until():
    def step(x, h, w):
        following = rnn_step(x, h, w)
        return following, theano.scan_module.until(abs(following).sum() < 2)

    states = theano.function(INPUTS, theano_scan(step, [X], [H], [W]), mode=python_mode())(*GIVEN)
    assert 1 < len(states) < LENGTH
    check(lambda scan: (scan(step, [X], [H], [W]) ** 2).sum(), steps=len(states))


def test_nested_loop():
    def build(scan, inner_steps=2):
        def step(x, h, w):
            # the inner loop has as many steps in the unrolled reference, which takes n_steps
            inner = theano_scan(lambda g, w: T.tanh(g.dot(w)), None, [h], [w], n_steps=inner_steps)
            return inner[-1] + x

        return (scan(step, [X], [H], [W]) ** 2).sum()

    check(build)


@pytest.mark.parametrize("n_steps", [0, 1, 4])
def test_symbolic_n_steps(n_steps):
    n = T.lscalar("n")
    states = theano_scan(lambda h, w: T.tanh(h.dot(w)), None, [H], [W], n_steps=n)
    cost = (states**2).sum() + T.sin(H).sum()
    f = theano.function([H, W, n], theano.grad(cost, [H, W]), mode=python_mode())
    h = H
    straight = T.sin(H).sum()
    for _ in range(n_steps):
        h = T.tanh(h.dot(W))
        straight += (h**2).sum()
    g = theano.function(
        [H, W],
        theano.grad(straight, [H, W], disconnected_inputs="ignore"),
        mode=unrewritten_mode(),
    )
    for ours, expected in zip(f(*GIVEN[1:], n_steps), g(*GIVEN[1:]), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-9)


def test_empty_batch():
    gradients = theano.grad((theano_scan(rnn_step, [X], [H], [W]) ** 2).sum(), INPUTS)
    f = theano.function(INPUTS, gradients, mode=python_mode())
    dx, dh, dw = f(np.zeros((LENGTH, 0, COLUMNS)), np.zeros((0, COLUMNS)), GIVEN[2])
    assert dx.shape == (LENGTH, 0, COLUMNS) and dh.shape == (0, COLUMNS)
    np.testing.assert_array_equal(dw, np.zeros((COLUMNS, COLUMNS)))


def test_integer_sequence_and_integer_state():
    table = T.matrix("table")
    rows = T.ivector("rows")
    states, counts = theano_scan(
        lambda k, h, n, table: [T.tanh(h + table[k] / (n + 1.0)), n + 1],
        [rows],
        [H, T.constant(0)],
        [table],
    )
    cost = (states[-1] ** 2).sum() + counts[-1]
    f = theano.function([rows, H, table], theano.grad(cost, [H, table]), mode=python_mode())
    straight = H
    for n, k in enumerate([2, 0, 2]):
        straight = T.tanh(straight + table[k] / (n + 1.0))
    g = theano.function(
        [H, table], theano.grad((straight**2).sum(), [H, table]), mode=unrewritten_mode()
    )
    given = [GIVEN[1], values(3, COLUMNS)]
    for ours, expected in zip(f(np.int32([2, 0, 2]), *given), g(*given), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-9)


def test_random_draws_are_the_same_in_both_directions():
    generator = pytensor.shared(np.random.default_rng(4))

    def step(h):
        following, noise = pt.random.normal(size=h.shape, rng=generator, return_next_rng=True)
        return T.sin(h) * noise, {generator: following}

    states, updates = theano.scan(step, outputs_info=[H], n_steps=LENGTH, mode=python_mode())
    gradient = theano.grad(states[-1].sum(), H)
    f = theano.function([H], [states[-1], gradient], updates=updates, mode=python_mode())
    noise = np.random.default_rng(4)
    for _ in range(2):
        state, slope = GIVEN[1], np.ones((ROWS, COLUMNS))
        for _ in range(LENGTH):
            drawn = noise.normal(size=(ROWS, COLUMNS))
            state, slope = np.sin(state) * drawn, slope * np.cos(state) * drawn
        for ours, expected in zip(f(GIVEN[1]), [state, slope], strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-9)


@pytest.mark.parametrize("save", ["auto", "all", "none"])
def test_operands_that_change_shape_are_computed_again(save):
    lengths = T.ivector("lengths")

    def step(k, total, data):
        rows = T.tanh(data[:k])
        return total + rows.T.dot(rows)

    with theano.config.change_flags(**{"scan.save": save}):
        totals = theano_scan(step, [lengths], [T.zeros((COLUMNS, COLUMNS))], [H])
        gradient = theano.grad(T.sin(totals[-1]).sum(), H)
    f = theano.function([lengths, H], gradient, mode=python_mode())
    parts = [T.tanh(H[:k]) for k in (1, 3, 2)]
    straight = T.sin(sum(part.T.dot(part) for part in parts)).sum()
    g = theano.function([H], theano.grad(straight, H), mode=unrewritten_mode())
    np.testing.assert_allclose(f(np.int32([1, 3, 2]), GIVEN[1]), g(GIVEN[1]), rtol=1e-9)


# ---- derivatives of derivatives --------------------------------------------------------------


def build_curvature(scan):
    """The sum of squares of the gradients of a loop."""
    cost = (scan(rnn_step, [X], [H], [W]) ** 3).sum()
    return sum((gradient**2).sum() for gradient in theano.grad(cost, INPUTS))


def test_gradient_of_a_gradient():
    check(build_curvature)


def test_gradient_of_a_gradient_with_an_unused_tap():
    start = T.tensor3("start")

    def build(scan):
        states = scan(
            lambda x, newest, unused, w: rnn_step(x, newest, w),
            [X],
            [{"initial": start, "taps": [-1, -2]}],
            [W],
        )
        return (theano.grad((states**3).sum(), start) ** 2).sum()

    check(build, [X, start, W], [GIVEN[0], values(2, ROWS, COLUMNS), GIVEN[2]])


def test_third_derivative():
    h = T.vector("h")

    def build(scan):
        cost = scan(lambda h: T.sin(h), [], [h], n_steps=LENGTH)[-1].sum()
        return theano.grad(theano.grad(cost, h).sum(), h).sum()

    check(build, [h], [values(COLUMNS)])


def test_fourth_derivative_by_several_taps():
    """A backward loop's own gradient passes on, unchanged, what the step only adds to."""
    x, start, w = T.vector("x"), T.vector("start"), T.scalar("w")

    def build(scan):
        states = scan(
            lambda x, older, newer, w: x - w * newer - T.sin(w * older),
            [x],
            [{"initial": start, "taps": [-3, -1]}],
            [w],
        )
        slope = theano.grad((states**2).sum(), w)
        third = theano.grad(theano.grad(slope**2, w), start)
        return third.sum()

    check(build, [x, start, w], [values(LENGTH), values(3), np.float64(0.3)])


def test_hessian():
    h = T.vector("h")
    cost = theano_scan(lambda h, w: T.tanh(w.dot(h)), None, [h], [W], n_steps=3)[-1].sum()
    # the loop over the rows of the Hessian has the default mode, and would be compiled to C
    with pytensor.config.change_flags(cxx=""):
        hessian = theano.function([h, W], theano.gradient.hessian(cost, h), mode=python_mode())
    slope = theano.function([h, W], theano.grad(cost, h), mode=python_mode())
    at, w = values(COLUMNS), 2 * GIVEN[2]
    step = 1e-5 * np.eye(COLUMNS)
    expected = [(slope(at + e, w) - slope(at - e, w)) / 2e-5 for e in step]
    np.testing.assert_allclose(hessian(at, w), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("linker", ["native", "pytensor_vm"])
def test_hessian_by_a_state_that_is_a_number(linker):
    p = T.vector("p")
    orbit, _ = theano.scan(
        lambda value, rate: rate * value * (1 - value), None, [p[0]], [p[1]], n_steps=2
    )
    mode = Mode(linker)
    # PyTensor's rewrite that trims buffers fails for a value that lost its dimension
    with theano.config.change_flags(on_opt_error="raise", linker=linker):
        hessian = theano.function([p], theano.gradient.hessian(orbit[-1], p), mode=mode)
    x, r = 0.3, 3.2
    f = x - x**2
    slope = 1 - 2 * x
    # the second value is r**2 * f - r**3 * f**2
    by_both = 2 * r * slope - 6 * r**2 * f * slope
    by_x = -2 * r**2 - r**3 * (2 * slope**2 - 4 * f)
    np.testing.assert_allclose(hessian([x, r]), [[by_x, by_both], [by_both, 2 * f - 6 * r * f**2]])


@pytest.mark.parametrize("wrt", range(3), ids=["sequence", "state", "invariant"])
def test_rop(wrt):
    outputs = theano_scan(rnn_step, [X], [H], [W])
    direction = INPUTS[wrt].type("direction")
    along = theano.function(
        [*INPUTS, direction], theano.Rop(outputs, INPUTS[wrt], direction), mode=python_mode()
    )
    f = theano.function(INPUTS, outputs, mode=python_mode())
    towards = values(*GIVEN[wrt].shape, seed=9)
    moved = [
        [value + sign * 1e-5 * towards if k == wrt else value for k, value in enumerate(GIVEN)]
        for sign in (1, -1)
    ]
    expected = (f(*moved[0]) - f(*moved[1])) / 2e-5
    np.testing.assert_allclose(along(*GIVEN, towards), expected, rtol=1e-6, atol=1e-9)


def test_rop_agrees_with_two_pullbacks():
    outputs = theano_scan(rnn_step, [X], [H], [W])
    direction, weights = T.matrix("direction"), T.tensor3("weights")
    # the gradient with respect to the weights of a gradient that is linear in them
    pulled = theano.Lop(outputs, W, weights)
    twice = theano.grad((pulled * direction).sum(), weights)
    f = theano.function(
        [*INPUTS, direction, weights],
        [theano.Rop(outputs, W, direction), twice],
        mode=python_mode(),
        on_unused_input="ignore",
    )
    forward, backward = f(*GIVEN, values(COLUMNS, COLUMNS, seed=8), GIVEN[0])
    np.testing.assert_allclose(forward, backward, rtol=1e-9)


# ---- gradients that do not exist -------------------------------------------------------------


class NoGradient(Op):
    """The identity, without a gradient."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0].copy()

    def pullback(self, inputs, outputs, cotangents):
        return [theano.gradient.grad_not_implemented(self, 0, inputs[0])]


def test_undefined_gradient_of_what_passes_the_operation():
    states = theano_scan(lambda x, h: h + NoGradient()(x), [X], [H])
    with pytest.raises(NullTypeGradError):
        theano.grad(states.sum(), X)


def test_the_other_gradients_are_defined():
    check_input = theano_scan(lambda x, h: h + NoGradient()(x), [X], [H])
    f = theano.function(
        [X, H], theano.grad(check_input.sum(), H), mode=python_mode(), on_unused_input="ignore"
    )
    np.testing.assert_array_equal(f(*GIVEN[:2]), np.full((ROWS, COLUMNS), float(LENGTH)))


def test_disconnected_input():
    unrelated = T.matrix("unrelated")
    states = theano_scan(lambda x, h, unrelated: x + h, [X], [H], [unrelated])
    with pytest.raises(DisconnectedInputError):
        theano.grad(states.sum(), unrelated)
    zeros = theano.grad(states.sum(), unrelated, disconnected_inputs="ignore")
    f = theano.function([unrelated], zeros, mode=python_mode())
    np.testing.assert_array_equal(f(GIVEN[1]), np.zeros((ROWS, COLUMNS)))


def test_input_of_an_output_that_the_cost_does_not_read():
    states, _traces = theano_scan(lambda x, h, w: [x + h, h.dot(w)], [X], [H, None], [W])
    with pytest.raises(DisconnectedInputError):
        theano.grad(states.sum(), W)


def test_gradient_cut_in_the_step():
    def build(scan):
        return (
            scan(lambda x, h, w: rnn_step(x, theano.gradient.zero_grad(h), w), [X], [H], [W]) ** 2
        ).sum()

    check(build)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_a_result_that_becomes_a_place_of_a_buffer_when_the_step_is_compiled(mode):
    """The second gradient keeps what is zero and a place of its buffer, once rewritten that place."""
    x = T.TensorType("float64", shape=(12, 3))("x")
    h, w = (T.TensorType("float64", shape=(3,))(name) for name in "hw")

    def step(x, h, w):
        nothing = h**2 - h**2
        new = h - (w * nothing)[::-1]
        return new, new

    (_, rows), _ = theano.scan(step, x, [h, None], w)
    gradients = theano.grad((rows[-2] ** 2).sum(), [h, w])
    second = theano.grad(gradients[0].sum() + gradients[1].sum(), [h, w])
    function = theano.function([x, h, w], second, mode=mode, on_unused_input="ignore")
    of_h, of_w = function(np.ones((12, 3)), np.ones(3), np.ones(3))
    np.testing.assert_array_equal(of_h, [2, 2, 2])
    np.testing.assert_array_equal(of_w, [0, 0, 0])


# ---- how many loops -------------------------------------------------------------------------


def test_a_plain_rnn_saves_nothing_because_its_state_is_enough():
    cost = theano_scan(rnn_step, [X], [H], [W])[-1].sum()
    function = theano.function(INPUTS, theano.grad(cost, INPUTS), mode=ONLY_UNIFIED)
    forward, backward = loops(function)
    assert forward.op.info.n_nit_sot == 0
    assert (products(forward.op.fgraph), products(backward.op.fgraph)) == (1, 2)


def test_no_loop_runs_twice():
    cost = theano_scan(rnn_step, [X], [H], [W])[-1].sum()
    gradients = theano.grad(cost, INPUTS)
    curvature = theano.grad(sum((g**2).sum() for g in gradients), W)
    function = theano.function(INPUTS, [cost, *gradients, curvature], mode=ONLY_UNIFIED)
    # forward, its gradient, and the gradient of both together
    assert len(loops(function)) == 4
