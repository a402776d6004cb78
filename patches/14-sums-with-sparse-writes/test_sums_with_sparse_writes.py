import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function, grad
from pytensor.compile.mode import Mode
from pytensor.tensor.subtensor import IncSubtensor

MODES = [Mode("py", "fast_run"), Mode("py", "fast_compile")]
X = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize("mode", MODES, ids=["fast_run", "fast_compile"])
class TestSums:
    def test_broadcast_operand(self, mode):
        x, v = pt.dvectors("x", "v")
        total = x + pt.diag(v)
        fn = function([x, v], total, mode=mode)
        np.testing.assert_array_equal(fn([1.0, 2.0], [3.0, 4.0]), [[4, 2], [1, 6]])

    def test_gradient_of_mean_and_row(self, mode):
        x = pt.dmatrix("x")
        w, u = pt.dvectors("w", "u")
        cost = (x.mean(0) * w).sum() + (x[0] * u).sum()
        fn = function([x, w, u], grad(cost, x), mode=mode)
        expected = np.tile([1.0, 2.0], (3, 1)) + [[5, 6], [0, 0], [0, 0]]
        np.testing.assert_allclose(fn(X, [3.0, 6.0], [5.0, 6.0]), expected)

    def test_broadcast_write(self, mode):
        x, v = pt.dmatrix("x"), pt.dscalar("v")
        total = x + pt.zeros((1, 2))[0, 0].set(v)
        fn = function([x, v], total, mode=mode)
        np.testing.assert_array_equal(fn(X, 1.0), X + [1, 0])

    def test_dtype(self, mode):
        k, v = pt.lvector("k"), pt.dscalar("v")
        total = k + pt.zeros((3,), dtype="float64")[0].set(v)
        result = function([k, v], total, mode=mode)([1, 2, 3], 0.5)
        assert result.dtype == "float64"
        np.testing.assert_array_equal(result, [1.5, 2, 3])

    def test_duplicates(self, mode):
        x, v = pt.dvectors("x", "v")
        total = x + pt.zeros_like(x)[np.array([0, 0])].set(v)
        fn = function([x, v], total, mode=mode)
        np.testing.assert_array_equal(fn([1.0, 1.0], [5.0, 7.0]), [8.0, 1.0])

    def test_still_rewritten(self, mode):
        x, v = pt.dmatrix("x"), pt.dvector("v")
        total = pt.exp(x) + pt.zeros_like(x)[0].set(v)
        fn = function([x, v], total, mode=mode)
        np.testing.assert_allclose(fn(X, [1.0, 2.0]), np.exp(X) + [[1, 2], [0, 0], [0, 0]])
        [write] = [n for n in fn.maker.fgraph.apply_nodes if isinstance(n.op, IncSubtensor)]
        assert not write.op.set_instead_of_inc
