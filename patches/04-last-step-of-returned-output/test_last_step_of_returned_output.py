import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function, scan
from pytensor.compile.mode import Mode
from pytensor.scan.op import Scan
from pytensor.tensor.blas import Dot22, Gemm
from pytensor.tensor.math import Dot

MODE = Mode(linker="py", optimizer="fast_run")


def sum_of_products(read):
    a, b = pt.tensor3s("a", "b")
    w0 = pt.matrix("w0")
    w = scan(
        lambda a, b, w: w + a.dot(b),
        sequences=[a, b],
        outputs_info=[w0],
        return_updates=False,
    )
    return [a, b, w0], read(w)


def values_for(inputs, n_steps):
    rng = np.random.default_rng(5)
    shapes = [(n_steps, 2, 3), (n_steps, 3, 4), (2, 4)]
    return [rng.normal(size=s).astype(i.dtype) for s, i in zip(shapes, inputs, strict=True)]


def products_in_scans(fn):
    """Number of products in the inner graph of each Scan, in the order they run in."""
    return [
        sum(isinstance(inner.op, Dot | Dot22 | Gemm) for inner in node.op.fgraph.apply_nodes)
        for node in fn.maker.fgraph.toposort()
        if isinstance(node.op, Scan)
    ]


@pytest.mark.parametrize("n_steps", [1, 5])
def test_last_step_of_what_scan_returns(n_steps):
    inputs, last = sum_of_products(lambda w: w[-1])
    fn = function(inputs, last, mode=MODE)
    assert products_in_scans(fn) == []
    values = values_for(inputs, n_steps)
    reference = function(inputs, last, mode=Mode("py", None))
    np.testing.assert_allclose(fn(*values), reference(*values), rtol=1e-5)


def test_no_step():
    """Like the other rewrites of what is read of a Scan, this one gives the initial value."""
    inputs, last = sum_of_products(lambda w: w[-1])
    fn = function(inputs, last, mode=MODE)
    values = values_for(inputs, 0)
    np.testing.assert_allclose(fn(*values), values[-1])


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda w: w[-2], id="another step"),
        pytest.param(lambda w: w[1:][-1], id="of a part"),
        pytest.param(lambda w: w[::2][-1], id="of every other step"),
        pytest.param(lambda w: w[-1, 0], id="a part of the last step"),
        pytest.param(lambda w: w[-1] + w.sum(axis=0), id="all steps, too"),
        pytest.param(lambda w: w[pt.as_tensor([-1])], id="by an array"),
    ],
)
def test_other_reads_stay(read):
    inputs, result = sum_of_products(read)
    fn = function(inputs, result, mode=MODE)
    values = values_for(inputs, 4)
    reference = function(inputs, result, mode=Mode("py", None))
    np.testing.assert_allclose(fn(*values), reference(*values), rtol=1e-5)
