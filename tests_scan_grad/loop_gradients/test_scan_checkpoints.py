"""``scan_checkpoints`` agrees with ``scan`` and keeps few steps."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.scan_module.scan_op import Scan


def step(x_t, h, w):
    return T.tanh(x_t + h.dot(w)), h.sum()


@pytest.mark.parametrize("length", [1, 5, 10, 11, 20])
def test_it_agrees_with_scan(length):
    x, h, w = T.matrix("x"), T.vector("h"), T.matrix("w")
    (states, sums), _ = theano.scan(step, x, [h, None], [w])
    (kept, kept_sums), updates = theano.scan_checkpoints(step, [x], [h, None], [w], save_every_N=5)
    assert not updates
    function = theano.function(
        [x, h, w],
        [states[4::5], kept, states[-1], kept[-1], sums[-1], kept_sums[-1]]
        + [theano.grad(last.sum(), wrt) for wrt in (x, h, w) for last in (states[-1], kept[-1])],
    )
    rng = np.random.RandomState(1)
    results = function(rng.randn(length, 3), rng.randn(3), rng.randn(3, 3) / 2)
    every_fifth, kept_value = results[:2]
    np.testing.assert_allclose(kept_value[: len(every_fifth)], every_fifth)
    assert len(kept_value) == -(-length // 5)
    for expected, found in zip(results[2::2], results[3::2], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_without_non_sequences():
    kept, _ = theano.scan_checkpoints(
        lambda before: 2 * before, None, T.constant(1.0), n_steps=6, save_every_N=4
    )
    assert theano.function([], kept)().tolist() == [16.0, 64.0]


def test_the_gradient_keeps_the_states_between_segments_only():
    a, k = T.vector("a"), T.iscalar("k")
    kept, _ = theano.scan_checkpoints(
        lambda before, a: T.tanh(before * a),
        outputs_info=T.ones_like(a),
        non_sequences=a,
        n_steps=k,
        save_every_N=10,
    )
    gradient = theano.grad(kept[-1].sum(), a)
    function = theano.function([a, k], gradient)
    loops = [n for n in function.maker.fgraph.toposort() if isinstance(n.op, Scan)]
    assert len(loops) == 2
    forward, backward = loops
    # the forward loop's results are vectors of each segment, not matrices of its steps
    assert all(output.ndim == a.ndim + 1 for output in forward.outputs)
    inner = [n for n in backward.op.fgraph.apply_nodes if isinstance(n.op, Scan)]
    assert len(inner) == 2


def test_taps_are_refused():
    a = T.vector("a")
    with pytest.raises(RuntimeError, match="taps"):
        theano.scan_checkpoints(lambda b: b, None, {"initial": a, "taps": [-2]}, n_steps=4)


@pytest.mark.parametrize("count", ["given", "by the shortest"])
def test_sequences_may_be_longer_than_the_loop(count):
    x, y = T.dvectors("x", "y")
    options = {"n_steps": 4} if count == "given" else {}
    kept, _ = theano.scan_checkpoints(
        lambda a, b, h: 0.5 * h + a * b, [x, y], T.zeros(()), save_every_N=3, **options
    )
    f = theano.function([x, y], [kept, *theano.grad(kept[-1], [x, y])])
    found, by_x, by_y = f(np.arange(1.0, 7.0), np.ones(4))
    np.testing.assert_allclose(found, [4.25, 6.125])
    np.testing.assert_allclose(by_x, [0.125, 0.25, 0.5, 1, 0, 0])
    np.testing.assert_allclose(by_y, [0.125, 0.5, 1.5, 4])


def test_sequences_shorter_than_n_steps_are_an_error():
    x = T.dvector("x")
    kept, _ = theano.scan_checkpoints(
        lambda a, h: h + a, x, T.zeros(()), n_steps=7, save_every_N=3, name="sums"
    )
    f = theano.function([x], kept)
    assert f(np.ones(7)).tolist() == [3, 6, 7]
    with pytest.raises(AssertionError, match="scan_checkpoints 'sums': sequence 0"):
        f(np.ones(5))
