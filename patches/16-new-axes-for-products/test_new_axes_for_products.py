import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function, grad
from pytensor.compile.mode import Mode

MODE = Mode(linker="py", optimizer="fast_run")


@pytest.mark.parametrize("with_cost", [False, True])
@pytest.mark.parametrize("mean", [False, True])
def test_gradient_of_logistic_regression(mean, with_cost):
    """Where a probability is 1 to rounding, the gradient is finite beside its cost, too."""
    x, w, y = pt.dmatrix("x"), pt.dvector("w"), pt.dvector("y")
    s = pt.sigmoid(x @ w)
    losses = -y * pt.log(s) - (1 - y) * pt.log(1 - s)
    cost = losses.mean() if mean else losses.sum()
    gradient = grad(cost, w)
    fn = function([x, w, y], [cost, gradient] if with_cost else [gradient], mode=MODE)
    rows, targets = np.array([[40.0, -1.0], [-40.0, 1.0]]), np.ones(2)
    *_, found = fn(rows, np.array([2.0, 1.0]), targets)
    np.testing.assert_allclose(found, np.array([40.0, -1.0]) / (2 if mean else 1))
