"""C by LLVM does what a C compiler makes of it: operators, statements, memory and vectors."""

from __future__ import annotations

import ctypes
import itertools
import math

import numpy as np
import pytest

from tests_scan_grad.native.llvm.compiled import NUMBERS, by_c, by_llvm, function
from theano.link.native.ir.ir import CannotLower
from theano.link.native.llvm.builtins import is_builtin
from theano.link.native.llvm.preprocessor import Preprocessor

TYPES = {
    "int8_t": "signed char",
    "int32_t": "int",
    "int64_t": "int64_t",
    "uint32_t": "unsigned int",
    "uint64_t": "uint64_t",
    "float": "float",
    "double": "double",
}
INTEGERS = ("int8_t", "int32_t", "int64_t", "uint32_t", "uint64_t")
SAMPLES = (0, 1, 2, 3, 7, 100, -1, -2, -7, 2**31 - 1, -(2**31), 2**63 - 1)
ON_ALL = ("a + b", "a - b", "a * b", "a < b", "a <= b", "a == b", "a != b", "a > b", "a >= b")
ON_ALL += ("a && b", "a || b", "!a", "-a", "a ? a : b", "a < b ? b - a : a", "(a, b)")
ON_INTEGERS = (
    "a & b",
    "a | b",
    "a ^ b",
    "~a",
    "b ? a / b : 0",
    "b ? a % b : 0",
    "a >> 3",
    "a << 2",
)


def pairs():
    """Two types, and an expression of them."""
    for first, second in itertools.product(TYPES, repeat=2):
        both = first in INTEGERS and second in INTEGERS
        for text in (*ON_ALL, *(ON_INTEGERS if both else ())):
            yield first, second, text


def in_type(number: int, kind: str):
    """A number of a type, into which it wraps around."""
    return NUMBERS[kind](number).value if kind in INTEGERS else float(np.float32(number))


def test_expressions_of_numbers_are_those_of_c(tmp_path):
    lines, cases = [], []
    for k, (first, second, text) in enumerate(pairs()):
        # unsigned, as overflow of numbers with a sign is not defined
        lines.append(
            f"double f{k}({TYPES[first]} a, {TYPES[second]} b) "
            f"{{ __auto_type r = {text}; return (double)r; }}"
        )
        cases.append((k, first, second, text))
    whole = "\n".join(lines)
    ours, theirs = by_llvm(whole), by_c(whole, tmp_path)
    for k, first, second, text in cases:
        kinds = ctypes.c_double, NUMBERS[first], NUMBERS[second]
        f, g = (function(one, f"f{k}", *kinds) for one in (ours, theirs))
        for a, b in itertools.product(SAMPLES, repeat=2):
            a, b = in_type(a, first), in_type(b, second)
            if _overflows(text, first, second, a, b):
                continue
            assert f(a, b) == g(a, b), (text, first, second, a, b)


def _overflows(text: str, first: str, second: str, a, b) -> bool:
    """Return whether C leaves the result of an expression undefined."""
    kinds = {first, second}
    if not kinds.isdisjoint(("float", "double")):
        return False
    unsigned = kinds & {"uint32_t", "uint64_t"}
    if unsigned and not (kinds <= {"uint32_t", "int64_t"} and "int64_t" in kinds):
        return text == "-a" and first in ("int32_t", "int64_t") and a < -(2**30)
    bits = 63 if "int64_t" in kinds else 31
    exact = {"a + b": a + b, "a - b": a - b, "a * b": a * b, "-a": -a, "a << 2": abs(a) * 4}
    exact |= {"a < b ? b - a : a": b - a}
    exact |= {"b ? a / b : 0": abs(a) if b == -1 else 0, "b ? a % b : 0": abs(a) if b == -1 else 0}
    return not -(2**bits) <= exact.get(text, 0) < 2**bits or (text == "a << 2" and a < 0)


CONVERSIONS = """
double to_float(double x) { return (float)x; }
int64_t to_integer(double x) { return (int64_t)x; }
int64_t to_small(int64_t x) { return (signed char)x; }
int64_t to_short(int64_t x) { return (unsigned short)x; }
uint64_t to_unsigned(int64_t x) { return (unsigned int)x; }
int64_t is_true(double x) { return (_Bool)x; }
"""


@pytest.mark.parametrize(
    "name, given, expected",
    [
        ("to_float", 0.1, float(np.float32(0.1))),
        ("to_integer", -2.7, -2),
        ("to_small", 200, -56),
        ("to_short", -1, 65535),
        ("to_unsigned", -1, 2**32 - 1),
        ("is_true", 0.25, 1),
    ],
)
def test_casts(name, given, expected):
    of_real = isinstance(given, float)
    returns = ctypes.c_double if isinstance(expected, float) else ctypes.c_int64
    kind = ctypes.c_double if of_real else ctypes.c_int64
    assert function(by_llvm(CONVERSIONS), name, returns, kind)(given) == expected


STATEMENTS = """
int64_t loops(int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0, j = 1; i < n; i++, j += 2) {
        if (i == 3) continue;
        if (i > 7) break;
        sum += i * j;
    }
    int64_t k = n;
    while (k > 0) sum += k--;
    do sum *= 2; while (++k < 2);
    return sum;
}
int64_t chosen(int64_t n)
{
    int64_t found = 0;
    switch (n) {
    case 0:
        found = 5;
        break;
    case 1:
    case 2: {
        found = 7;
        break;
    }
    case 3: found = 1;
    default: found += 100;
    }
    return found;
}
int64_t jumps(int64_t n)
{
    int64_t status = 0;
    if (n < 0) { status = -1; goto end; }
    const int64_t twice = 2 * n;
    status = twice;
    if (twice > 10) goto end;
    status++;
end:
    return status;
}
int64_t scopes(int64_t n)
{
    enum { first = 4, second };
    const int64_t x = n;
    {
        const int64_t x = second;
        n += x;
    }
    return ({ int64_t y = x; y += first; y; }) * 100 + n;
}
static int64_t times(int64_t a, int64_t b) { return a * b; }
static int64_t plus(int64_t a, int64_t b) { return a + b; }
int64_t by_pointer(int64_t n)
{
    int64_t (*which)(int64_t, int64_t) = n > 2 ? times : plus;
    return which(n, 10);
}
static const int64_t table[] = {3, 1, 4, 1, 5};
int64_t looked_up(int64_t n)
{
    static const struct { int a; double b; } rows[] = {{1, 0.5}, {2, 1. / 4}, {3}};
    int64_t *at = &n, places[4] = {0, 7};
    *at += table[n] + places[1] + places[3];
    return n + rows[1].a + (int64_t)(8 * rows[1].b) + (int64_t)(sizeof(table) / sizeof *table) + (rows[2].b == 0);
}
typedef struct { int64_t count, sums[3]; struct { double x; signed char y; } inner; } record;
static void add(record *to, int64_t n) { to->count++; to->sums[n % 3] += n; to->inner.y -= 1; }
int64_t in_structures(int64_t n)
{
    record one = {0, {10}, {1.5}}, other;
    for (int k = 0; k < n; k++) add(&one, k);
    other = one;
    return other.count * 1000 + other.sums[0] + other.sums[1] * 10 + other.inner.y + (int64_t)(other.inner.x * 2);
}
uint64_t wraps(uint64_t n) { return n * 0x9e3779b97f4a7c15u ^ n >> 3 ^ ~n; }
int64_t pointers_apart(int64_t n)
{
    double row[8];
    double *const end = row + n;
    double *p = row;
    while (p < end) *p++ = 1;
    return end - row + (p == end) + (int64_t)row[0];
}
"""


def python_of_loops(n):
    total = sum(i * (2 * i + 1) for i in range(min(n, 8)) if i != 3) + n * (n + 1) // 2
    return total * 4


@pytest.mark.parametrize(
    "name",
    "loops chosen jumps scopes by_pointer looked_up in_structures wraps pointers_apart".split(),
)
def test_statements_are_those_of_c(tmp_path, name):
    kinds = (ctypes.c_int64, ctypes.c_int64)
    ours = function(by_llvm(STATEMENTS), name, *kinds)
    theirs = function(by_c(STATEMENTS, tmp_path), name, *kinds)
    assert [ours(n) for n in range(1, 5)] == [theirs(n) for n in range(1, 5)]


def test_loops_in_python_as_well():
    f = function(by_llvm(STATEMENTS), "loops", ctypes.c_int64, ctypes.c_int64)
    assert [f(n) for n in range(1, 12)] == [python_of_loops(n) for n in range(1, 12)]


def test_a_function_of_c_and_one_that_llvm_has():
    library = by_llvm("double f(double x) { return __builtin_expm1(x) + __builtin_floor(x); }")
    f = function(library, "f", ctypes.c_double, ctypes.c_double)
    assert f(1.75) == math.expm1(1.75) + 1


VECTORS = """
void first_of(double *to, const double *from, int64_t n)
{
    tn_f64v x = tn_load_some_f64(from, n);
    x = TN_SELECT_F64(x > 2.0, -x, x * 10.0);
    x[0] += 0.5;
    tn_store_some_f64(to, x, n);
}
double fused(double a, double b, double c)
{
    return TN_FMA_F64(TN_SPLAT_F64(a), b, c)[1];
}
"""


def test_vectors():
    library = by_llvm(VECTORS)
    pointer = ctypes.c_void_p
    f = function(library, "first_of", None, pointer, pointer, ctypes.c_int64)
    given = np.arange(1.0, 9.0)
    for n in (1, 2):
        found = np.zeros(8)
        f(found.ctypes.data, given.ctypes.data, n)
        expected = np.where(given > 2, -given, given * 10)
        expected[0] += 0.5
        expected[n:] = 0
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "text, what",
    [
        ("union both { int a; };  int f(void) { union both x; return 0; }", "union"),
        ("int64_t f(int64_t n) { int64_t row[n]; return row[0]; }", "no constant"),
        ("int64_t f(int64_t n) { return unknown(n); }", "the name unknown"),
        ("double f(double x) { return __builtin_cabs(x); }", "__builtin_cabs"),
    ],
)
def test_c_that_is_not_known_is_refused(text, what):
    with pytest.raises(CannotLower, match=what):
        by_llvm(text)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("#define TWICE(x) ((x) + (x))\nTWICE(TWICE(a))", "((((a)+(a)))+(((a)+(a))))"),
        ("#define JOIN(a, b) a##b\n#define XY 1\nJOIN(X, Y) JOIN(, X)", "1X"),
        ("#define ALL(f, ...) f(__VA_ARGS__)\nALL(g, 1, (2, 3))", "g(1,(2,3))"),
        ("#define A B\n#define B A\nA", "A"),
        ("#define NAME one\n#define one(x) [x]\nNAME(3)", "[3]"),
        ("#if defined A && A > 1\n1\n#elif !defined A\n2\n#else\n3\n#endif", "2"),
        ("#define A 4\n#if 0\n#if A\n1\n#endif\n#elif A / 3 == 1\n2\n#endif", "2"),
        (
            "#define A\n#ifdef A /* a\n comment */\nyes\n#undef A\n#endif\n#ifndef A\nno\n#endif",
            "yesno",
        ),
        ("#if __has_builtin(__builtin_memcpy)\nyes\n#endif // rest", "yes"),
    ],
)
def test_preprocessor(text, expected):
    assert "".join(Preprocessor({}, is_builtin).tokens(text)) == expected
