"""Scalar operations in C, by their names and types.

In a template ``{0}``, ``{1}`` ... are the operands, each already of the type that the expression
asks for, ``{f}`` is the suffix of C's mathematical functions, ``{t}`` the C type, ``{u}`` an unsigned
type in which integers wrap around, and ``{s}`` and ``{S}`` the suffix of the runtime's functions
and macros.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.scalar_types import FLOATS, SUFFIX
from theano.link.native.render.functions_on_vectors import FILES
from theano.link.native.render.numbers_in_c import C_TYPES

# whose operations on integers wrap around, which C promises for unsigned types only
_ARITHMETIC = {"subtract": "{0} - {1}", "negate": "-{0}", "square": "{0} * {0}"}
# of any number of operands: the operator, and that of booleans
_JOINED = {"add": ("+", "|"), "multiply": ("*", "&")}

# functions of C, as GCC and clang know them
_FUNCTIONS_OF_C = frozenset(
    "ceil exp expm1 floor j0 j1 log log1p rint round sqrt tanh trunc".split()
)

_TEMPLATES = {
    "divide": "({0} / {1})",
    "reciprocal": "(1 / {0})",
    "first": "{0}",
    "second": "{1}",
    "zero": "(({t})0)",
    "angle": "__builtin_atan2{f}(0, {0})",
    "choose": "({0} ? {1} : {2})",
    "multiply without zeros": "({0} == 0 ? {1} : {1} == 0 ? {0} : {0} * {1})",
    "clip": "({0} < {1} ? {1} : {0} > {2} ? {2} : {0})",
    "maximum": "({1} > {0} ? {1} : {0} >= {1} ? {0} : {0} + {1})",
    "minimum": "({1} < {0} ? {1} : {0} <= {1} ? {0} : {0} + {1})",
    # of what was accumulated, in which NaN stays, and another number
    "maximum so far": "(({0} != {0} || {0} >= {1}) ? {0} : {1})",
    "minimum so far": "(({0} != {0} || {0} <= {1}) ? {0} : {1})",
    "is nan": "({0} != {0})",
    "is infinite": "({0} - {0} != {0} - {0} && {0} == {0})",
    "or": "({0} | {1})",
    "and": "({0} & {1})",
    "exclusive or": "({0} ^ {1})",
    "invert": "(({t})~{0})",
    "signed": "tn_signed({0})",
    "sign": "(({0} > 0) - ({0} < 0) + ({0} != {0} ? {0} : 0))",
    "log1mexp": "tn_log1mexp_{s}({0})",
    "radians": "({0} * ({t})0.017453292519943295)",
    "degrees": "({0} * ({t})57.295779513082321)",
    "sigmoid": "(1 / (1 + __builtin_exp{f}(-{0})))",
    "softplus": "tn_s_softplus_{s}({0})",
    # conditions that lowerings check, and what they compute of numbers
    "holds": "{0}",
    "is zero": "{0} == 0",
    "is not negative": "{0} >= 0",
    "is below": "{0} < {1}",
    "is at most": "{0} <= {1}",
    "is at least": "{0} >= {1}",
    "along": "{0} + {1} * {2}",
    "in range": "{0} < {1} && {0} >= -{1}",
    "from the front": "{0} < 0 ? {0} + {1} : {0}",
}
# what reads otherwise where the result is an integer without a sign, and with one
_OF_UNSIGNED = {
    "floor_division": "({1} ? {0} / {1} : 0)",
    "remainder": "({1} ? {0} % {1} : 0)",
    "magnitude": "{0}",
}
_OF_WHOLE = {
    "power": "(({t})tn_power({0}, {1}))",
    "floor_division": "(({t})tn_floor_division({0}, {1}))",
    "remainder": "(({t})tn_remainder({0}, {1}))",
    "magnitude": "(({t})({0} < 0 ? -{0} : {0}))",
}
_OF_FLOATS = {
    "power 1.5": "__builtin_pow{f}({0}, {1})",
    "power -1.5": "__builtin_pow{f}({0}, {1})",
    "floor_division": "tn_floor_division_{s}({0}, {1})",
    "remainder": "tn_remainder_{s}({0}, {1})",
    "remainder by a power of 2": "tn_remainder_by_power_{s}({0}, {1})",
    "magnitude": "__builtin_fabs{f}({0})",
}
_OF_TYPES: tuple[tuple[Callable[[str], bool], dict[str, str]], ...] = (
    (lambda dtype: dtype in FLOATS, _OF_FLOATS),
    (lambda dtype: dtype.startswith("u"), _OF_UNSIGNED),
    (lambda dtype: dtype not in FLOATS, _OF_WHOLE),
)
_OF_BOOLEANS = {"invert": "(!{0})", "cast": "({0} != 0)", "magnitude": "{0}"}

# operation -> on vectors, where that is not what it is on numbers; of what is infinite and negative
# there is no root
_ON_VECTORS = {
    "subtract": "({0} - {1})",
    "negate": "(-{0})",
    "square": "({0} * {0})",
    "cast": "{0}",
    "invert": "(~{0})",
    "choose": "TN_SELECT_{S}({0}, {1}, {2})",
    "clip": "TN_SELECT_{S}({0} < {1}, {1}, TN_SELECT_{S}({0} > {2}, {2}, {0}))",
    "maximum": "TN_SELECT_{S}(({1} > {0}) | ({1} != {1}), {1}, {0})",
    "minimum": "TN_SELECT_{S}(({1} < {0}) | ({1} != {1}), {1}, {0})",
    # NaN stays in the first, as comparisons fail then; what waits for the first is one operation and a choice
    "maximum so far": "TN_SELECT_{S}({1} != {1}, {1}, TN_AT_LEAST_{S}({0}, {1}))",
    "minimum so far": "TN_SELECT_{S}({1} != {1}, {1}, TN_AT_MOST_{S}({0}, {1}))",
    "sign": "TN_SELECT_{S}({0} > 0, TN_SPLAT_{S}(({t})1), "
    "TN_SELECT_{S}({0} < 0, TN_SPLAT_{S}(({t})-1), TN_ABS_{S}({0} * 0)))",
    "sqrt": "tn_sqrt_{s}({0})",
    "magnitude": "TN_ABS_{S}({0})",
    "is infinite": "(TN_ABS_{S}({0}) == TN_SPLAT_{S}(({t})__builtin_inf()))",
    # log(1 - exp(x)), by the function that is exact: exp(x) is one half where the one takes over
    "log1mexp": "TN_SELECT_{S}({0} < TN_SPLAT_{S}(({t})-0.6931471805599453), "
    "tn_v_log1p_{s}(-tn_v_exp_{s}({0})), tn_v_log_{s}(-tn_v_expm1_{s}({0})))",
    "divided": "tn_divided_{s}({0}, {1})",
    "power 1.5": "TN_SELECT_{S}({0} == TN_SPLAT_{S}(({t})-__builtin_inf()), TN_ABS_{S}({0}), "
    "{0} * tn_sqrt_{s}({0}))",
    "power -1.5": "TN_SELECT_{S}({0} == TN_SPLAT_{S}(({t})-__builtin_inf()), TN_SPLAT_{S}(({t})0), "
    "1 / ({0} * tn_sqrt_{s}({0})))",
}
# a mask where a number is wanted
_ONE_OR_ZERO = "TN_SELECT_{S}({0}, TN_SPLAT_{S}(({t})1), TN_SPLAT_{S}(({t})0))"
# functions of activations.inc and of the files in functions/
FUNCTIONS_ON_VECTORS = (
    *("exp", "expm1", "log", "log1p", "tanh", "sigmoid", "softplus"),
    *FILES,
)

_COMPARISON = re.compile(r"([<>=!]=?)(?:, signed (\d))?")


def scalar_text(expression: Expression, operands: Sequence[str], dtypes: Sequence[str]) -> str:
    """Return the C expression on numbers of these types."""
    texts = []
    for k, (text, dtype) in enumerate(zip(operands, dtypes, strict=True)):
        wanted = expression.operand_dtype
        if expression.operation in ("in range", "from the front") and dtype == "uint64":
            # unsigned numbers compare with negative ones only as signed ones
            text = f"tn_signed({text})"
        if wanted is None or wanted == dtype or (expression.takes_boolean and k == 0):
            texts.append(text)
        else:
            texts.append(_converted(text, dtype, wanted))
    if expression.operation == "cast" and expression.dtype != "bool":
        return _converted(texts[0], dtypes[0], expression.dtype)
    working = expression.operand_dtype or expression.dtype
    return _template(expression, len(texts)).format(
        *texts,
        f="f" if working == "float32" else "",
        t=C_TYPES[expression.dtype],
        u="uint64_t" if expression.dtype.endswith("64") else "unsigned int",
        s=SUFFIX.get(working, "f64"),
        S=SUFFIX.get(working, "f64").upper(),
    )


def _converted(text: str, dtype: str, wanted: str) -> str:
    """Return the C expression in another type; compilers make vectors of a choice, and not of booleans as a number."""
    if dtype == "bool" and wanted in FLOATS:
        return f"({text} ? ({C_TYPES[wanted]})1 : ({C_TYPES[wanted]})0)"
    return f"(({C_TYPES[wanted]}){text})"


def vector_text(
    expression: Expression, operands: Sequence[str], dtypes: Sequence[str], dtype: str
) -> str:
    """Return the C expression on vectors of a floating-point type, and on masks, which are booleans."""
    assert expression.in_vectors
    if expression.operand_dtype != "bool":
        operands = [
            _ONE_OR_ZERO.format(text, S=SUFFIX[dtype].upper(), t=C_TYPES[dtype])
            if of == "bool" and not (expression.takes_boolean and k == 0)
            else text
            for k, (text, of) in enumerate(zip(operands, dtypes, strict=True))
        ]
    operation, count = expression.operation, len(operands)
    if operation in FUNCTIONS_ON_VECTORS:
        template = f"tn_v_{operation}_{{s}}({_operands(count)})"
    elif operation in _JOINED:
        template = f"({_joined(expression, count)})"
    else:
        template = _ON_VECTORS.get(operation) or _template(expression, count)
    return template.format(
        *operands, s=SUFFIX[dtype], S=SUFFIX[dtype].upper(), f="", t=C_TYPES[dtype]
    )


def _operands(count: int) -> str:
    return ", ".join(f"{{{k}}}" for k in range(count))


def _joined(expression: Expression, count: int) -> str:
    operator, of_booleans = _JOINED[expression.operation]
    operator = of_booleans if expression.dtype == "bool" else operator
    return f" {operator} ".join(f"{{{k}}}" for k in range(count))


def _template(expression: Expression, count: int) -> str:
    """Return the C expression of so many operands."""
    operation, dtype = expression.operation, expression.dtype
    if dtype == "bool" and operation in _OF_BOOLEANS:
        return _OF_BOOLEANS[operation]
    if operation in _ARITHMETIC:
        return _wrapping(_ARITHMETIC[operation], dtype)
    if operation in _JOINED:
        return _wrapping(_joined(expression, count), dtype)
    if operation in _TEMPLATES:
        return _TEMPLATES[operation]
    if compared := _COMPARISON.fullmatch(operation):
        return _comparison(compared[1], compared[2])
    for of_type, templates in _OF_TYPES:
        if operation in templates and of_type(dtype):
            return templates[operation]
    if operation in FILES:
        return f"tn_s_{operation}_{{s}}({_operands(count)})"
    if expression.library:
        # of special_functions.inc, or of another file of its kind
        return f"tn_{operation}_{{s}}({_operands(count)})"
    if operation in _FUNCTIONS_OF_C:
        return f"__builtin_{operation}{{f}}({_operands(count)})"
    raise TypeError(f"nothing writes the scalar operation {operation!r} of {dtype} as C")


def _wrapping(template: str, dtype: str) -> str:
    if dtype in FLOATS or dtype == "bool":
        return f"({template})"
    unsigned = re.sub(r"(\{\d+\})", r"({u})\1", template)
    return f"(({{t}})({unsigned}))"


def _comparison(operator: str, signed: str | None) -> str:
    text = f"({{0}} {operator} {{1}})"
    if signed is None:
        return text
    # a negative number is less than any without a sign
    less = operator in (("<", "<=", "!=") if signed == "0" else (">", ">=", "!="))
    exact = text.replace(f"{{{signed}}}", f"(uint64_t){{{signed}}}")
    return f"({{{signed}}} < 0 || {exact})" if less else f"({{{signed}}} >= 0 && {exact})"


def without_outer_parentheses(text: str) -> str:
    """Return an expression without the parentheses around all of it."""
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return text[1:-1] if position == len(text) - 1 and position else text
    return text
