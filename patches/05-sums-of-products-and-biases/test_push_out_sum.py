import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function, grad, scan
from pytensor.compile.mode import Mode
from pytensor.scan.op import Scan
from pytensor.tensor.blas import Dot22, Gemm
from pytensor.tensor.math import Dot, Sum

MODE = Mode(linker="py", optimizer="fast_run")


def in_scans(fn, *op_types):
    """Number of such ops in the inner graph of each Scan, in the order they run in."""
    return [
        sum(
            isinstance(getattr(inner.op, "core_op", inner.op), op_types)
            for inner in node.op.fgraph.apply_nodes
        )
        for node in fn.maker.fgraph.toposort()
        if isinstance(node.op, Scan)
    ]


def values_for(inputs, lengths):
    """Random values of the inputs; each dimension is as long as ``lengths`` says."""
    rng = np.random.default_rng(5)
    return [rng.normal(size=s).astype(i.dtype) for s, i in zip(lengths, inputs, strict=True)]


@pytest.mark.parametrize("dot", [pt.dot, pt.matmul])
def test_gradient_of_bias_and_of_weight_used_twice(dot):
    x = pt.tensor3("x")
    h0, W = pt.matrices("h0", "W")
    b = pt.vector("b")
    h = scan(
        lambda x, h, W, b: pt.tanh(x + dot(h, W) + dot(pt.sqr(h), W) + b),
        sequences=[x],
        outputs_info=[h0],
        non_sequences=[W, b],
        return_updates=False,
    )
    inputs = [x, h0, W, b]
    grads = grad(h[-1].sum(), [W, b])
    fn = function(inputs, grads, mode=MODE)
    assert in_scans(fn, Dot, Dot22, Gemm) == [2, 1]
    assert in_scans(fn, Sum) == [0, 0]

    reference = function(inputs, grads, mode=Mode("py", None))
    values = values_for(inputs, [(5, 2, 3), (2, 3), (3, 3), (3,)])
    for result, expected in zip(fn(*values), reference(*values), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.parametrize("n_steps", [0, 1, 4])
@pytest.mark.parametrize(
    "step, leaves",
    [
        pytest.param(lambda a, b, c, w: w + a.dot(b) + b.dot(c), True, id="two products"),
        pytest.param(lambda a, b, c, w: a.dot(b) + (w + c.dot(a)), True, id="nested"),
        pytest.param(lambda a, b, c, w: pt.add(w, a.dot(b), b.dot(c)), True, id="one addition"),
        pytest.param(
            lambda a, b, c, w: w + (a.dot(b) + b.sum(axis=1).dimshuffle("x", 0)),
            False,
            id="broadcast",
        ),
        pytest.param(lambda a, b, c, w: w + a.dot(b) + w, False, id="state twice"),
        pytest.param(lambda a, b, c, w: w + a.dot(b) + pt.exp(c), False, id="another term"),
        pytest.param(lambda a, b, c, w: w + a.dot(w) + b.dot(c), False, id="of the state"),
    ],
)
def test_sum_of_products(step, leaves, n_steps):
    a, b, c = pt.tensor3s("a", "b", "c")
    w0 = pt.matrix("w0")
    outputs = scan(step, sequences=[a, b, c], outputs_info=[w0], return_updates=False)
    # What scan returns is outputs[1:]
    last = outputs.owner.inputs[0][-1]
    inputs = [a, b, c, w0]
    fn = function(inputs, last, mode=MODE)
    assert (in_scans(fn, object) == []) == leaves

    values = values_for(inputs, [(n_steps, 3, 3)] * 3 + [(3, 3)])
    reference = function(inputs, last, mode=Mode("py", None))
    np.testing.assert_allclose(fn(*values), reference(*values), rtol=1e-5)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)])
def test_sum_of_a_sequence(axis):
    x = pt.tensor4("x")
    s0 = pt.zeros(x[0].sum(axis=axis).shape)
    outputs = scan(
        lambda x, s: s + x.sum(axis=axis),
        sequences=[x],
        outputs_info=[s0],
        return_updates=False,
    )
    fn = function([x], outputs.owner.inputs[0][-1], mode=MODE)
    assert in_scans(fn, object) == []
    [value] = values_for([x], [(4, 2, 3, 5)])
    axes = (1, 2, 3) if axis is None else tuple(a + 1 for a in np.atleast_1d(axis))
    np.testing.assert_allclose(fn(value), value.sum(axis=(0, *axes)), rtol=1e-5)
