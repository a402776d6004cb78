"""Gradients of decompositions, which are operators in Theano 1.0 and graphs here."""

from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Variable
from pytensor.tensor.linalg import Cholesky, Eigh, Eigvalsh

from theano.pytensor_internals.graphs.annotations import known_tensor


class CholeskyGrad:
    """The gradient of a Cholesky factor: ``CholeskyGrad(lower)(x, factor, factor_grad)``."""

    def __init__(self, lower: bool = True):
        self.lower = lower

    def __call__(self, x: Variable, factor: Variable, factor_grad: Variable) -> Variable:
        return Cholesky(lower=self.lower).pullback([x], [factor], [factor_grad])[0]


class EighGrad:
    """The gradient of eigenvalues and eigenvectors: ``EighGrad(UPLO)(x, w, v, w_grad, v_grad)``."""

    def __init__(self, UPLO: str = "L"):
        if UPLO not in ("L", "U"):
            raise ValueError(f"EighGrad: expected 'L' or 'U', got {UPLO!r}")
        self.UPLO = UPLO

    def __call__(
        self, x: Variable, w: Variable, v: Variable, w_grad: Variable, v_grad: Variable
    ) -> Variable:
        return Eigh(lower=self.UPLO == "L").pullback([x], [w, v], [w_grad, v_grad])[0]


class EigvalshGrad:
    """The gradient of eigenvalues of a and b: ``EigvalshGrad(lower)(a, b, w_grad)``."""

    def __init__(self, lower: bool = True):
        self.lower = lower

    def __call__(self, a: Variable, b: Variable, w_grad: Variable) -> list[Variable]:
        op = Eigvalsh(lower=self.lower)
        return op.pullback([a, b], [op(a, b)], [w_grad])


def _zero_disconnected(outputs: list[Variable], grads: list[Variable]) -> list[Variable]:
    """Return the gradients, with zeros in place of those that are not connected."""
    return [
        known_tensor(output).zeros_like() if isinstance(grad.type, DisconnectedType) else grad
        for output, grad in zip(outputs, grads, strict=True)
    ]
