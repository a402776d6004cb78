"""Special functions that are one scalar operator in Theano 1.0, and several in PyTensor."""

from pytensor.gradient import grad_not_implemented
from pytensor.scalar.basic import BinaryScalarOp, upgrade_to_float, upgrade_to_float64

from theano.pytensor_internals.python_helpers import lazy_scipy_module

# slow to import, and not needed by most programs
special = lazy_scipy_module("special")

__all__ = ["Chi2SF", "Iv", "chi2sf", "iv"]


class Chi2SF(BinaryScalarOp):
    """The probability that a chi-squared variable of k degrees of freedom exceeds x."""

    nfunc_spec = ("scipy.stats.chi2.sf", 2, 1)

    def impl(self, x, k):
        return special.chdtrc(k, x)

    def c_code(self, node, name, inputs, outputs, sub):
        raise NotImplementedError("chi2sf is computed by SciPy")


class Iv(BinaryScalarOp):
    """The modified Bessel function of the first kind of order v."""

    nfunc_spec = ("scipy.special.iv", 2, 1)

    def impl(self, v, x):
        return special.iv(v, x)

    def pullback(self, inputs, outputs, cotangents):
        v, x = inputs
        slope = (iv(v - 1, x) + iv(v + 1, x)) / 2
        return [grad_not_implemented(self, 0, v), cotangents[0] * slope]

    def c_code(self, node, name, inputs, outputs, sub):
        raise NotImplementedError("iv is computed by SciPy")


chi2sf = Chi2SF(upgrade_to_float64, name="chi2sf")
iv = Iv(upgrade_to_float, name="iv")
