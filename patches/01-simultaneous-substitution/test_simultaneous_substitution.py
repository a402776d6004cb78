import itertools

import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function, grad, scan
from pytensor.compile.mode import Mode
from pytensor.scan.op import Scan
from pytensor.tensor.blas import Dot22, Gemm
from pytensor.tensor.math import Dot

MODE = Mode(linker="py", optimizer="fast_run")


def gated_rnn(returned):
    """Gradients of a gated recurrent network that returns what is named, in that order."""
    x = pt.tensor3("x")
    h0, W_r, W_z, W_n = pt.matrices("h0", "W_r", "W_z", "W_n")

    def step(x, h, W_r, W_z, W_n):
        r = pt.sigmoid(x + h.dot(W_r))
        z = pt.sigmoid(x + h.dot(W_z))
        n = pt.tanh(x + (r * h).dot(W_n))
        values = {"h": z * h + (1 - z) * n, "r": r, "z": z, "n": n}
        return [values[name] for name in returned]

    outputs = scan(
        step,
        sequences=[x],
        outputs_info=[h0 if name == "h" else None for name in returned],
        non_sequences=[W_r, W_z, W_n],
        return_updates=False,
    )
    h = outputs[returned.index("h")]
    return [x, h0, W_r, W_z, W_n], grad(h[-1].sum(), [W_r, W_z, W_n])


def products_in_scans(fn):
    """Number of products in the inner graph of each Scan, in the order they run in."""
    return [
        sum(isinstance(inner.op, Dot | Dot22 | Gemm) for inner in node.op.fgraph.apply_nodes)
        for node in fn.maker.fgraph.toposort()
        if isinstance(node.op, Scan)
    ]


@pytest.mark.parametrize("returned", ["".join(p) for p in itertools.permutations("rzn")])
def test_returned_values_are_not_computed_again(returned):
    inputs, grads = gated_rnn("h" + returned)
    fn = function(inputs, grads, mode=MODE)
    assert products_in_scans(fn) == [3, 3]


def test_gradients_do_not_depend_on_what_is_returned():
    shapes = [(4, 2, 3), (2, 3), (3, 3), (3, 3), (3, 3)]
    results = []
    for returned in ("hr", "hrzn", "rnhz"):
        inputs, grads = gated_rnn(returned)
        values = [np.random.default_rng(5).normal(size=s) for s in shapes]
        values = [v.astype(i.dtype) for v, i in zip(values, inputs, strict=True)]
        results.append(function(inputs, grads, mode=Mode("py", None))(*values))
    for result in results[1:]:
        for value, expected in zip(result, results[0], strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-6)


def test_same_value_returned_twice():
    x, h0 = pt.vectors("x", "h0")

    def step(x, h):
        new = pt.exp(x * h)
        return new, new, new * 2

    h, again, double = scan(
        step, sequences=[x], outputs_info=[h0, None, None], return_updates=False
    )
    gx = grad((h + again + double).sum(), x)
    rng = np.random.default_rng(5)
    values = [rng.normal(size=3).astype(x.dtype), rng.normal(size=2).astype(x.dtype)]
    fn = function([x, h0], gx, mode=MODE)

    hs, h_t = [], values[1]
    for x_t in values[0]:
        hs.append((x_t, h_t))
        h_t = np.exp(x_t * h_t)
    expected, g_h = [], 0.0
    for x_t, h_tm1 in reversed(hs):
        g_new = (4 + g_h) * np.exp(x_t * h_tm1)
        expected.insert(0, (g_new * h_tm1).sum())
        g_h = g_new * x_t
    np.testing.assert_allclose(fn(*values), expected, rtol=1e-5)
