"""Scalar operations: a table from PyTensor's operators to expressions on numbers of one type.

An entry names the operation; how it reads in C, by its name and types, says
`render/scalar_functions.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytensor.scalar as ps
import pytensor.scalar.math as scalar_math
from pytensor.graph.op import Op
from pytensor.scalar import basic
from pytensor.tensor.math import MulWithoutZeros

from theano.link.native.ir.ir import CannotLower
from theano.link.native.ir.scalar_types import DTYPES, FLOATS
from theano.pytensor_internals.operations.scalar import Angle, Deg2Rad, GammaL, GammaU, Rad2Deg
from theano.support.data_classes import dataclass
from theano.support.formatting.values import operation


@dataclass(frozen=True)
class Expression:
    """An operation on numbers of one type.

    Attributes
    ----------
    name
        What the operation is called in comments.
    operation
        What it does: a name of the table below, or of a condition that a lowering checks.
    operand_dtype
        The type to which operands are cast, or None for each its own.
    dtype
        The type of the result.
    in_vectors
        Whether it has a form on vectors.
    takes_boolean
        Whether the first operand is a boolean, whatever the others are.
    function
        Whether it calls a mathematical function, which takes longer than arithmetic.
    library
        The file besides the prelude that it needs, such as 'special_functions', or none.
    """

    name: str
    operation: str
    operand_dtype: str | None
    dtype: str
    in_vectors: bool = False
    takes_boolean: bool = False
    function: bool = False
    library: str = ""


@dataclass(frozen=True)
class _Form:
    """A line of the table: the rule for its types, and the rest as in `Expression`."""

    rule: str
    operation: str
    in_vectors: bool = False
    function: bool = False
    library: str = ""


def _same(operation: str, in_vectors: bool = False) -> _Form:
    return _Form("output", operation, in_vectors)


def _function(name: str, in_vectors: bool = False) -> _Form:
    return _Form("float", name, in_vectors, True)


def _same_alone(name: str) -> _Form:
    """Return a function that gives one number the same bits as vectors."""
    return _Form("float", name, True, True, "activations")


def _special(name: str, library: str = "special_functions") -> _Form:
    """Return a function of special_functions.inc, or of another file of its kind."""
    return _Form("float", name, False, True, library)


def _special_alone(name: str) -> _Form:
    """Return a function on vectors, of which rare numbers go through special_functions.inc."""
    return _Form("float", name, True, True, "special_functions")


def _incomplete(name: str) -> _Form:
    """Return a function of incomplete_functions.inc."""
    return _special(name, "incomplete_functions")


def _inverse(name: str) -> _Form:
    """Return a function of inverses_of_incomplete.inc."""
    return _special(name, "inverses_of_incomplete")


# operator -> what it does
TABLE: dict[type, _Form] = {
    basic.Sub: _Form("arithmetic", "subtract", True),
    basic.Neg: _Form("arithmetic", "negate", True),
    basic.Sqr: _Form("arithmetic", "square", True),
    basic.TrueDiv: _same("divide", True),
    basic.Reciprocal: _same("reciprocal", True),
    basic.Identity: _same("first", True),
    basic.Second: _same("second", True),
    basic.Conj: _same("first", True),
    basic.Real: _same("first", True),
    basic.Imag: _same("zero"),
    Angle: _function("angle"),
    basic.Switch: _Form("switch", "choose", True),
    MulWithoutZeros: _same("multiply without zeros"),
    basic.Clip: _same("clip", True),
    basic.Maximum: _same("maximum", True),
    basic.Minimum: _same("minimum", True),
    basic.LT: _Form("comparison", "<"),
    basic.GT: _Form("comparison", ">"),
    basic.LE: _Form("comparison", "<="),
    basic.GE: _Form("comparison", ">="),
    basic.EQ: _Form("comparison", "=="),
    basic.NEQ: _Form("comparison", "!="),
    basic.IsNan: _Form("common", "is nan", True),
    basic.IsInf: _Form("common", "is infinite", True),
    basic.OR: _Form("bits", "or"),
    basic.AND: _Form("bits", "and"),
    basic.XOR: _Form("bits", "exclusive or"),
    basic.Pow: _Form("power", "power"),
    basic.IntDiv: _Form("division", "floor_division"),
    basic.Mod: _Form("division", "remainder"),
    basic.Abs: _Form("magnitude", "magnitude", True),
    basic.Sign: _same("sign", True),
    basic.Invert: _Form("bits", "invert"),
    basic.Ceil: _function("ceil"),
    basic.Floor: _function("floor"),
    basic.Trunc: _function("trunc"),
    basic.RoundHalfToEven: _function("rint"),
    basic.RoundHalfAwayFromZero: _function("round"),
    basic.Exp: _function("exp", True),
    basic.Exp2: _same_alone("exp2"),
    basic.Expm1: _function("expm1", True),
    basic.Log: _function("log", True),
    basic.Log1p: _function("log1p", True),
    basic.Log2: _same_alone("log2"),
    basic.Log10: _same_alone("log10"),
    basic.Sqrt: _Form("float", "sqrt", True),
    basic.Tanh: _function("tanh", True),
    basic.Cos: _same_alone("cos"),
    basic.Sin: _same_alone("sin"),
    basic.Tan: _same_alone("tan"),
    basic.ArcCos: _same_alone("acos"),
    basic.ArcSin: _same_alone("asin"),
    basic.ArcTan: _same_alone("atan"),
    basic.Cosh: _same_alone("cosh"),
    basic.Sinh: _same_alone("sinh"),
    basic.ArcCosh: _same_alone("acosh"),
    basic.ArcSinh: _same_alone("asinh"),
    basic.ArcTanh: _same_alone("atanh"),
    basic.ArcTan2: _same_alone("atan2"),
    Deg2Rad: _Form("float", "radians"),
    Rad2Deg: _Form("float", "degrees"),
    scalar_math.Erf: _same_alone("erf"),
    scalar_math.Erfc: _same_alone("erfc"),
    scalar_math.Gamma: _same_alone("gamma"),
    scalar_math.GammaLn: _special_alone("gammaln"),
    scalar_math.Erfcx: _same_alone("erfcx"),
    scalar_math.Erfinv: _same_alone("erfinv"),
    scalar_math.Erfcinv: _same_alone("erfcinv"),
    scalar_math.Psi: _special_alone("psi"),
    scalar_math.TriGamma: _special_alone("trigamma"),
    scalar_math.GammaInc: _incomplete("gammainc"),
    scalar_math.GammaIncC: _incomplete("gammaincc"),
    GammaL: _incomplete("gammal"),
    GammaU: _incomplete("gammau"),
    scalar_math.BetaInc: _incomplete("betainc"),
    scalar_math.GammaIncInv: _inverse("gammaincinv"),
    scalar_math.GammaIncCInv: _inverse("gammainccinv"),
    scalar_math.BetaIncInv: _inverse("betaincinv"),
    scalar_math.J0: _function("j0"),
    scalar_math.J1: _function("j1"),
    scalar_math.I0: _same_alone("i0"),
    scalar_math.I1: _same_alone("i1"),
    scalar_math.Ive: _Form("order", "ive", False, True, "bessel_of_any_order"),
    scalar_math.Kve: _special("kve", "bessel_of_any_order"),
    scalar_math.Sigmoid: _function("sigmoid", True),
    scalar_math.Softplus: _same_alone("softplus"),
    scalar_math.Log1mexp: _function("log1mexp", True),
}

_NARY = {basic.Add: "add", basic.Mul: "multiply"}

# powers that have a form on vectors
_HALF_POWERS = (1.5, -1.5)


def remainder_by(expression: Expression, divisor: Any) -> Expression:
    """Return a remainder of floats by a literal: simpler where that is a power of 2, and at least 1."""
    if expression.dtype not in FLOATS or not 1 <= divisor < 2**100 or np.frexp(divisor)[0] != 0.5:
        return expression
    return replace(
        expression, operation="remainder by a power of 2", in_vectors=False, function=False
    )


def power_of(expression: Expression, exponent: Any) -> Expression:
    """Return a power of numbers with a fraction, whose exponent is known, with a form on vectors if it has one."""
    if float(exponent) not in _HALF_POWERS:
        return expression
    return replace(expression, operation=f"power {float(exponent)}", in_vectors=True)


def has_function(kind: type, name: str) -> None:
    """Declare that a scalar operation of another package computes a function of special_functions.inc."""
    TABLE[kind] = _special(name)


def expression_of(op: Op, inputs: Sequence[str], output: str) -> Expression:
    """Return the expression of a scalar operation on operands of these types.

    Raises
    ------
    CannotLower
        When the operation or a type has none.
    """
    for dtype in (*inputs, output):
        if dtype not in DTYPES:
            raise CannotLower(f"the type {dtype}")
    kind = type(op)
    if kind in _NARY:
        return _arithmetic(str(op), _Form("arithmetic", _NARY[kind], True), inputs, output)
    if kind is ps.Cast:
        in_vectors = inputs[0] == output != "bool" or (inputs[0] == "bool" and output in FLOATS)
        return Expression("cast", "cast", None, output, in_vectors)
    if kind not in TABLE:
        raise CannotLower(f"the scalar operation {operation(op)}")
    form = TABLE[kind]
    expression = _RULES[form.rule](str(op), form, inputs, output)
    return replace(expression, function=expression.function or form.function, library=form.library)


def _arithmetic(name: str, form: _Form, inputs: Sequence[str], output: str) -> Expression:
    """Integers wrap around, and have no form on vectors."""
    in_vectors = form.in_vectors and (output in FLOATS or output == "bool")
    return Expression(name, form.operation, output, output, in_vectors)


def _comparison(name: str, form: _Form, inputs: Sequence[str], output: str) -> Expression:
    signed = [k for k, dtype in enumerate(inputs) if np.dtype(dtype).kind in "ib"]
    if "uint64" not in inputs or not signed or inputs[signed[0]] == "bool":
        common = str(np.result_type(*inputs))
        return Expression(name, form.operation, common, output, True)
    # No type holds both: a negative number is less than any of the other's.
    (k,) = signed
    return Expression(name, f"{form.operation}, signed {k}", None, output)


def _output(name: str, form: _Form, inputs: Sequence[str], output: str) -> Expression:
    in_vectors = form.in_vectors and (output != "bool" or name in ("Identity", "Second"))
    return Expression(name, form.operation, output, output, in_vectors)


def _common(name: str, form: _Form, inputs: Sequence[str], output: str) -> Expression:
    common = str(np.result_type(*inputs))
    return Expression(name, form.operation, common, output, form.in_vectors)


def _switch(name: str, form: _Form, inputs: Sequence[str], output: str) -> Expression:
    return Expression(name, form.operation, output, output, form.in_vectors, takes_boolean=True)


def _float(name: str, form: _Form, inputs: Sequence[str], output: str) -> Expression:
    if output not in FLOATS:
        # rounding an integer
        return Expression(name, form.operation, "float64", output)
    return Expression(name, form.operation, output, output, form.in_vectors)


def _order(name: str, form: _Form, inputs: Sequence[str], output: str) -> Expression:
    """Return a Bessel function, of which that of whole orders is another."""
    if inputs[0] in FLOATS:
        form = replace(form, operation=f"{form.operation}_of_any_order")
    return _float(name, form, inputs, output)


def _power(name: str, form: _Form, inputs: Sequence[str], output: str) -> Expression:
    real = output in FLOATS
    return Expression(name, form.operation, output, output, real, function=real)


def _division(name: str, form: _Form, inputs: Sequence[str], output: str) -> Expression:
    """Division of integers, or of floating-point numbers, which has a form on vectors."""
    real = output in FLOATS
    return Expression(name, form.operation, output, output, real, function=real)


def _bits(name: str, form: _Form, inputs: Sequence[str], output: str) -> Expression:
    """Return what is done to bits; booleans on vectors is a mask."""
    return Expression(name, form.operation, output, output, output == "bool")


def _magnitude(name: str, form: _Form, inputs: Sequence[str], output: str) -> Expression:
    return Expression(name, form.operation, output, output, output in FLOATS)


_RULES: dict[str, Callable[[str, _Form, Sequence[str], str], Expression]] = {
    "output": _output,
    "arithmetic": _arithmetic,
    "comparison": _comparison,
    "common": _common,
    "switch": _switch,
    "float": _float,
    "order": _order,
    "power": _power,
    "division": _division,
    "bits": _bits,
    "magnitude": _magnitude,
}
