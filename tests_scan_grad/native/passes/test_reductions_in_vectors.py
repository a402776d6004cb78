"""Reductions and quotients in vectors of each size: the numbers of one order of steps, to the bit."""

import ctypes
import subprocess
from itertools import product

import numpy as np
import pytest

from theano.link.native.render import c_text
from theano.link.native.runtime.build import find_compiler

LANES = {"float32": 32, "float64": 16}
COMBINED = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
FIRST = {"add": 0, "multiply": 1, "maximum": -np.inf, "minimum": np.inf}
REALS = {"f32": ("float", "float32"), "f64": ("double", "float64")}

FUNCTION = """
void {name}_{suffix}(const {real} *row, int64_t count, {real} *result)
{{
    tn_{suffix}v lanes[TN_LANES_{suffix} / (TN_VECTOR_BYTES / sizeof(*row))];
    tn_{name}_begin_{suffix}(lanes);
    int64_t half = count / 2 / TN_LANES_{suffix} * TN_LANES_{suffix};
    tn_{name}_row_{suffix}(lanes, row, 0, half);
    tn_{name}_row_{suffix}(lanes, row, half, count);
    *result = tn_{name}_end_{suffix}(lanes);
}}
"""

WIDENING = """
void {name}_wide(const float *row, int64_t count, double *result)
{{
    tn_f64v lanes[TN_LANES_f32 / TN_WIDTH_F64];
    tn_{name}_begin_f32_in_f64(lanes);
    int64_t half = count / 2 / TN_LANES_f32 * TN_LANES_f32;
    tn_{name}_row_f32_in_f64(lanes, row, 0, half);
    tn_{name}_row_f32_in_f64(lanes, row, half, count);
    *result = tn_{name}_end_f32_in_f64(lanes);
}}
"""

DIVISION = """
void divide_{suffix}(const {real} *x, {real} by, {real} *result)
{{
    const tn_divisor_{suffix} divisor = tn_divisor_of_{suffix}(by);
    tn_store_{suffix}(result, tn_divided_{suffix}(tn_load_{suffix}(x), divisor));
}}
"""


@pytest.fixture(scope="module", params=[16, 32, 64, "native"])
def library(request, tmp_path_factory):
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    names = [
        "../../runtime/shared.inc",
        "prelude.inc",
        "../../runtime/kernels/activations.inc",
        "vectors.inc",
    ]
    texts = [(c_text.INCLUDED / name).read_text() for name in names]
    texts += [
        FUNCTION.format(name=name, suffix=suffix, real=REALS[suffix][0])
        for name, suffix in product(COMBINED, REALS)
    ]
    texts.append("int vector_bytes(void) { return TN_VECTOR_BYTES; }")
    texts += [WIDENING.format(name=name) for name in ("add", "multiply")]
    texts += [DIVISION.format(suffix=suffix, real=REALS[suffix][0]) for suffix in REALS]
    folder = tmp_path_factory.mktemp("reductions")
    source, made = folder / "text.c", folder / "library.so"
    source.write_text("\n".join(texts))
    flags = [
        "-std=gnu11",
        "-O2",
        "-fPIC",
        "-shared",
        "-Wno-psabi",
        # vectors of this many bytes, or those that engine and processor have
        "-march=native" if request.param == "native" else f"-DTN_VECTOR_BYTES={request.param}",
    ]
    subprocess.run([*compiler, *flags, str(source), "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


def in_lanes(name, row, many=None):
    """Results side by side, then one half with the other."""
    many = many or LANES[str(row.dtype)]
    lanes = np.full(many, FIRST[name], row.dtype)
    for start in range(0, len(row), many):
        block = row[start : start + many]
        lanes[: len(block)] = COMBINED[name](lanes[: len(block)], block)
    while len(lanes) > 1:
        lanes = COMBINED[name](*np.split(lanes, 2))
    return lanes[0]


@pytest.mark.parametrize("suffix", REALS)
@pytest.mark.parametrize("name", COMBINED)
def test_of_any_length(library, name, suffix):
    random = np.random.default_rng(0)
    for count in range(100):
        ordinary = random.normal(size=count).astype(REALS[suffix][1])
        odd = random.choice([np.nan, np.inf, -np.inf], size=count)
        for row in (ordinary, np.where(random.random(count) < 0.02, odd, ordinary)):
            row = row.astype(ordinary.dtype)
            result = np.zeros((), row.dtype)
            pointers = (ctypes.c_void_p(a.ctypes.data) for a in (row, result))
            library[f"{name}_{suffix}"](next(pointers), ctypes.c_int64(count), next(pointers))
            with np.errstate(all="ignore"):
                np.testing.assert_array_equal(result, in_lanes(name, row))


@pytest.mark.parametrize("name", ["add", "multiply"])
def test_floats_in_double_precision(library, name):
    random = np.random.default_rng(1)
    for count in range(70):
        row = random.normal(size=count).astype("float32")
        result = np.zeros(())
        pointers = (ctypes.c_void_p(a.ctypes.data) for a in (row, result))
        library[f"{name}_wide"](next(pointers), ctypes.c_int64(count), next(pointers))
        np.testing.assert_array_equal(
            result, in_lanes(name, row.astype("float64"), LANES["float32"])
        )


@pytest.mark.parametrize("suffix", REALS)
def test_quotients_are_right_to_the_last_bit(library, suffix):
    dtype = np.dtype(REALS[suffix][1])
    real = ctypes.c_float if suffix == "f32" else ctypes.c_double
    random, width = np.random.default_rng(2), library.vector_bytes() // dtype.itemsize
    bits = np.uint32 if suffix == "f32" else np.uint64
    limits = np.iinfo(bits)
    odd = [0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny / 4, np.finfo(dtype).max, 1.0]
    for trial in range(3000):
        # any bits at all, or numbers of usual size
        x, by = random.integers(0, limits.max, (2, width), bits, endpoint=True).view(dtype)
        if trial % 3:
            x, by = random.normal(size=(2, width)).astype(dtype) * dtype.type(10.0 ** (trial % 7))
        if trial % 11 == 0:
            x[random.integers(width)] = odd[random.integers(len(odd))]
        if trial % 13 == 0:
            by[0] = odd[random.integers(len(odd))]
        if trial % 17 == 0:
            # the significand of the divisor has nothing but ones
            by[0] = np.nextafter(dtype.type(2), dtype.type(1))
        result = np.empty_like(x)
        pointer = ctypes.c_void_p
        library[f"divide_{suffix}"](
            pointer(x.ctypes.data), real(by[0]), pointer(result.ctypes.data)
        )
        with np.errstate(all="ignore"):
            expected = x / by[0]
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(
            np.signbit(result)[expected == 0], np.signbit(expected[expected == 0])
        )
