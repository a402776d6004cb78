"""Results of a loop that nothing reads, dropped before any other rewrite of loops."""

import numpy as np

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import is_product, loops, loops_as_built, python_mode, theano_scan
from tests_scan_grad.networks import lstm
from theano.scan_module.scan_opt import REWRITES

# no other rewrite of loops, PyTensor's or ours
ALONE = python_mode(
    excluding=(
        "scan_eqopt1",
        "scan_eqopt2",
        *(name for name, *_ in REWRITES if name != "drop_dead_results"),
    )
)


def test_a_gradient_by_weights_does_not_compute_that_of_a_sequence():
    x, h0, W, U = T.dmatrix("x"), T.dvector("h0"), T.dmatrix("W"), T.dmatrix("U")
    h, _ = theano.scan(lambda a, h, W, U: T.tanh(a.dot(W) + h.dot(U)), x, h0, [W, U])
    given = [x, h0, W, U]
    f = theano.function(given, theano.grad(h[-1].sum(), U), mode=ALONE)
    backward = loops(f)[-1]
    assert W not in backward.inputs
    assert backward.op.info.n_nit_sot == 0
    # that by U, and what goes back along it
    assert sum(map(is_product, backward.op.fgraph.toposort())) == 2
    values = np.ones((3, 2)), np.ones(2), np.eye(2), np.eye(2) / 2
    whole = theano.function(given, theano.grad(h[-1].sum(), [U, x])[0], mode="FAST_COMPILE")
    np.testing.assert_allclose(f(*values), whole(*values), rtol=1e-12)


def test_a_state_that_another_reads_and_a_condition_stay():
    x = T.dscalar("x")

    def step(a, b, c):
        return [a + b, b + 1, c * 2], {}, theano.scan_module.until(b > 2)

    (a, *_), _ = theano.scan(step, outputs_info=[x, x, x], n_steps=10)
    f = theano.function([x], a, mode=ALONE)
    [loop] = loops(f)
    assert len(loop.op.info.sit_sot_in_slices) == 2
    np.testing.assert_allclose(f(0.0), [0, 1, 3, 6])


def test_a_gradient_is_given_no_rows_of_which_it_reads_the_shape():
    *_, backward = loops_as_built(lstm(theano_scan))
    step = backward.op.fgraph
    assert all(step.clients[variable] for variable in backward.op.inner_seqs(step.inputs))
