"""Operations on numbers, applied to arrays of one shape.

Theano declares the dtype of every result, by NumPy's rules; JAX has others. So operands are cast
before the operation, to the dtype of the result or to that in which they are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor.scalar.math as sm
from pytensor.graph.op import Op
from pytensor.scalar import basic as sb
from pytensor.tensor.math import MulWithoutZeros

from theano.link.xla.context import CannotLower
from theano.pytensor_internals.operations.scalar import (
    Angle,
    ComplexFromPolar,
    Deg2Rad,
    GammaL,
    GammaU,
    Rad2Deg,
)

Function = Callable[..., Any]


def _numpy() -> Any:
    import jax.numpy as jnp

    return jnp


def _lax(name: str) -> Function:
    def call(*operands: object) -> Any:
        from jax import lax

        return getattr(lax, name)(*operands)

    return call


def _jnp(name: str) -> Function:
    return lambda *operands: getattr(_numpy(), name)(*operands)


def _special(name: str) -> Function:
    def call(*operands: object) -> Any:
        from jax.scipy import special

        return getattr(special, name)(*operands)

    return call


def _folded(function: Function) -> Function:
    def call(first: object, *others: object) -> Any:
        for other in others:
            first = function(first, other)
        return first

    return call


def _unless_bool(name: str, of_bools: str) -> Function:
    # a sum of two true values is a byte of 2 to XLA, and true to NumPy
    return lambda x, y: _lax(of_bools if x.dtype == bool else name)(x, y)


def _inverse_of_erfc(x: Any) -> Any:
    # by the quantile of the normal distribution: JAX has it by its name since 0.11
    return _special("ndtri")(x / 2) * -np.sqrt(x.dtype.type(0.5))


def _is_integer(x: Any) -> bool:
    return bool(np.issubdtype(x.dtype, np.integer))


def _floor_divided(x: object, y: object) -> Any:
    # NumPy's quotient by an integer 0 is 0
    jnp = _numpy()
    if _is_integer(x):
        return jnp.where(y == 0, 0, jnp.floor_divide(x, jnp.where(y == 0, 1, y)))
    return jnp.floor_divide(x, y)


def _remainder(x: object, y: object) -> Any:
    jnp = _numpy()
    if _is_integer(x):
        return jnp.where(y == 0, 0, jnp.remainder(x, jnp.where(y == 0, 1, y)))
    return jnp.remainder(x, y)


def _clipped(x: object, low: Any, high: Any) -> Any:
    jnp = _numpy()
    return jnp.where(x < low, low, jnp.where(x > high, high, x))


def _rounded_away_from_zero(x: Any) -> Any:
    jnp = _numpy()
    whole = jnp.trunc(x)
    return whole + jnp.where(jnp.abs(x - whole) >= 0.5, jnp.sign(x), 0).astype(x.dtype)


def _softplus(x: object) -> Any:
    return _numpy().logaddexp(x, _numpy().zeros_like(x))


def _log1mexp(x: object) -> Any:
    jnp = _numpy()
    return jnp.where(x > -np.log(2), jnp.log(-jnp.expm1(x)), jnp.log1p(-jnp.exp(x)))


def _times_unless_zero(x: object, y: Any) -> Any:
    jnp = _numpy()
    return jnp.where(x == 0, y, jnp.where(y == 0, x, x * y))


def _gamma_part(name: str) -> Function:
    return lambda k, x: _special(name)(k, x) * _special("gamma")(k)


# Operands have the dtype of the result.
_IN_RESULTS_DTYPE: dict[type[sb.ScalarOp], Function] = {
    sb.Add: _folded(_unless_bool("add", "bitwise_or")),
    sb.Mul: _folded(_unless_bool("mul", "bitwise_and")),
    sb.Sub: _lax("sub"),
    sb.TrueDiv: _lax("div"),
    sb.IntDiv: _floor_divided,
    sb.Mod: _remainder,
    sb.Pow: _jnp("power"),
    sb.Maximum: _lax("max"),
    sb.Minimum: _lax("min"),
    sb.Clip: _clipped,
    sb.Second: lambda x, y: y,
    sb.Identity: lambda x: x,
    sb.OR: _lax("bitwise_or"),
    sb.XOR: _lax("bitwise_xor"),
    sb.AND: _lax("bitwise_and"),
    sb.Invert: _lax("bitwise_not"),
    sb.Sign: _lax("sign"),
    sb.Ceil: _jnp("ceil"),
    sb.Floor: _jnp("floor"),
    sb.Trunc: _jnp("trunc"),
    sb.RoundHalfToEven: _jnp("round"),
    sb.RoundHalfAwayFromZero: _rounded_away_from_zero,
    sb.Neg: _lax("neg"),
    sb.Reciprocal: lambda x: 1 / x,
    sb.Log: _lax("log"),
    sb.Log2: _jnp("log2"),
    sb.Log10: _jnp("log10"),
    sb.Log1p: _lax("log1p"),
    sb.Exp: _lax("exp"),
    sb.Exp2: _jnp("exp2"),
    sb.Expm1: _lax("expm1"),
    sb.Sqr: lambda x: x * x,
    sb.Sqrt: _lax("sqrt"),
    Deg2Rad: _jnp("deg2rad"),
    Rad2Deg: _jnp("rad2deg"),
    sb.Cos: _lax("cos"),
    sb.ArcCos: _lax("acos"),
    sb.Sin: _lax("sin"),
    sb.ArcSin: _lax("asin"),
    sb.Tan: _lax("tan"),
    sb.ArcTan: _lax("atan"),
    sb.ArcTan2: _lax("atan2"),
    sb.Cosh: _lax("cosh"),
    sb.ArcCosh: _lax("acosh"),
    sb.Sinh: _lax("sinh"),
    sb.ArcSinh: _lax("asinh"),
    sb.Tanh: _lax("tanh"),
    sb.ArcTanh: _lax("atanh"),
    sb.Conj: _jnp("conj"),
    sm.Sigmoid: _lax("logistic"),
    sm.Softplus: _softplus,
    sm.Log1mexp: _log1mexp,
    sm.Erf: _special("erf"),
    sm.Erfc: _special("erfc"),
    sm.Erfinv: _special("erfinv"),
    sm.Erfcinv: _inverse_of_erfc,
    sm.Erfcx: _special("erfcx"),
    sm.Gamma: _special("gamma"),
    sm.GammaLn: _special("gammaln"),
    sm.Psi: _special("digamma"),
    sm.TriGamma: lambda x: _special("polygamma")(1, x),
    sm.GammaInc: _special("gammainc"),
    sm.GammaIncC: _special("gammaincc"),
    GammaU: _gamma_part("gammaincc"),
    GammaL: _gamma_part("gammainc"),
    sm.BetaInc: _special("betainc"),
    sm.I0: _special("i0"),
    sm.I1: _special("i1"),
    MulWithoutZeros: _times_unless_zero,
}

# Operands have the dtype in which NumPy compares them.
_COMPARED: dict[type[sb.ScalarOp], Function] = {
    sb.LT: _lax("lt"),
    sb.GT: _lax("gt"),
    sb.LE: _lax("le"),
    sb.GE: _lax("ge"),
    sb.EQ: _lax("eq"),
    sb.NEQ: _lax("ne"),
}

# Operands are as they come.
_AS_GIVEN: dict[type[sb.ScalarOp], Function] = {
    sb.IsNan: _jnp("isnan"),
    sb.IsInf: _jnp("isinf"),
    sb.Abs: _jnp("abs"),
    sb.Real: _jnp("real"),
    sb.Imag: _jnp("imag"),
    Angle: _jnp("angle"),
    sb.Complex: _lax("complex"),
    ComplexFromPolar: lambda r, phi: _lax("complex")(r * _jnp("cos")(phi), r * _jnp("sin")(phi)),
}


def is_known(op: Op) -> bool:
    """Return whether there is a function for a scalar operation."""
    if isinstance(op, sb.Composite):
        return all(is_known(node.op) for node in op.fgraph.toposort())
    return isinstance(op, sb.Cast | sb.Switch) or any(
        type(op) in table for table in (_IN_RESULTS_DTYPE, _COMPARED, _AS_GIVEN)
    )


def applied(op: Any, dtype: str, operands: Sequence[Any]) -> Any:
    """Apply a scalar operation to arrays of one shape.

    Parameters
    ----------
    op : ScalarOp
    dtype : str
        That is declared for the result.
    operands : sequence of jax.Array
    """
    if isinstance(op, sb.Switch):
        condition, *values = operands
        return _numpy().where(condition != 0, *(value.astype(dtype) for value in values))
    if isinstance(op, sb.Cast):
        return cast(operands[0], dtype)
    if type(op) in _IN_RESULTS_DTYPE:
        return _IN_RESULTS_DTYPE[type(op)](*(cast(x, dtype) for x in operands))
    if type(op) in _COMPARED:
        common = np.result_type(*(x.dtype for x in operands))
        return _COMPARED[type(op)](*(x.astype(common) for x in operands))
    if type(op) in _AS_GIVEN:
        return _AS_GIVEN[type(op)](*operands)
    raise CannotLower(f"there is no lowering for {op} of numbers")


def cast(x: Any, dtype: str) -> Any:
    """Cast an array; a complex number loses its imaginary part without a warning."""
    if x.dtype == dtype:
        return x
    if np.issubdtype(x.dtype, np.complexfloating) and not dtype.startswith("complex"):
        x = x.real
    return x.astype(dtype)
