"""Functions on vectors of each size: how exact they are, odd numbers, and the same bits everywhere."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import mpmath
import numpy as np
import pytensor.tensor as pt
import pytest
from scipy import special

from tests_scan_grad.native.loops import compiled
from tests_scan_grad.native.vector_functions import polynomials
from theano.link.native import source
from theano.link.native.render import c_text
from theano.link.native.runtime.build import find_compiler

REALS = {"float32": ("f32", "float"), "float64": ("f64", "double")}
# name -> of mpmath, of NumPy or SciPy, PyTensor's, and magnitudes between which numbers are drawn
FUNCTIONS = {
    "erf": (mpmath.erf, special.erf, pt.erf, (1e-3, 8)),
    "sin": (mpmath.sin, np.sin, pt.sin, (1e-3, 3e6)),
    "cos": (mpmath.cos, np.cos, pt.cos, (1e-3, 3e6)),
}
# processors' flags, and what tells that this processor has them
TIERS = {
    "portable": (["-DTN_VECTOR_BYTES=16"], ()),
    "avx2": (["-mavx2", "-mfma"], ("avx2", "fma")),
    "avx512": (["-mavx512f", "-mavx512dq", "-mfma"], ("avx512f", "avx512dq")),
}
UNITS = 1.5

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
    files = [c_text.INCLUDED / name for name in (*names, "vectors.inc")]
    folder = c_text.INCLUDED / "functions"
    others = sorted(set(folder.glob("*.inc")) - {folder / "polynomials.inc"})
    texts = [file.read_text() for file in (*files, folder / "polynomials.inc", *others)]
    for suffix, real in REALS.values():
        upper = suffix.upper()
        texts += [
            FUNCTION.format(name=name, suffix=suffix, real=real, upper=upper) for name in FUNCTIONS
        ]
    return "\n".join(texts)


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
    return ctypes.CDLL(str(folder / "library.so"))


def called(library, name, values, alone=False):
    result = np.full_like(values, 7)
    suffix = REALS[values.dtype.name][0]
    function = getattr(library, f"{name}_{suffix}" + ("_alone" if alone else ""))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (values, result)]
    function(*pointers, ctypes.c_int64(len(values)))
    return result


def sampled(name, dtype, count):
    """Numbers of all magnitudes, and for sines the neighbours of multiples of a quarter of pi."""
    random = np.random.default_rng(3)
    low, high = FUNCTIONS[name][3]
    by_magnitude = np.exp(random.uniform(np.log(low), np.log(high), count // 2))
    near = random.normal(size=count // 4) * 2
    quarters = random.integers(1, 30_000, count // 4) * (np.pi / 4)
    if name == "erf":
        quarters = random.uniform(0.9, 1.1, count // 4)
    values = np.concatenate([by_magnitude, near, quarters]).astype(dtype)
    return values * random.choice([-1, 1], len(values)).astype(dtype)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_units_in_the_last_place(library, name, dtype):
    values = sampled(name, dtype, 4000)
    found = called(library, name, values)
    with mpmath.workdps(50):
        exact = [FUNCTIONS[name][0](mpmath.mpf(float(x))) for x in values]
        away = [abs(mpmath.mpf(float(y)) - e) for y, e in zip(found, exact, strict=True)]
        units = np.spacing(np.abs(np.array([float(e) for e in exact])).astype(dtype))
        worst = max(float(a / mpmath.mpf(float(u))) for a, u in zip(away, units, strict=True))
    assert worst <= UNITS


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_odd_numbers(library, name, dtype):
    kind = np.finfo(dtype)
    magnitudes = [
        0,
        kind.smallest_subnormal,
        kind.tiny / 3,
        kind.tiny,
        1e-20,
        np.inf,
        np.nan,
        kind.max,
    ]
    values = np.array([*magnitudes, *(-m for m in magnitudes)], dtype)
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[name][1](values)
    found = called(library, name, values)
    np.testing.assert_array_max_ulp(found, expected, 2 if name != "erf" else 1)
    numbers = ~np.isnan(values)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(
        np.signbit(found)[numbers & ~np.isnan(expected)],
        np.signbit(expected)[numbers & ~np.isnan(expected)],
    )


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_bits_at_any_offset_and_alone(library, name, dtype):
    values = sampled(name, dtype, 400)
    values[::37] = np.nan
    values[::41] = np.finfo(dtype).max
    wanted = called(library, name, values)
    np.testing.assert_array_equal(called(library, name, values, alone=True), wanted)
    for offset in range(1, 35):
        some = called(library, name, values[offset : offset + 101])
        np.testing.assert_array_equal(some, wanted[offset : offset + 101])


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs_call_them(name, dtype):
    build = FUNCTIONS[name][2]
    x, one = pt.vector("x", dtype=dtype), pt.scalar("one", dtype=dtype)
    function, alone = compiled([x], build(x)), compiled([one], build(one))
    suffix = REALS[dtype][0]
    assert f"tn_v_{name}_{suffix}(" in source(function)
    values = sampled(name, dtype, 400)
    found = function(values)
    np.testing.assert_array_equal(found, [alone(value) for value in values])
    np.testing.assert_array_equal(function(values[3:80]), found[3:80])
    np.testing.assert_array_equal(compiled([x], build(x[::-1]))(values), found[::-1])


def test_a_text_has_only_what_it_calls():
    x = pt.fvector("x")
    text = source(compiled([x], pt.exp(x)))
    assert "tn_p_" not in text and "tn_v_erf" not in text
    text = source(compiled([x], pt.erf(x)))
    assert "tn_p_erf_near_f32(" in text
    assert "tn_p_sin" not in text and "_erf_f64" not in text and "erf_near_f64" not in text


def test_the_file_of_polynomials_is_what_the_table_makes():
    assert polynomials.FILE.read_text() == polynomials.text()
