import numpy as np
import pytensor.tensor as pt
from pytensor import function, scan
from pytensor.compile.builders import infer_shape
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.scan import op as scan_op_module


def test_infer_shape_keeps_what_computes_the_input_shapes():
    """The graph of the given shapes is used as it is, neither copied nor visited."""
    inner = pt.matrix("inner")
    outs = [pt.concatenate([inner, pt.exp(inner)], axis=1), inner.sum(axis=0)]
    length = pt.lscalar("length")
    for _ in range(5):
        length = length * 2 + 1
    width = pt.lscalar("width") + 1

    [joined, summed] = infer_shape(outs, [inner], [(length, width)])
    assert joined[0] is length
    assert summed == (width,)
    assert width in ancestors([joined[1]])


def test_scan_infer_shape_stops_at_the_input_shapes(monkeypatch):
    """What computes the shapes of the inputs is known to be valid without a look at it."""
    seen = []

    class Recording(scan_op_module.Validator):
        def __init__(self, valid=None, **kwargs):
            super().__init__(valid=valid, **kwargs)
            seen.append(set(self.valid))

    monkeypatch.setattr(scan_op_module, "Validator", Recording)
    x = pt.tensor3("x")
    y = scan(lambda x: pt.exp(x), sequences=[x], return_updates=False)
    node = next(
        v.owner for v in ancestors([y]) if v.owner and isinstance(v.owner.op, scan_op_module.Scan)
    )
    steps, rows, columns = pt.lscalars("steps", "rows", "columns")
    shapes = [(steps, rows, columns) if i.type.ndim == 3 else () for i in node.inputs]
    [shape] = node.op.infer_shape(node, shapes)
    assert shape[1:] == (rows, columns)
    assert {steps, rows, columns} <= seen[0]
    assert all(isinstance(valid, Variable) for valid in seen[0])


def test_stacked_loops():
    x = pt.tensor3("x")
    W = pt.matrix("W")
    h = x
    for _ in range(3):
        h = scan(
            lambda x, W: pt.tanh(x.dot(W)), sequences=[h], non_sequences=[W], return_updates=False
        )
    fn = function([x, W], [h, *h.shape], mode=Mode("py", "fast_run"))
    rng = np.random.default_rng(5)
    x_value, W_value = rng.normal(size=(4, 2, 3)), rng.normal(size=(3, 3))
    expected = x_value
    for _ in range(3):
        expected = np.tanh(expected @ W_value)
    result, *shape = fn(x_value.astype(x.dtype), W_value.astype(W.dtype))
    np.testing.assert_allclose(result, expected, rtol=1e-5)
    assert tuple(shape) == expected.shape
