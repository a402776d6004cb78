import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function, scan
from pytensor.compile.mode import Mode


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(lambda a, b, c, w: pt.add(w, a.dot(b), c), id="state first"),
        pytest.param(lambda a, b, c, w: pt.add(a.dot(b), w, c), id="state in the middle"),
        pytest.param(lambda a, b, c, w: pt.add(a.dot(b), c, w), id="state last"),
        pytest.param(lambda a, b, c, w: pt.add(w, c, a.dot(b)), id="product last"),
        pytest.param(lambda a, b, c, w: pt.add(w, a.dot(b), b.dot(c)), id="two products"),
        pytest.param(lambda a, b, c, w: pt.add(w, a.dot(b), w), id="state twice"),
    ],
)
def test_scan_push_out_add_of_three_terms(step):
    a, b, c = pt.tensor3s("a", "b", "c")
    w0 = pt.matrix("w0")
    outputs = scan(step, sequences=[a, b, c], outputs_info=[w0], return_updates=False)
    # What scan returns is outputs[1:]; the rewrite looks for the Scan output itself
    last = outputs.owner.inputs[0][-1]

    rng = np.random.default_rng(5)
    values = [rng.normal(size=size) for size in [(4, 3, 3)] * 3 + [(3, 3)]]
    values = [value.astype(w0.dtype) for value in values]
    options = {"on_unused_input": "ignore"}
    fn = function([a, b, c, w0], last, mode=Mode("py", "fast_run"), **options)
    reference = function([a, b, c, w0], last, mode=Mode("py", None), **options)
    np.testing.assert_allclose(fn(*values), reference(*values), rtol=1e-5)
