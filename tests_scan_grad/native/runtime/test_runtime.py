"""The C runtime of the native engine: products, activations, threads."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native.runtime import build, load
from theano.link.native.runtime.header import RUNTIME_FUNCTIONS

ROUNDING = {"float32": 1e-5, "float64": 1e-13}


def matrix(random, rows, columns, dtype, layout):
    """A matrix that is contiguous, transposed, or a view with gaps in both directions."""
    if layout == "gaps":
        return random.normal(size=(2 * rows, 3 * columns)).astype(dtype)[::2, ::3]
    made = random.normal(size=(rows, columns)).astype(dtype)
    return np.asfortranarray(made) if layout == "transposed" else made


def assert_product(result, a, b, c=0, beta=0):
    """`result` is ``beta * c + a @ b`` up to the rounding of a sum of that many terms."""
    a, b = a.astype("float64"), b.astype("float64")
    expected = a @ b
    bound = abs(a) @ abs(b)
    if beta:
        expected = expected + beta * c
        bound = bound + abs(beta * c)
    # Written so that NaN fails.
    assert np.all(abs(result - expected) <= ROUNDING[str(result.dtype)] * bound)


def sizes(width):
    return (0, 1, 2, 5, 12, 13, width - 1, width, width + 1, 2 * width + 3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_all_sizes(family, dtype):
    random = np.random.default_rng(1)
    width = runtime_calls.panel_width(dtype)
    layouts = ("contiguous", "transposed", "gaps")
    for m in (0, 1, 2, 3, 6, 12, 13, 25):
        for n in sizes(width):
            for k in (0, 1, 3, 4, 37, 300):
                a = matrix(random, m, k, dtype, layouts[random.integers(3)])
                b = matrix(random, k, n, dtype, layouts[random.integers(3)])
                beta = (0, 1, -0.5)[random.integers(3)]
                c = random.normal(size=(m, n)).astype(dtype)
                if beta == 0:
                    c[:] = np.nan
                packed_result, result = c.copy(), np.full((m, n), np.nan, dtype)
                runtime_calls.multiply_packed(a, runtime_calls.pack(b), packed_result, beta)
                runtime_calls.multiply(a, b, result)
                assert_product(packed_result, a, b, c, beta)
                assert_product(result, a, b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("m, n, k", [(200, 300, 700), (1, 2000, 900), (2000, 1, 900), (8, 900, 9)])
def test_large_products_on_several_threads(family, threads, dtype, m, n, k):
    random = np.random.default_rng(2)
    for count in (1, 3, 4):
        threads(count)
        for layout_a, layout_b in [
            ("contiguous", "contiguous"),
            ("transposed", "contiguous"),
            ("contiguous", "transposed"),
            ("gaps", "gaps"),
        ]:
            a = matrix(random, m, k, dtype, layout_a)
            b = matrix(random, k, n, dtype, layout_b)
            result = np.full((m, n), np.nan, dtype)
            runtime_calls.multiply(a, b, result)
            assert_product(result, a, b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("m", [1, 2])
def test_few_rows_times_a_matrix_that_begins_anywhere_in_a_line(family, threads, dtype, m):
    random = np.random.default_rng(5)
    room = random.normal(size=(50, 320)).astype(dtype)
    a = random.normal(size=(m, 50)).astype(dtype)
    for first in (0, 1, 4, 7, 15):
        for n in (3, 16, 17, 100, 300):
            results = []
            for count in (1, 2):
                threads(count)
                results.append(np.full((m, n), np.nan, dtype))
                runtime_calls.multiply(a, room[:, first : first + n], results[-1])
            assert_product(results[0], a, room[:, first : first + n])
            np.testing.assert_array_equal(results[1], results[0])


# several blocks of steps, blocks of rows, and groups of panels; rows a power of two apart in memory
IN_BLOCKS = [
    *[(300, 700, 800), (30, 40, 900), (13, 1100, 500), (157, 1024, 512), (400, 33, 400)],
    # more rows than pack panels again, and more columns than a group has, in any family
    (450, 1100, 390),
    # a second matrix that comes from memory
    (60, 750, 2100),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("m, n, k", IN_BLOCKS)
def test_products_in_blocks_have_the_same_bits_on_any_number_of_threads(
    family, threads, dtype, m, n, k
):
    random = np.random.default_rng(4)
    for layout_a in ("contiguous", "transposed"):
        for layout_b in ("contiguous", "transposed"):
            a = matrix(random, m, k, dtype, layout_a)
            b = matrix(random, k, n, dtype, layout_b)
            packed = runtime_calls.pack(b)
            results = []
            for count in (1, 2, 3):
                threads(count)
                results.append(np.full((m, n), np.nan, dtype))
                runtime_calls.multiply(a, b, results[-1])
            assert_product(results[0], a, b)
            for other in results[1:]:
                np.testing.assert_array_equal(other, results[0])
            # as threads share a packed product: each some panels
            whole, shared = np.ones((m, n), dtype), np.ones((m, n), dtype)
            runtime_calls.multiply_packed(a, packed, whole, 0.5)
            panels = -(-n // runtime_calls.panel_width(dtype))
            for part in ((0, 1), (1, panels)):
                runtime_calls.multiply_packed(a, packed, shared, 0.5, panels=part)
            assert_product(whole, a, b, np.ones((m, n), dtype), 0.5)
            np.testing.assert_array_equal(shared, whole)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_c_apart_and_columns_beside_a_panel_untouched(family, dtype):
    random = np.random.default_rng(3)
    width = runtime_calls.panel_width(dtype)
    a = matrix(random, 7, 20, dtype, "contiguous")
    b = matrix(random, 20, 2 * width + 5, dtype, "contiguous")
    room = random.normal(size=(7, 3 * width + 9)).astype(dtype)
    before = room.copy()
    c = room[:, : 2 * width + 5]
    runtime_calls.multiply_packed(a, runtime_calls.pack(b), c, 0, panels=(1, 2))
    inside = slice(width, 2 * width)
    assert_product(c[:, inside], a, b[:, inside], c[:, inside], 0)
    room[:, inside] = before[:, inside]
    np.testing.assert_array_equal(room, before)


def test_infinities_and_nan_of_operands_reach_the_result_of_their_row_only(family):
    a = np.ones((3, 5), "float32")
    a[1, 2] = np.nan
    b = np.ones((5, 4), "float32")
    b[0, 3] = np.inf
    c = np.zeros((3, 4), "float32")
    runtime_calls.multiply_packed(a, runtime_calls.pack(b), c, 0)
    np.testing.assert_array_equal(c, a @ b)


def exact(name, x):
    with np.errstate(all="ignore"):
        x = x.astype(np.longdouble)
        if name == "sigmoid":
            z = np.exp(-abs(x))
            return np.where(x < 0, z, 1) / (1 + z)
        if name == "softplus":
            return np.maximum(x, 0) + np.log1p(np.exp(-abs(x)))
        return getattr(np, name)(x)


def units_wrong(name, x):
    """Largest distance from the exact result, in units in the last place; specials must agree."""
    result, expected = runtime_calls.activation(name, x), exact(name, x)
    with np.errstate(all="ignore"):
        rounded = expected.astype(x.dtype)
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(result[~finite], rounded[~finite])
    np.testing.assert_array_equal(np.signbit(result[finite]), np.signbit(rounded[finite]))
    # Not numpy.spacing, which is infinite for the largest number.
    info = np.finfo(x.dtype)
    exponent = np.maximum(np.frexp(rounded[finite])[1], info.minexp + 1)
    unit = np.ldexp(np.longdouble(1), exponent - 1 - info.nmant)
    return float(np.max(abs(result[finite] - expected[finite]) / unit, initial=0))


def samples(random, dtype, count):
    """Ordinary values, and values of every magnitude: all bit patterns are as likely."""
    bits = {"float32": "uint32", "float64": "uint64"}[dtype]
    patterns = random.integers(0, np.iinfo(bits).max, count // 2, bits, endpoint=True)
    ordinary = random.normal(size=count // 2) * random.choice([0.01, 0.3, 1, 5, 30], count // 2)
    return np.concatenate([patterns.view(dtype), ordinary.astype(dtype)])


@pytest.mark.parametrize("name", runtime_calls.ACTIVATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_activations_within_two_units(family, name, dtype):
    if dtype == "float64" and np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("longdouble is no wider than float64 here")
    random = np.random.default_rng(4)
    assert units_wrong(name, samples(random, dtype, 1_000_000)) < 2


@pytest.mark.parametrize("name", runtime_calls.ACTIVATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_activations_at_the_edges(family, name, dtype):
    info = np.finfo(dtype)
    values = [0, 1, np.inf, info.max, info.tiny, info.smallest_subnormal, info.eps, 0.5, 2**0.5]
    values += [88.7, 88.8, 103.9, 104.1, 709.7, 709.8, 745.1, 745.2, 18.5, 36.8, 9.01, 22.1, 1e4]
    edges = np.array(values, dtype)
    with np.errstate(over="ignore"):
        above = np.nextafter(edges, np.asarray(np.inf, dtype))
    for around in (edges, np.nextafter(edges, 0), above):
        assert units_wrong(name, np.concatenate([around, -around, [np.nan]]).astype(dtype)) < 2


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_activations_of_any_length_and_in_place(family, dtype):
    for count in (0, 1, 3, 15, 16, 17, 65):
        x = np.linspace(-3, 3, count, dtype=dtype)
        np.testing.assert_allclose(runtime_calls.activation("tanh", x), np.tanh(x), rtol=1e-6)
        expected = runtime_calls.activation("tanh", x)
        runtime_calls.activation("tanh", x, in_place=True)
        np.testing.assert_array_equal(x, expected)


def test_every_float32(request):
    """All 2^32 values, on the best family of kernels; with THEANO_TEST_EXHAUSTIVE=1."""
    if os.environ.get("THEANO_TEST_EXHAUSTIVE") != "1":
        pytest.skip("set THEANO_TEST_EXHAUSTIVE=1: it takes long")
    for start in range(0, 2**32, 2**24):
        x = np.arange(start, start + 2**24, dtype="uint32").view("float32")
        for name in runtime_calls.ACTIVATIONS:
            assert units_wrong(name, x) < 2, name


def test_pool_runs_each_thread_once_and_reuses_its_workers(threads):
    threads(3)
    for _ in range(20):
        seen = []
        runtime_calls.run_in_pool(3, lambda thread, of, seen=seen: seen.append((thread, of)))
        assert sorted(seen) == [(0, 3), (1, 3), (2, 3)]
    assert runtime_calls.workers() >= 2


def test_pool_gives_no_more_threads_than_allowed(threads):
    threads(2)
    assert runtime_calls.max_threads() == 2
    seen = []
    runtime_calls.run_in_pool(16, lambda thread, of: seen.append((thread, of)))
    assert sorted(seen) == [(0, 2), (1, 2)]


def test_work_inside_work_runs_on_its_own_thread(threads):
    threads(2)
    seen = []

    def outer(thread, of):
        runtime_calls.run_in_pool(2, lambda inner, count: seen.append((thread, inner, count)))

    runtime_calls.run_in_pool(2, outer)
    assert sorted(seen) == [(0, 0, 1), (1, 0, 1)]


def test_products_from_many_python_threads(threads):
    threads(2)
    random = np.random.default_rng(5)
    a = random.normal(size=(90, 300)).astype("float32")
    b = random.normal(size=(300, 200)).astype("float32")
    expected = a.astype("float64") @ b
    wrong = []

    def multiply():
        for _ in range(30):
            c = np.full((90, 200), np.nan, "float32")
            runtime_calls.multiply(a, b, c)
            if not np.allclose(c, expected, rtol=1e-4, atol=1e-4):
                wrong.append(c)

    callers = [threading.Thread(target=multiply) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_starts_its_own_workers(threads):
    program = """
import os
import numpy as np
from tests_scan_grad.native.runtime import runtime_calls
runtime_calls.set_threads(2)
a = np.ones((200, 200), "float32")
c = np.empty_like(a)
runtime_calls.multiply(a, a, c)
assert runtime_calls.workers() == 1
child = os.fork()
if child == 0:
    none = runtime_calls.workers() == 0
    c[:] = 0
    runtime_calls.multiply(a, a, c)
    os._exit(0 if none and runtime_calls.workers() == 1 and (c == 200).all() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
runtime_calls.multiply(a, a, c)
assert (c == 200).all()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def test_number_of_threads_comes_from_the_environment():
    program = "from tests_scan_grad.native.runtime import runtime_calls; print(runtime_calls.max_threads())"
    for text, expected in (("3", 3), ("1", 1)):
        environment = {**os.environ, "OMP_NUM_THREADS": text}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True
        )
        assert int(done.stdout) == expected


def test_denormals_are_flushed_between_begin_and_end_only():
    library = load.library()
    tiny = np.array([1e-40], "float32")
    saved = library.tn_flush_denormals_begin()
    inner = library.tn_flush_denormals_begin()
    try:
        flushed = runtime_calls.activation("tanh", tiny)[0]
        library.tn_flush_denormals_end(inner)
        still_flushed = runtime_calls.activation("tanh", tiny)[0]
    finally:
        library.tn_flush_denormals_end(saved)
    assert flushed == still_flushed == 0
    assert runtime_calls.activation("tanh", tiny)[0] == tiny[0]


def test_every_function_that_generated_c_calls_has_an_address_and_is_told_of():
    header = (build.SOURCES / "runtime.h").read_text()
    for name in RUNTIME_FUNCTIONS:
        assert load.symbol(name) != 0
        precise = name.removesuffix("_f32").removesuffix("_f64")
        assert re.search(rf"\b{precise}\b", header), f"runtime.h does not say what {precise} does"
    assert len(set(RUNTIME_FUNCTIONS)) == len(RUNTIME_FUNCTIONS) > 70
    # one name for each F(type, name, arguments), twice those of both precisions
    both, others = (build.SOURCES / "shared.inc").read_text().split("#define TN_FUNCTIONS(F)")
    assert len(RUNTIME_FUNCTIONS) == 2 * both.count("\n    F(") + others.count("\n    F(")
    with pytest.raises(AttributeError):
        load.symbol("tn_no_such_function")


@pytest.mark.skipif(sys.platform != "linux", reason="the sanitizers' flags are those of Linux")
@pytest.mark.parametrize(
    "sanitizers, arguments, linked",
    [
        ("address,undefined", [], []),
        ("thread", ["without-fork"], []),
        pytest.param(
            "address,undefined", [], ["-Wl,--wrap=aligned_alloc"], id="without memory for products"
        ),
    ],
)
def test_program_under_sanitizers(with_sanitizers, tmp_path, sanitizers, arguments, linked):
    compiler = build.find_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    flags = ["-std=gnu11", "-O1", "-g", "-pthread", f"-fsanitize={sanitizers}"]
    trivial = tmp_path / "trivial.c"
    trivial.write_text("int main(void) { return 0; }\n")
    made = tmp_path / "program"
    command = [*compiler, *flags, "-fno-sanitize-recover=all", "-o", str(made)]
    lacks = subprocess.run([*command, str(trivial)], capture_output=True).returncode
    if lacks or subprocess.run([str(made)], capture_output=True).returncode:
        pytest.skip(f"{compiler} cannot link or run -fsanitize={sanitizers}")
    program = Path(__file__).with_name("runtime_program.c")
    sources = [str(path) for path in build.c_files()]
    command += [f"-I{build.SOURCES}", *linked, str(program), *sources, "-lm"]
    subprocess.run(command, check=True)
    done = subprocess.run([str(made), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
