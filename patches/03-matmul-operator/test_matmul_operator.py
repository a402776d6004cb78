import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function, grad, scan
from pytensor.compile.mode import Mode
from pytensor.scan.op import Scan
from pytensor.tensor.blas import Dot22, Gemm
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.math import Dot

MODE = Mode(linker="py", optimizer="fast_run")


def products_in_scans(fn):
    """Number of products in the inner graph of each Scan, in the order they run in."""
    return [
        sum(
            isinstance(getattr(inner.op, "core_op", inner.op), Dot | Dot22 | Gemm)
            for inner in node.op.fgraph.apply_nodes
        )
        for node in fn.maker.fgraph.toposort()
        if isinstance(node.op, Scan)
    ]


def test_weight_gradient_of_matmul_leaves_scan():
    x = pt.tensor3("x")
    h0, W = pt.matrices("h0", "W")
    h = scan(
        lambda x, h, W: pt.tanh(x + h @ W),
        sequences=[x],
        outputs_info=[h0],
        non_sequences=[W],
        return_updates=False,
    )
    g_W = grad(h[-1].sum(), W)

    rng = np.random.default_rng(5)
    values = [rng.normal(size=size).astype(W.dtype) for size in [(5, 2, 3), (2, 3), (3, 3)]]
    fn = function([x, h0, W], g_W, mode=MODE)
    assert products_in_scans(fn) == [1, 1]
    reference = function([x, h0, W], g_W, mode=Mode("py", None))
    np.testing.assert_allclose(fn(*values), reference(*values), rtol=1e-5)


@pytest.mark.parametrize("batch_ndim", [1, 2])
def test_batched_matmul_stays(batch_ndim):
    """Batched products are not what the rewrite computes outside."""
    a, b = (pt.tensor(name, shape=(None,) * (batch_ndim + 3)) for name in "ab")
    w0 = pt.tensor("w0", shape=(None,) * (batch_ndim + 2))
    outputs = scan(
        lambda a, b, w: w + a @ b, sequences=[a, b], outputs_info=[w0], return_updates=False
    )
    last = outputs.owner.inputs[0][-1]
    assert isinstance((a[0] @ b[0]).owner.op, Blockwise)

    rng = np.random.default_rng(5)
    matrix = (2,) * batch_ndim + (3, 3)
    values = [rng.normal(size=size).astype(w0.dtype) for size in [(4, *matrix)] * 2 + [matrix]]
    fn = function([a, b, w0], last, mode=MODE)
    reference = function([a, b, w0], last, mode=Mode("py", None))
    np.testing.assert_allclose(fn(*values), reference(*values), rtol=1e-5)
