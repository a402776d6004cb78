"""Functions on vectors of each size: how exact they are, odd numbers, and the same bits everywhere."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import mpmath
import numpy as np
import pytensor.tensor as pt
import pytest
from scipy import special

from tests_scan_grad.native.loops import compiled
from tests_scan_grad.native.vector_functions import polynomials
from tests_scan_grad.native.vector_functions.table import erfcinv_of_small
from theano.link.native import source
from theano.link.native.render import c_text
from theano.link.native.render.functions_on_vectors import called_functions
from theano.link.native.runtime.build import find_compiler
from theano.support.data_classes import dataclass

REALS = {"float32": ("f32", "float"), "float64": ("f64", "double")}


@dataclass(frozen=True)
class Function:
    """A function on vectors, and what its tests need.

    Attributes
    ----------
    exact, known, build
        The function of mpmath, of NumPy or SciPy, and PyTensor's.
    magnitudes
        Between which numbers are drawn, evenly by their logarithms.
    of_singles
        The largest magnitude of float32.
    units
        The largest error in units in the last place, where multiplications and additions are fused.
    signed
        Whether numbers of both signs are drawn.
    """

    exact: Callable
    known: Callable
    build: Callable
    magnitudes: tuple[float, float]
    of_singles: float = np.inf
    units: float = 1.5
    signed: bool = True


def known_erfinv(x):
    return np.copysign(special.erfinv(x), x)


def known_erfcinv(q):
    """SciPy's, but finite of the least denormal, and +0 of 1."""
    return (
        np.where((q > 0) & (q < 1e-320), 27.213293210812949, special.erfcinv(q)).astype(q.dtype) + 0
    )


def known_i1(x):
    return np.where(x == 0, x, special.i1(x))


def gammaln(x):
    """SciPy's, but finite of denormals."""
    return np.where(np.abs(x) < 1e-300, -np.log(np.abs(x)), special.gammaln(x)).astype(x.dtype)


def erfcinv(q):
    return erfcinv_of_small(q) if q < 0.5 else mpmath.erfinv(1 - q)


def logistic(x):
    return 1 / (1 + mpmath.exp(-x))


FUNCTIONS = {
    "exp": Function(mpmath.exp, np.exp, pt.exp, (1e-9, 708), 87),
    "log": Function(mpmath.log, np.log, pt.log, (1e-300, 1e300), 1e38, signed=False),
    "tanh": Function(mpmath.tanh, np.tanh, pt.tanh, (1e-9, 20), 9.1),
    "sigmoid": Function(logistic, special.expit, pt.sigmoid, (1e-9, 708), 87),
    "erf": Function(mpmath.erf, special.erf, pt.erf, (1e-3, 8)),
    "erfc": Function(mpmath.erfc, special.erfc, pt.erfc, (1e-3, 26.5), 9.1, 2),
    "sin": Function(mpmath.sin, np.sin, pt.sin, (1e-3, 3e6)),
    "cos": Function(mpmath.cos, np.cos, pt.cos, (1e-3, 3e6)),
    "tan": Function(mpmath.tan, np.tan, pt.tan, (1e-3, 3e6)),
    "asin": Function(mpmath.asin, np.arcsin, pt.arcsin, (1e-9, 1)),
    "acos": Function(mpmath.acos, np.arccos, pt.arccos, (1e-9, 1)),
    "atan": Function(mpmath.atan, np.arctan, pt.arctan, (1e-9, 1e9)),
    "exp2": Function(lambda x: mpmath.power(2, x), np.exp2, pt.exp2, (1e-9, 1021), 125),
    "log2": Function(lambda x: mpmath.log(x, 2), np.log2, pt.log2, (1e-300, 1e300), 1e38, signed=False),
    "log10": Function(mpmath.log10, np.log10, pt.log10, (1e-300, 1e300), 1e38, signed=False),
    "sinh": Function(mpmath.sinh, np.sinh, pt.sinh, (1e-9, 710), 89),
    "cosh": Function(mpmath.cosh, np.cosh, pt.cosh, (1e-9, 710), 89),
    "asinh": Function(mpmath.asinh, np.arcsinh, pt.arcsinh, (1e-9, 1.7e308), 3e38),
    "acosh": Function(mpmath.acosh, np.arccosh, pt.arccosh, (1, 1.7e308), 3e38, signed=False),
    "atanh": Function(mpmath.atanh, np.arctanh, pt.arctanh, (1e-9, 1)),
    "erfcx": Function(lambda x: mpmath.exp(x * x) * mpmath.erfc(x), special.erfcx, pt.erfcx, (1e-300, 26), 9, 2),
    "erfinv": Function(mpmath.erfinv, known_erfinv, pt.erfinv, (1e-9, 0.9999)),
    "erfcinv": Function(erfcinv, known_erfcinv, pt.erfcinv, (1e-300, 2), 1.999, signed=False),
    "i0": Function(lambda x: mpmath.besseli(0, x), special.i0, pt.i0, (1e-9, 713), 90, 3),
    "i1": Function(lambda x: mpmath.besseli(1, x), known_i1, pt.i1, (1e-9, 713), 90, 3),
    "gamma": Function(mpmath.gamma, special.gamma, pt.gamma, (1e-300, 171), 35, 2.5, signed=False),
    "gammaln": Function(mpmath.loggamma, gammaln, pt.gammaln, (1e-300, 1e300), 1e37, 2.5, signed=False),
    "psi": Function(mpmath.digamma, special.psi, pt.psi, (1e-300, 1e300), 1e37, 2.5, signed=False),
    "trigamma": Function(lambda x: mpmath.psi(1, x), lambda x: special.polygamma(1, x).astype(x.dtype), pt.tri_gamma, (1e-150, 1e150), 1e18, 3,
                         signed=False),
}  # fmt: skip
# where SciPy's are
WRONG_BESIDE_1 = ("erfcinv", "gammaln", "psi")
ANGLES = ("sin", "cos", "tan")
# functions whose single numbers a program leaves to the C library, which is sooner done with one
ALONE_BY_C = ("exp", "log", "tanh", "sigmoid")
# processors' flags, and what tells that this processor has them
TIERS = {
    "portable": (["-DTN_VECTOR_BYTES=16"], ()),
    "avx2": (["-mavx2", "-mfma"], ("avx2", "fma")),
    "avx512": (["-mavx512f", "-mavx512dq", "-mfma"], ("avx512f", "avx512dq")),
}
# more where a multiplication and an addition are rounded twice
MORE_UNITS = {"portable": 1.0}

FUNCTION = """
void {name}_{suffix}(const {real} *x, {real} *y, int64_t count)
{{
    int64_t i = 0;
    for (; i + TN_WIDTH_{upper} <= count; i += TN_WIDTH_{upper})
        tn_store_{suffix}(y + i, tn_v_{name}_{suffix}(tn_load_{suffix}(x + i)));
    if (i < count) {{
        const tn_{suffix}v rest = tn_load_some_{suffix}(x + i, count - i);
        tn_store_some_{suffix}(y + i, tn_v_{name}_{suffix}(rest), count - i);
    }}
}}
void {name}_{suffix}_alone(const {real} *x, {real} *y, int64_t count)
{{
    for (int64_t i = 0; i < count; i++) y[i] = tn_s_{name}_{suffix}(x[i]);
}}
"""


def text_of_all() -> str:
    names = ["../../runtime/shared.inc", "prelude.inc", "../../runtime/kernels/activations.inc"]
    names += ["vectors.inc", "special_functions.inc"]
    files = [c_text.INCLUDED / name for name in names]
    calls = [
        FUNCTION.format(name=name, suffix=suffix, real=real, upper=suffix.upper())
        for suffix, real in REALS.values()
        for name in FUNCTIONS
    ]
    texts = [file.read_text() for file in files]
    return "\n".join([*texts, *called_functions("\n".join(calls)), *calls])


@pytest.fixture(scope="module", params=TIERS)
def library(request, tmp_path_factory):
    """All functions, for a tier of processors."""
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    flags, needed = TIERS[request.param]
    about = Path("/proc/cpuinfo")
    if needed and not (about.exists() and set(needed) <= set(about.read_text().split())):
        pytest.skip("the processor has no such vectors")
    folder = tmp_path_factory.mktemp("functions")
    (folder / "text.c").write_text(text_of_all())
    common = ["-std=gnu11", "-O2", "-fPIC", "-shared", "-Wno-psabi", "-ffp-contract=off"]
    paths = [str(folder / "text.c"), "-lm", "-o", str(folder / "library.so")]
    subprocess.run([*compiler, *common, *flags, *paths], check=True)
    library = ctypes.CDLL(str(folder / "library.so"))
    library.tier = request.param
    return library


def called(library, name, values, alone=False):
    result = np.full_like(values, 7)
    suffix = REALS[values.dtype.name][0]
    function = getattr(library, f"{name}_{suffix}" + ("_alone" if alone else ""))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (values, result)]
    function(*pointers, ctypes.c_int64(len(values)))
    return result


def sampled(name, dtype, count):
    """Numbers of all magnitudes, and neighbours of multiples of a quarter of pi or of a half."""
    random, function = np.random.default_rng(3), FUNCTIONS[name]
    low, high = function.magnitudes
    if dtype == "float32":
        low, high = max(low, 1e-37), min(high, function.of_singles)
    by_magnitude = np.exp(random.uniform(np.log(low), np.log(high), count // 2))
    near = random.uniform(low, min(high, 3), count // 4)
    halves = random.integers(1, 4, count // 4) / 2 * random.normal(1, 1e-3, count // 4)
    if name in ANGLES:
        halves = random.integers(1, 30_000, count // 4) * (np.pi / 4)
    values = np.concatenate([by_magnitude, near, np.clip(halves, low, high)]).astype(dtype)
    return values * random.choice([-1, 1] if function.signed else [1], len(values)).astype(dtype)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_units_in_the_last_place(library, name, dtype):
    values = sampled(name, dtype, 4000)
    found = called(library, name, values)
    with mpmath.workdps(50):
        exact = [FUNCTIONS[name].exact(mpmath.mpf(float(x))) for x in values]
        worst = max(units_away(found, exact, dtype))
    assert worst <= FUNCTIONS[name].units + MORE_UNITS.get(library.tier, 0)


def units_away(found, exact, dtype):
    """Yield how far results are from the exact ones, in units in the last place."""
    with np.errstate(over="ignore"):
        units = np.spacing(np.abs(np.array([float(e) for e in exact])).astype(dtype))
    for y, e, unit in zip(found, exact, units, strict=True):
        if np.isfinite(unit):
            yield float(abs(mpmath.mpf(float(y)) - e) / mpmath.mpf(float(unit)))


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_odd_numbers(library, name, dtype):
    kind = np.finfo(dtype)
    least = [kind.smallest_subnormal, kind.tiny / 3, kind.tiny, 1e-20]
    beside_1 = [np.nextafter(np.array(1, dtype), np.array(side, dtype)) for side in (0, 2)]
    if name in WRONG_BESIDE_1:
        beside_1 = []
    magnitudes = [0.0, *least, 0.5, *beside_1, 1, 2, 1e30, kind.max, np.inf, np.nan]
    values = np.array([*magnitudes, *(-m for m in magnitudes)], dtype)
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[name].known(values)
    found = called(library, name, values)
    # SciPy's are off by a unit or two themselves
    np.testing.assert_array_max_ulp(found, expected, 2 if FUNCTIONS[name].units <= 2 else 4)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), ~numbers)
    np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_bits_at_any_offset_and_alone(library, name, dtype):
    values = sampled(name, dtype, 400)
    values[::37] = np.nan
    values[::41] = np.finfo(dtype).max
    # where some functions have another formula, and their neighbours then do not
    values[1::43], values[2::43] = 3.99, 7.75
    wanted = called(library, name, values)
    np.testing.assert_array_equal(called(library, name, values, alone=True), wanted)
    for offset in range(1, 35):
        some = called(library, name, values[offset : offset + 101])
        np.testing.assert_array_equal(some, wanted[offset : offset + 101])


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs_call_them(name, dtype):
    build = FUNCTIONS[name].build
    x, one = pt.vector("x", dtype=dtype), pt.scalar("one", dtype=dtype)
    function, alone = compiled([x], build(x)), compiled([one], build(one))
    suffix = REALS[dtype][0]
    assert f"tn_v_{name}_{suffix}(" in source(function)
    values = sampled(name, dtype, 400)
    found = function(values)
    if name not in ALONE_BY_C:
        np.testing.assert_array_equal(found, [alone(value) for value in values])
    np.testing.assert_array_equal(function(values[3:80]), found[3:80])
    np.testing.assert_array_equal(compiled([x], build(x[::-1]))(values), found[::-1])


def test_a_text_has_only_what_it_calls():
    x = pt.fvector("x")
    text = source(compiled([x], pt.exp(x)))
    assert "tn_p_" not in text and "tn_v_erf" not in text
    text = source(compiled([x], pt.erf(x)))
    assert "tn_p_erf_pieces_f32" in text
    assert "tn_p_sin" not in text and "_erf_f64" not in text and "erf_near_f64" not in text


def test_the_file_of_polynomials_is_what_the_table_makes():
    assert polynomials.FILE.read_text() == polynomials.text()
