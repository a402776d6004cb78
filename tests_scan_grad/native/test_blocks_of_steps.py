"""Loops that are cut into blocks of steps run in native code as they do in one piece."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.networks import array
from theano.link.native import report
from theano.scan_module import scan_report

BATCH, DIM = 4, 8
SHAPES = [(BATCH, DIM), (BATCH, DIM), (2 * DIM, 4 * DIM), (4 * DIM,)]


def gradients(memory: float, of_inputs: bool):
    """The gradients of an LSTM whose step joins its input and its state, no size of which is known."""
    x, h0, c0, W, b = (
        T.dtensor3("x"),
        T.dmatrix("h0"),
        T.dmatrix("c0"),
        T.dmatrix("W"),
        T.dvector("b"),
    )

    def step(x, h, c, W, b):
        gates, n = T.concatenate([x, h], axis=1).dot(W) + b, h.shape[1]
        i, f, o, g = (gates[:, k * n : (k + 1) * n] for k in range(4))
        c = T.nnet.sigmoid(f) * c + T.nnet.sigmoid(i) * T.tanh(g)
        return T.nnet.sigmoid(o) * T.tanh(c), c

    h, _ = theano.scan(step, sequences=[x], outputs_info=[h0, c0], non_sequences=[W, b])[0]
    cost = (h**2).sum()
    wanted = [W, b, x, h0, c0] if of_inputs else [W, b]
    with theano.config.change_flags(**{"scan.push_out_memory": memory}):
        return theano.function([x, h0, c0, W, b], [cost, *theano.grad(cost, wanted)])


@pytest.mark.parametrize("of_inputs", [False, True])
def test_blocks_are_native_and_compute_what_the_loop_does(of_inputs):
    whole = gradients(0, of_inputs)
    of_a_step = 8 * BATCH * (2 * DIM + 4 * DIM + 1)
    for steps_in_a_block in (0.5, 1, 2, 3, 1000):
        f = gradients(steps_in_a_block * of_a_step * 1.1 / 2**20, of_inputs)
        loops = report(f).loops
        assert any(loop.name.startswith("blocks_of_grad_of") for loop in loops)
        assert all(loop.reason is None for loop in loops), report(f)
        # none, fewer than in a block, as many, one more, blocks and a rest
        for steps in (0, 1, 2, 3, 4, 6, 7):
            values = [array(steps, BATCH, DIM, seed=9), *(array(*s, seed=3) for s in SHAPES)]
            for got, right in zip(f(*values), whole(*values), strict=True):
                np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mebibytes", [0.5, 4, 64])
def test_a_bound_takes_no_more_memory_than_none(mebibytes):
    """Blocks are no longer than products need, and cotangents of the cost are computed in them."""
    shapes = [(400, 64, 64), (64, 64), (64, 64), (128, 256), (256,)]
    whole, bounded = (
        scan_report(gradients(bound, False), shapes=shapes).memory for bound in (0, mebibytes)
    )
    assert bounded.peak <= 1.08 * whole.peak
    all_steps = 400 * 64 * 64 * 8
    assert [len([p for p in m.pieces if p.bytes >= all_steps]) for m in (whole, bounded)] == [6, 6]
