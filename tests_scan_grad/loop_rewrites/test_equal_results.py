"""Results of a loop that are equal are computed once, and those that only begin alike are not."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import loops

MODES = ["FAST_RUN", "FAST_COMPILE"]

# steps of two states that begin alike, and how many states and traces are left in FAST_RUN
STEPS = {
    "equal": (lambda a, b: [a + 1, b + 1, 3 * a, 3 * b], 1, 1),
    "equal crosswise": (lambda a, b: [b + 1, a + 1, 3 * a, 3 * b], 1, 1),
    "of the second alone": (lambda a, b: [a + 1, b + 1, a, 3 * b], 1, 2),
    "alike at first": (lambda a, b: [a + 1, b + 2, 3 * a, 3 * b], 2, 2),
    "alike at first, crosswise": (lambda a, b: [b + 1, a + 2, 3 * a, 3 * b], 2, 2),
}


def unrolled(step, x, steps):
    a = b = x
    rows = []
    for _ in range(steps):
        a, b, *traced = step(a, b)
        rows.append([a, b, *traced])
    return np.array(rows).T


@pytest.mark.parametrize("name", STEPS)
def test_two_states_that_begin_alike(name):
    step, states, traces = STEPS[name]
    x = T.dscalar("x")
    results, _ = theano.scan(step, outputs_info=[x, x, None, None], n_steps=4)
    for mode in MODES:
        f = theano.function([x], results, mode=mode)
        np.testing.assert_allclose(f(2.0), unrolled(step, 2.0, 4))
    [loop] = loops(theano.function([x], results))
    assert len(loop.op.info.sit_sot_in_slices) == states
    assert loop.op.info.n_nit_sot == traces


def test_a_pair_that_parts_later_parts_what_reads_it():
    """c and d get the same of a and b, which are equal only at the first step."""
    x = T.dscalar("x")

    def step(a, b, c, d):
        return [a + 1, b + 2, c + a, d + b, c * 2, d * 2]

    results, _ = theano.scan(step, outputs_info=[x] * 4 + [None] * 2, n_steps=5)
    f = theano.function([x], results)
    a = b = c = d = 1.0
    rows = []
    for _ in range(5):
        traced = [c * 2, d * 2]
        a, b, c, d = a + 1, b + 2, c + a, d + b
        rows.append([a, b, c, d, *traced])
    np.testing.assert_allclose(f(1.0), np.array(rows).T)


def test_cotangents_that_begin_alike():
    """Gradients of two states begin with the same zeros, and part."""
    x, w = T.dvector("x"), T.dscalar("w")
    (a, b), _ = theano.scan(
        lambda x, a, b, w: [T.tanh(w * a + x), T.sin(w * b + x)],
        x,
        [T.zeros(()), T.zeros(())],
        [w],
    )
    cost = (a * b).sum()
    gradient = T.grad(cost, w)
    second = T.grad(gradient, w)
    f, g = (theano.function([x, w], [gradient, second], mode=mode) for mode in MODES)
    values = np.linspace(-1, 1, 6), 0.7
    np.testing.assert_allclose(f(*values), g(*values), rtol=1e-9)
    slope = theano.function([x, w], gradient)
    near = (slope(values[0], 0.7 + 1e-6) - slope(values[0], 0.7 - 1e-6)) / 2e-6
    np.testing.assert_allclose(f(*values)[1], near, rtol=1e-6)


@pytest.mark.parametrize("save", ["auto", "all", "none"])
def test_the_greatest_of_a_state_is_found_in_the_same_copy_of_it(save):
    """The Rop has its own forward loop; a gradient asks where a value is the greatest."""
    h0, w = T.dmatrices("h0", "w")
    with theano.change_flags({"scan.save": save}):
        h, _ = theano.scan(
            lambda h, w: T.tanh(h + w * h.max(axis=1)), outputs_info=h0, non_sequences=w, n_steps=4
        )
        cost = T.sqr(h[-1]).sum()
        results = [*theano.grad(cost, [h0, w]), theano.Rop(cost, h0, T.cos(h0))]
    values = [np.random.default_rng(seed).normal(size=(3, 3)) for seed in range(2)]
    expected = theano.function([h0, w], results, mode=theano.Mode("py", None))(*values)
    f = theano.function([h0, w], results)
    for ours, theirs in zip(f(*values), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)
    assert all(len(loop.op.info.sit_sot_in_slices) <= 2 for loop in loops(f))


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_constants_are_one_where_all_of_their_bits_are(mode):
    x = T.dvector("x")
    above, below = T.constant(np.array([0.0, 1.0])), T.constant(np.array([-0.0, 1.0]))
    f = theano.function([x], [x / above, x / below], mode=mode)
    with np.errstate(divide="ignore"):
        first, second = f([1.0, 2.0])
    assert first.tolist() == [np.inf, 2.0] and second.tolist() == [-np.inf, 2.0]


def test_equal_constants_with_numbers_that_are_none_are_one():
    x = T.dvector("x")
    results = [T.exp(x + T.constant(np.array([np.nan, np.inf, 2.0]))) for _ in range(2)]
    f = theano.function([x], results)
    assert len([n for n in f.maker.fgraph.apply_nodes if "exp" in str(n.op).lower()]) == 1
