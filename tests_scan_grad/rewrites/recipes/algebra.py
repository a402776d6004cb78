"""Sums, products, quotients and powers."""

import numpy as np
import pytensor.tensor as pt

from tests_scan_grad.rewrites.making import ANY, COMPLEX, FLOATS, INTEGERS, REAL, Maker, recipe

FAMILY = "algebra"
MIXED = ("float64", "float32", "float16", "int64", "int8", "uint8", "bool", "complex64")


def number(m: Maker, *more):
    """A constant that rewrites look for."""
    return m.one_of(0, 1, -1, 2, 0.0, 1.0, -1.0, 0.5, np.int8(2), np.float32(1.5), *more)


def operand(m: Maker, variables):
    """One of some variables, or a constant."""
    return m.one_of(*variables) if m.chance(0.75) else number(m)


@recipe(FAMILY, "local_add_canonizer", "local_sub_neg_to_add", "local_add_remove_zeros")
def sums_and_differences(m: Maker):
    x = m.array(2, MIXED)
    variables = [x, m.same(x, MIXED), m.beside(x, MIXED)]
    result = operand(m, variables)
    for _ in range(m.one_of(2, 3, 4)):
        term = operand(m, variables)
        signed = m.one_of(pt.add, pt.add, pt.sub) if _is_signed(result, term) else pt.add
        result = signed(result, term) if m.chance() else signed(term, result)
    return [result, x]


def _is_signed(*terms):
    return not all(getattr(getattr(t, "type", None), "dtype", "int8") == "bool" for t in terms)


@recipe(FAMILY, "local_mul_canonizer", "local_mul_zero", "local_mul_specialize")
def products_and_quotients(m: Maker):
    x = m.array(2, MIXED)
    variables = [x, m.same(x, MIXED), m.beside(x, MIXED)]
    result = operand(m, variables)
    for _ in range(m.one_of(1, 2, 3)):
        factor = operand(m, variables)
        combine = m.one_of(pt.mul, pt.mul, pt.true_div)
        result = combine(result, factor) if m.chance() else combine(factor, result)
    return result


@recipe(FAMILY, "local_mul_canonizer", "local_greedy_distributor", "local_div_by_one")
def products_of_sums(m: Maker):
    x = m.array(2, ("float64", "float32", "int64", "int8"))
    y, z = m.same(x, REAL), m.beside(x, REAL)
    return m.one_of(
        lambda: x * (y + z) / x,
        lambda: (x * y + x * z) / x,
        lambda: (x * 2 + y * 2) / 2,
        lambda: x * (y / x + z),
        lambda: (x + y) / number(m),
        lambda: 0.3 * (x / 0.3 + y),
        lambda: pt.reciprocal(x) * (x * y + 1),
        lambda: (x - y / z) * z,
    )()


@recipe(FAMILY, "local_mul_canonizer")
def large_and_small_factors(m: Maker):
    dtype = m.one_of("float32", "float64")
    big = 1e30 if dtype == "float32" else 1e200

    def among(s):
        return m.rng.choice([big, 1 / big, 1.5, -2.0], s)

    x, y, z = (m.array((3,), dtype, among=among) for _ in range(3))
    c = np.array(m.one_of(big, 1 / big, 2), dtype)
    return m.one_of(
        lambda: (x / y) / z, lambda: x / (y / z), lambda: (x * c) / (y * c), lambda: x * c / (y / c)
    )()


@recipe(FAMILY, "local_add_canonizer", "local_neg_to_mul", "useless_Neg_of_Neg")
def negations(m: Maker):
    x = m.array(2, ("float64", "float16", "int64", "int8", "uint8", "complex64"))
    y = m.beside(x, MIXED)
    return m.one_of(
        lambda: pt.neg(-x),
        lambda: -(x * y),
        lambda: x - (-y) if y.type.dtype != "bool" else -x,
        lambda: -(x + y) + x,
        lambda: (-x) * (-y) if y.type.dtype != "bool" else -x,
        lambda: -(2 * x),
        lambda: pt.neg(-x - x),
    )()


@recipe(FAMILY, "local_neg_div_neg", "local_div_to_reciprocal", "local_reciprocal_canon")
def quotients_with_negations(m: Maker):
    x = m.array(2, ("float64", "float32", "int8"))
    y = m.beside(x, ("float64", "float32", "int8"))
    return m.one_of(
        lambda: -x / y,
        lambda: -x / -y,
        lambda: 1 / x,
        lambda: -1 / x,
        lambda: 1.0 / (1.0 / x),
        lambda: pt.reciprocal(x) / y,
        lambda: (-x / 2) / y,
        lambda: x / -3,
    )()


@recipe(FAMILY, "local_add_neg_to_sub", "local_elemwise_sub_zeros", "local_sub_neg_to_add")
def differences(m: Maker):
    x = m.array(2, ("float64", "float32", "float16", "int64", "int8", "uint8"))
    y = m.beside(x, ("float64", "int64", "uint8", "int8"))
    return m.one_of(
        lambda: x + (-y),
        lambda: (-x) + y,
        lambda: x - x,
        lambda: x - y - x,
        lambda: x + pt.constant(-1.0),
        lambda: x - (-1),
        lambda: x + np.int8(-3),
        lambda: (x + y) - x,
        lambda: x + (-2) * y,
        lambda: x + y * -1,
    )()


@recipe(FAMILY, "local_zero_div", "local_div_by_one")
def quotients_with_constants(m: Maker):
    x = m.array(2, REAL)
    one = m.one_of(
        1, 1.0, np.ones((1, 1)), np.ones((3, 1), "int8") if m.values[x].shape[0] == 3 else 1
    )
    return m.one_of(
        lambda: 0 / x,
        lambda: 0 // x,
        lambda: x / one,
        lambda: x // one,
        lambda: 0.0 / x,
        lambda: pt.int_div(x, 2),
        lambda: x // 1,
        lambda: (x * 2) // 2,
    )()


@recipe(FAMILY, "local_pow_canonicalize", "local_pow_specialize", "local_pow_to_nested_squaring")
def powers_with_constants(m: Maker):
    x = m.array(2, ("float64", "float32", "float16", "int64", "int8", "uint8", "complex128"))
    exponents = [0, 1, 2, -1, 0.5, -0.5, -2, 3, 4, 7, 16, -3, 2.0, np.ones((1, 1)), 1.0]
    if np.dtype(x.type.dtype).kind in "iu":
        exponents = [0, 1, 2, 3, 5, 0.5, 2.0, -1.0, np.int8(2), np.ones((1, 1))]
    power = x ** m.one_of(*exponents)
    return m.one_of(power, power * x, power * (x**2) if x.type.dtype[0] == "f" else power)


@recipe(FAMILY, "local_mul_pow_to_pow_add", "local_pow_canonicalize")
def products_of_powers(m: Maker):
    x = m.array(2, ("float64", "float32", "int8"))
    y, a, b = m.beside(x), m.scalar(), m.scalar()
    return m.one_of(
        lambda: x**a * x**b,
        lambda: x**2 * x**a,
        lambda: x**y * x**a / x**b,
        lambda: x**0.5 * x**0.5,
        lambda: pt.pow(2, x) * pt.pow(2, y),
        lambda: x**a * y**a,
    )()


@recipe(FAMILY, "local_mul_to_sqr", "local_mul_specialize")
def repeated_factors(m: Maker):
    x = m.array(2, ("float64", "float16", "int8", "uint8", "bool", "complex64"))
    return m.one_of(lambda: x * x, lambda: x * x * x, lambda: -1 * x * 2, lambda: x * -1.0)()


@recipe(FAMILY, "local_mul_specialize", "local_mul_zero")
def products_with_minus_one_and_zero(m: Maker):
    x = m.array(2, REAL)
    y = m.beside(x, REAL)
    c = m.one_of(-1, 1, 0, -1.0, np.int8(-1), np.uint8(1), np.zeros((1, 1)), -np.ones((1, 1)))
    return [pt.mul(x, y, c), pt.mul(c, x)]


@recipe(FAMILY, "local_abs_lift", "local_abs_merge")
def absolute_values(m: Maker):
    x = m.array(2, ("float64", "float32", "int8", "int64"))
    y, z = m.beside(x), m.beside(x)
    return m.one_of(
        lambda: abs(x * y),
        lambda: abs(x / y),
        lambda: abs(x) * abs(y),
        lambda: abs(x) / abs(y),
        lambda: abs(x) * z * abs(y),
        lambda: abs(x) / (abs(y) * z),
        lambda: abs(-2 * x),
    )()


@recipe(FAMILY, "local_sign_div", "local_sqrt_sqr")
def signs_and_roots(m: Maker):
    x = m.array(2, ("float64", "float32", "int64", "int8", "complex64"))
    return m.one_of(
        lambda: x / abs(x),
        lambda: abs(x) / x,
        lambda: pt.sqrt(x**2),
        lambda: pt.sqr(pt.sqrt(x)),
        lambda: pt.sqrt(pt.sqr(x)) * x,
        lambda: pt.sign(x) * abs(x),
    )()


@recipe(
    FAMILY,
    "flatten_nested_add_mul",
    "constant_fold_branches_of_add_mul",
    "few_operands",
    "few_fused_operands",
)
def nested_sums_and_products(m: Maker):
    x = m.array(2, MIXED)
    y, z = m.beside(x, MIXED), m.same(x, MIXED)
    many = [m.one_of(x, y, z) * (k + 1) for k in range(m.one_of(3, 3, 34))]
    combine = m.one_of(pt.add, pt.mul)
    return combine(combine(x, y, 2), combine(z, 3), *(many if combine is pt.add else many[:2]))


@recipe(
    FAMILY,
    "local_upcast_elemwise_constant_inputs",
    "local_cast_cast",
    "local_useless_elemwise",
    "cast_by_numpy",
)
def casts(m: Maker):
    x = m.array(2, ("float64", "float32", "float16", "int64", "int16", "int8", "uint8", "bool"))
    first, second = (m.dtype((*FLOATS, *INTEGERS, "bool", *COMPLEX)) for _ in range(2))
    if first in COMPLEX:
        first = "float64"
    return m.one_of(
        lambda: pt.cast(pt.cast(x, first), second),
        lambda: pt.cast(x, x.type.dtype),
        lambda: pt.cast(pt.cast(x, first), x.type.dtype),
        lambda: pt.cast(x, first) + x,
        lambda: pt.add(x, pt.cast(2, "int8")),
        lambda: pt.add(pt.cast(x, first), pt.constant(1.5)),
    )()


@recipe(FAMILY, "constant_folding", "local_upcast_elemwise_constant_inputs")
def work_on_constants(m: Maker):
    x = m.array(1, REAL)
    c = m.constant(x)
    return [pt.exp(c) + x, pt.add(x, pt.cast(1, m.dtype(REAL)), c), c.sum() * x, c[:1], pt.sqrt(2)]


@recipe(FAMILY, "local_useless_conj", "useless_Conj_of_Conj")
def conjugates(m: Maker):
    x = m.array(2, ANY)
    z = m.array(2, COMPLEX)
    return [pt.conj(x), pt.conj(pt.conj(z)), z * pt.conj(z)]


@recipe(
    FAMILY,
    "useless_Reciprocal_of_Reciprocal",
    "local_reciprocal_canon",
    "local_sum_of_neg_to_neg_of_sum",
)
def reciprocals(m: Maker):
    x = m.array(2, ("float64", "float32", "int8"))
    return [pt.reciprocal(pt.reciprocal(x)), pt.reciprocal(x), pt.sum(-x), pt.reciprocal(x * 2)]
