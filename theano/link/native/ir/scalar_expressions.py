"""How each scalar operation reads in C: a table from PyTensor's operators to expressions.

An entry is a template in which ``{0}``, ``{1}`` ... are the operands, each already of the type
the entry asks for, ``{f}`` is the suffix of C's mathematical functions, ``{t}`` the C type,
``{u}`` an unsigned type in which whole numbers wrap around, and ``{s}`` and ``{S}`` the suffix
of the runtime's functions and macros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytensor.scalar as ps
import pytensor.scalar.math as scalar_math
from pytensor.scalar import basic
from pytensor.tensor.math import MulWithoutZeros

from theano.data_classes import dataclass
from theano.link.native.ir.ir import CannotLower
from theano.link.native.ir.scalar_types import C_TYPES, FLOATS
from theano.pytensor_base.operations.scalar import Angle, Deg2Rad, GammaL, GammaU, Rad2Deg
from theano.words.values_in_words import operation


@dataclass(frozen=True)
class Expression:
    """An operation on numbers of one type.

    Attributes
    ----------
    name
        What the operation is called in comments.
    template
        The C expression on single numbers.
    vector
        The C expression on vectors, or None where there is none.
    operand_dtype
        The type to which operands are cast, or None for each its own.
    dtype
        The type of the result.
    takes_truth
        Whether the first operand is a truth value, whatever the others are.
    function
        Whether it calls a mathematical function, which takes longer than arithmetic.
    library
        The file beside the prelude that it needs: 'activations', 'special_functions',
        'incomplete_functions', or none.
    """

    name: str
    template: str
    vector: str | None
    operand_dtype: str | None
    dtype: str
    takes_truth: bool = False
    function: bool = False
    library: str = ""


@dataclass(frozen=True)
class _Form:
    """A line of the table: the rule for its types, and the rest as in `Expression`."""

    rule: str
    template: str
    vector: str | None = None
    function: bool = False
    library: str = ""


def _same(template: str, vector: str | None = None) -> _Form:
    return _Form("output", template, vector)


def _function(name: str, vector: bool = False, count: int = 1) -> _Form:
    operands = _operands(count)
    call = f"tn_v_{name}_{{s}}({operands})" if vector else None
    return _Form("float", f"__builtin_{name}{{f}}({operands})", call, True)


def _own(name: str) -> _Form:
    """A function of prelude.inc."""
    return _Form("float", f"tn_{name}_{{s}}({{0}})", None, True)


def _special(name: str, count: int = 1, library: str = "special_functions") -> _Form:
    """A function of special_functions.inc, or of another file of its kind."""
    call = f"tn_{name}_{{s}}({_operands(count)})"
    return _Form("float", call, None, True, library)


def _incomplete(name: str, count: int) -> _Form:
    """A function of incomplete_functions.inc."""
    return _special(name, count, "incomplete_functions")


def _operands(count: int) -> str:
    return ", ".join(f"{{{k}}}" for k in range(count))


# operator -> how it reads
TABLE: dict[type, _Form] = {
    basic.Sub: _Form("arithmetic", "{0} - {1}", "({0} - {1})"),
    basic.Neg: _Form("arithmetic", "-{0}", "(-{0})"),
    basic.Sqr: _Form("arithmetic", "{0} * {0}", "({0} * {0})"),
    basic.TrueDiv: _same("({0} / {1})", "({0} / {1})"),
    basic.Reciprocal: _same("(1 / {0})", "(1 / {0})"),
    basic.Identity: _same("{0}", "{0}"),
    basic.Second: _same("{1}", "{1}"),
    basic.Conj: _same("{0}", "{0}"),
    basic.Real: _same("{0}", "{0}"),
    basic.Imag: _same("(({t})0)"),
    Angle: _Form("float", "__builtin_atan2{f}(0, {0})", None, True),
    basic.Switch: _Form("switch", "({0} ? {1} : {2})", "TN_SELECT_{S}({0}, {1}, {2})"),
    MulWithoutZeros: _same("({0} == 0 ? {1} : {1} == 0 ? {0} : {0} * {1})"),
    basic.Clip: _same(
        "({0} < {1} ? {1} : {0} > {2} ? {2} : {0})",
        "TN_SELECT_{S}({0} < {1}, {1}, TN_SELECT_{S}({0} > {2}, {2}, {0}))",
    ),
    basic.Maximum: _same(
        "({1} > {0} ? {1} : {0} >= {1} ? {0} : {0} + {1})",
        "TN_SELECT_{S}({1} > {0}, {1}, TN_SELECT_{S}({0} >= {1}, {0}, {0} + {1}))",
    ),
    basic.Minimum: _same(
        "({1} < {0} ? {1} : {0} <= {1} ? {0} : {0} + {1})",
        "TN_SELECT_{S}({1} < {0}, {1}, TN_SELECT_{S}({0} <= {1}, {0}, {0} + {1}))",
    ),
    basic.LT: _Form("comparison", "<", None),
    basic.GT: _Form("comparison", ">", None),
    basic.LE: _Form("comparison", "<=", None),
    basic.GE: _Form("comparison", ">=", None),
    basic.EQ: _Form("comparison", "==", None),
    basic.NEQ: _Form("comparison", "!=", None),
    basic.IsNan: _Form("common", "({0} != {0})", "({0} != {0})"),
    basic.IsInf: _Form("common", "({0} - {0} != {0} - {0} && {0} == {0})", None),
    basic.OR: _same("({0} | {1})"),
    basic.AND: _same("({0} & {1})"),
    basic.XOR: _same("({0} ^ {1})"),
    basic.Pow: _Form("power", "", None),
    basic.IntDiv: _Form("floor division", "", None),
    basic.Mod: _Form("remainder", "", None),
    basic.Abs: _Form("magnitude", "", None),
    basic.Sign: _same(
        "(({0} > 0) - ({0} < 0) + ({0} != {0} ? {0} : 0))",
        "TN_SELECT_{S}({0} > 0, TN_SPLAT_{S}(({t})1), "
        "TN_SELECT_{S}({0} < 0, TN_SPLAT_{S}(({t})-1), TN_ABS_{S}({0} * 0)))",
    ),
    basic.Invert: _Form("invert", "", None),
    basic.Ceil: _function("ceil"),
    basic.Floor: _function("floor"),
    basic.Trunc: _function("trunc"),
    basic.RoundHalfToEven: _function("rint"),
    basic.RoundHalfAwayFromZero: _function("round"),
    basic.Exp: _function("exp", vector=True),
    basic.Exp2: _function("exp2"),
    basic.Expm1: _function("expm1", vector=True),
    basic.Log: _function("log", vector=True),
    basic.Log1p: _function("log1p", vector=True),
    basic.Log2: _function("log2"),
    basic.Log10: _function("log10"),
    basic.Sqrt: _Form("float", "__builtin_sqrt{f}({0})", "tn_sqrt_{s}({0})"),
    basic.Tanh: _function("tanh", vector=True),
    basic.Cos: _function("cos"),
    basic.Sin: _function("sin"),
    basic.Tan: _function("tan"),
    basic.ArcCos: _function("acos"),
    basic.ArcSin: _function("asin"),
    basic.ArcTan: _own("atan"),
    basic.Cosh: _function("cosh"),
    basic.Sinh: _function("sinh"),
    basic.ArcCosh: _function("acosh"),
    basic.ArcSinh: _function("asinh"),
    basic.ArcTanh: _function("atanh"),
    basic.ArcTan2: _function("atan2", count=2),
    Deg2Rad: _Form("float", "({0} * ({t})0.017453292519943295)", None),
    Rad2Deg: _Form("float", "({0} * ({t})57.295779513082321)", None),
    scalar_math.Erf: _function("erf"),
    scalar_math.Erfc: _function("erfc"),
    scalar_math.Gamma: _function("tgamma"),
    scalar_math.GammaLn: _special("gammaln"),
    scalar_math.Erfcx: _special("erfcx"),
    scalar_math.Erfinv: _special("erfinv"),
    scalar_math.Erfcinv: _special("erfcinv"),
    scalar_math.Psi: _special("psi"),
    scalar_math.TriGamma: _special("trigamma"),
    scalar_math.GammaInc: _incomplete("gammainc", 2),
    scalar_math.GammaIncC: _incomplete("gammaincc", 2),
    GammaL: _incomplete("gammal", 2),
    GammaU: _incomplete("gammau", 2),
    scalar_math.BetaInc: _incomplete("betainc", 3),
    scalar_math.J0: _function("j0"),
    scalar_math.J1: _function("j1"),
    scalar_math.I0: _special("i0"),
    scalar_math.I1: _special("i1"),
    scalar_math.Ive: _Form("whole order", "tn_ive_{s}({0}, {1})", None, True, "special_functions"),
    scalar_math.Sigmoid: _Form(
        "float", "(1 / (1 + __builtin_exp{f}(-{0})))", "tn_v_sigmoid_{s}({0})", True
    ),
    scalar_math.Softplus: _Form(
        "float", "tn_s_softplus_{s}({0})", "tn_v_softplus_{s}({0})", True, "activations"
    ),
    scalar_math.Log1mexp: _own("log1mexp"),
}

_NARY = {basic.Add: "+", basic.Mul: "*"}


# exponent -> the power on vectors; of what is infinite and negative there is no root
_HALF_POWERS = {
    1.5: "TN_SELECT_{S}({0} == TN_SPLAT_{S}(({t})-__builtin_inf()), TN_ABS_{S}({0}), "
    "{0} * tn_sqrt_{s}({0}))",
    -1.5: "TN_SELECT_{S}({0} == TN_SPLAT_{S}(({t})-__builtin_inf()), TN_SPLAT_{S}(({t})0), "
    "1 / ({0} * tn_sqrt_{s}({0})))",
}


def power_of(expression: Expression, exponent: Any) -> Expression:
    """A power of numbers with a fraction, whose exponent is known, with a form on vectors if it has one."""
    return replace(expression, vector=_HALF_POWERS.get(float(exponent)))


def has_function(kind: type, name: str) -> None:
    """Say that a scalar operation of another package computes a function of special_functions.inc."""
    TABLE[kind] = _special(name)


def expression_of(op: Any, inputs: Sequence[str], output: str) -> Expression:
    """The expression of a scalar operation on operands of these types.

    Raises
    ------
    CannotLower
        When the operation or a type has none.
    """
    for dtype in (*inputs, output):
        if dtype not in C_TYPES:
            raise CannotLower(f"the type {dtype}")
    kind = type(op)
    if kind in _NARY:
        return _joined(op, len(inputs), output)
    if kind is ps.Cast:
        if output == "bool":
            return Expression("cast", "({0} != 0)", None, None, output)
        whole = inputs[0] == output
        return Expression("cast", "(({t}){0})", "{0}" if whole else None, None, output)
    if kind not in TABLE:
        raise CannotLower(f"the scalar operation {operation(op)}")
    form = TABLE[kind]
    expression = _RULES[form.rule](str(op), form.template, form.vector, inputs, output)
    return replace(expression, function=expression.function or form.function, library=form.library)


def _joined(op: Any, count: int, output: str) -> Expression:
    operator = _NARY[type(op)]
    if output == "bool":
        operator = "|" if operator == "+" else "&"
    text = f" {operator} ".join(f"{{{k}}}" for k in range(count))
    return _arithmetic(str(op), text, f"({text})", (), output)


def _arithmetic(name, template, vector, inputs, output):
    """Whole numbers wrap around, which C promises for unsigned types only."""
    if output in FLOATS or output == "bool":
        return Expression(name, f"({template})", vector, output, output)
    for k in range(template.count("{")):
        template = template.replace(f"{{{k}}}", f"({{u}}){{{k}}}")
    return Expression(name, f"(({{t}})({template}))", None, output, output)


def _comparison(name, operator, vector, inputs, output):
    text = f"({{0}} {operator} {{1}})"
    signed = [k for k, dtype in enumerate(inputs) if np.dtype(dtype).kind in "ib"]
    if "uint64" not in inputs or not signed or inputs[signed[0]] == "bool":
        return Expression(name, text, text, str(np.result_type(*inputs)), output)
    # No type holds both: a negative number is less than any of the other's.
    (k,) = signed
    less = operator in (("<", "<=", "!=") if k == 0 else (">", ">=", "!="))
    exact = text.replace(f"{{{k}}}", f"(uint64_t){{{k}}}")
    exact = f"({{{k}}} < 0 || {exact})" if less else f"({{{k}}} >= 0 && {exact})"
    return Expression(name, exact, None, None, output)


def _output(name, template, vector, inputs, output):
    if output == "bool" and name not in ("Identity", "Second"):
        vector = None
    return Expression(name, template, vector, output, output)


def _common(name, template, vector, inputs, output):
    common = str(np.result_type(*inputs))
    return Expression(name, template, vector, common, output)


def _switch(name, template, vector, inputs, output):
    return Expression(name, template, vector, output, output, takes_truth=True)


def _float(name, template, vector, inputs, output):
    if output not in FLOATS:
        # rounding a whole number
        return Expression(name, template, None, "float64", output)
    return Expression(name, template, vector, output, output)


def _whole_order(name, template, vector, inputs, output):
    if inputs[0] in FLOATS:
        raise CannotLower(f"the scalar operation {name} of an order that may be a fraction")
    return _float(name, template, vector, inputs, output)


def _power(name, template, vector, inputs, output):
    if output in FLOATS:
        return Expression(name, "__builtin_pow{f}({0}, {1})", None, output, output, function=True)
    return Expression(name, "(({t})tn_power({0}, {1}))", None, output, output)


def _floor_division(name, template, vector, inputs, output):
    if output in FLOATS:
        return Expression(name, "tn_floor_division_{s}({0}, {1})", None, output, output)
    if output.startswith("u"):
        return Expression(name, "({1} ? {0} / {1} : 0)", None, output, output)
    return Expression(name, "(({t})tn_floor_division({0}, {1}))", None, output, output)


def _remainder(name, template, vector, inputs, output):
    if output in FLOATS:
        return Expression(name, "tn_remainder_{s}({0}, {1})", None, output, output)
    if output.startswith("u"):
        return Expression(name, "({1} ? {0} % {1} : 0)", None, output, output)
    return Expression(name, "(({t})tn_remainder({0}, {1}))", None, output, output)


def _magnitude(name, template, vector, inputs, output):
    if output in FLOATS:
        return Expression(name, "__builtin_fabs{f}({0})", "TN_ABS_{S}({0})", output, output)
    if output == "bool" or output.startswith("u"):
        return Expression(name, "{0}", None, output, output)
    return Expression(name, "(({t})({0} < 0 ? -{0} : {0}))", None, output, output)


def _invert(name, template, vector, inputs, output):
    text = "(!{0})" if output == "bool" else "(({t})~{0})"
    return Expression(name, text, None, output, output)


_RULES = {
    "output": _output,
    "arithmetic": _arithmetic,
    "comparison": _comparison,
    "common": _common,
    "switch": _switch,
    "float": _float,
    "whole order": _whole_order,
    "power": _power,
    "floor division": _floor_division,
    "remainder": _remainder,
    "magnitude": _magnitude,
    "invert": _invert,
}
