import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function, grad, scan
from pytensor.compile.mode import Mode
from pytensor.scan import save_for_gradient, until
from pytensor.scan.op import Scan
from pytensor.tensor.blas import Dot22, Gemm
from pytensor.tensor.math import Dot
from pytensor.tensor.special import softmax

MODE = Mode(linker="py", optimizer="fast_run")


def scans(fn):
    return [node for node in fn.maker.fgraph.toposort() if isinstance(node.op, Scan)]


def products_in_scans(fn):
    """Number of products in the inner graph of each Scan, in the order they run in."""
    return [
        sum(isinstance(inner.op, Dot | Dot22 | Gemm) for inner in node.op.fgraph.apply_nodes)
        for node in scans(fn)
    ]


def gated_step(x, h, W_r, W_z, W_n):
    r = pt.sigmoid(x + h.dot(W_r))
    z = pt.sigmoid(x + h.dot(W_z))
    n = pt.tanh(x + (r * h).dot(W_n))
    return z * h + (1 - z) * n


def lstm_step(x, h, c, W):
    gates = x + h.dot(W)
    i, f, o, g = (gates[:, 3 * k : 3 * (k + 1)] for k in range(4))
    c = pt.sigmoid(f) * c + pt.sigmoid(i) * pt.tanh(g)
    return pt.sigmoid(o) * pt.tanh(c), c


def two_taps_step(x, h_tm2, h_tm1, V, W):
    return pt.tanh(x + h_tm1.dot(V) + softmax(h_tm2.dot(W)))


def while_step(x, h, W):
    a = pt.exp(pt.tanh(h.dot(W)))
    return pt.tanh(x + a * a.sum()), until(x.sum() > 100)


def loop(step, n_weights, initial, width=3):
    x = pt.tensor3("x")
    states = [pt.tensor(f"state{k}", shape=(None,) * n) for k, (n, _) in enumerate(initial)]
    weights = [pt.matrix(f"W{k}") for k in range(n_weights)]
    outputs = scan(
        step,
        sequences=[x],
        outputs_info=[
            state if taps is None else {"initial": state, "taps": taps}
            for state, (_, taps) in zip(states, initial, strict=True)
        ],
        non_sequences=weights,
        return_updates=False,
    )
    rng = np.random.default_rng(5)
    sizes = [
        (5, 2, width),
        *((2,) * (n - 2) + (2, 3) for n, _ in initial),
        *[(3, width)] * n_weights,
    ]
    inputs = [x, *states, *weights]
    values = [rng.normal(size=s).astype(v.dtype) for s, v in zip(sizes, inputs, strict=True)]
    return inputs, values, outputs, weights


LOOPS = {
    "gated": (lambda: loop(gated_step, 3, [(2, None)]), 3),
    "lstm": (lambda: loop(lstm_step, 1, [(2, None), (2, None)], width=12), 1),
    "two taps": (lambda: loop(two_taps_step, 2, [(3, [-2, -1])]), 2),
    "while": (lambda: loop(while_step, 1, [(2, None)]), 1),
}


@pytest.mark.parametrize("name", LOOPS)
def test_products_are_not_computed_again(name):
    make, n_products = LOOPS[name]
    inputs, values, outputs, weights = make()

    def gradients(outputs):
        h = outputs[0] if isinstance(outputs, list) else outputs
        return grad(h[-1].sum() + pt.sqr(h).sum(), weights)

    fn = function(inputs, gradients(save_for_gradient(outputs)), mode=MODE)
    assert products_in_scans(fn)[1] == n_products
    reference = function(inputs, gradients(outputs), mode=Mode("py", None))
    for result, expected in zip(fn(*values), reference(*values), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.parametrize("name", LOOPS)
def test_nothing_is_saved_without_a_gradient(name):
    inputs, values, outputs, _ = LOOPS[name][0]()
    plain = function(inputs, outputs, mode=MODE)
    saving = function(inputs, save_for_gradient(outputs), mode=MODE)
    [plain_scan], [saving_scan] = scans(plain), scans(saving)
    assert saving_scan.op.info == plain_scan.op.info
    for result, expected in zip(saving(*values), plain(*values), strict=True):
        np.testing.assert_allclose(result, expected)


def test_what_is_cheap_or_returned_is_not_saved():
    x, h0 = pt.tensor3("x"), pt.matrix("h0")
    W = pt.matrix("W")
    for step in (
        lambda x, h, W: pt.tanh(x + h.dot(W)),
        lambda x, h, W: pt.exp(pt.tanh(x) * h),
    ):
        h = scan(step, sequences=[x], outputs_info=[h0], non_sequences=[W], return_updates=False)
        assert save_for_gradient(h) is h


def test_smallest_values_are_saved():
    """Of a product and its sum over a dimension, the sum is stored if it is enough."""
    x, h0, W = pt.tensor3("x"), pt.vector("h0"), pt.matrix("W")
    h = scan(
        lambda x, h, W: pt.exp(x.dot(W).sum(axis=0) * h),
        sequences=[x],
        outputs_info=[h0],
        non_sequences=[W],
        return_updates=False,
    )
    node = save_for_gradient(h).owner.inputs[0].owner
    [saved] = node.op.inner_nitsot_outs(node.op.inner_outputs)
    assert saved.type.ndim == 1


def test_outputs_of_something_else():
    x = pt.vector("x")
    with pytest.raises(ValueError, match="outputs of one scan"):
        save_for_gradient([x, pt.exp(x)])
