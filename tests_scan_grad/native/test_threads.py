"""Loops on several threads: the same numbers as on one, and no race."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.graph.traversal import ancestors
from pytensor.scan.op import Scan

import theano
from tests_scan_grad.native.loops import native_mode, numbers, python_mode, same, scan
from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native import report
from theano.link.native.ir.ir import FIRST_SIZE
from theano.link.native.ir.partitions import Sharing
from theano.link.native.lowering import lowered_loops
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.lowered_loops import loops_of_their_own
from theano.link.native.passes.pipeline import watched_passes
from theano.link.native.render import c_text
from theano.link.native.render.loop import emit_loop
from theano.link.native.runtime import build
from theano.link.native.runtime.header import RUNTIME_FUNCTIONS

STEPS, BATCH, WIDE = 5, 3, 150
# so many rows are shared out in place of columns
MANY_ROWS = 43


@pytest.fixture(autouse=True)
def any_work_and_the_usual_judgement(any_work):
    yield
    runtime_calls.set_oversubscribed(-1)


def gated(x, h, index, w, u):
    r, z = pt.sigmoid(x + pt.dot(h, w)), pt.sigmoid(pt.dot(h, u) - x)
    return z * h + (1 - z) * pt.tanh(x + pt.dot(r * h, w))


def joined_gates(x, h, index, w, u):
    gates = pt.dot(h, pt.concatenate([w, u, w], axis=1))
    size = WIDE
    return pt.sigmoid(gates[:, :size]) * pt.tanh(gates[:, size : 2 * size]) + gates[:, 2 * size :]


def softmax(x, h, index, w, u):
    return pt.special.softmax(pt.dot(h, w) + x, axis=1) + x.sum(axis=0) / (1 + (h**2).sum())


def rows(x, h, index, w, u):
    picked = pt.concatenate([w, u], axis=0)[index]
    return pt.tanh(picked + h) - pt.inc_subtensor(h[index % 3], x)


def parts(x, h, index, w, u):
    moved = pt.concatenate([h[:, 70:], x[:, :70]], axis=1)
    return 0.5 * pt.set_subtensor(moved[:, 10:20], x[:, :10])[:, ::-1] + h


def batch(x, h, index, w, u):
    order = np.arange(WIDE) * 7 % WIDE - 3
    total = pt.cumsum(pt.roll(h, 1, 1) * x, axis=1) + h[:, order]
    return (pt.special.softmax(total[:, ::-1], axis=1) + pt.set_subtensor(h[:, order], x)).astype(
        h.dtype
    )


def states(x, h, index, w, u):
    products = pt.dot(pt.dot(h, h.T), x) + pt.dot(x.T, h)[: h.type.shape[0]]
    return pt.tanh(products / h.type.shape[0] + h.max(axis=0))


STEP_FUNCTIONS = {
    function.__name__: function
    for function in (gated, joined_gates, softmax, rows, parts, batch, states)
}


def loop_of(step, dtype, steps=STEPS, batch=BATCH):
    """The inputs and outputs of a loop of this step, and its gradient where there is one."""
    x = pt.tensor("x", dtype=dtype, shape=(steps, batch, WIDE))
    index = pt.tensor("index", dtype="int64", shape=(steps, batch))
    start = pt.tensor("start", dtype=dtype, shape=(batch, WIDE))
    w, u = (pt.tensor(name, dtype=dtype, shape=(WIDE, WIDE)) for name in "wu")
    (y,) = scan(
        lambda x, index, h, w, u: step(x, h, index, w, u),
        sequences=[x, index],
        outputs_info=[start],
        non_sequences=[w, u],
    )
    inputs = [x, index, start, w, u]
    # the gradient of a join is a Split, which runs by Python
    wrt = [] if step in (joined_gates, rows, parts) else [x, start, w, u]
    wrt = [v for v in wrt if v in ancestors([y])]
    return inputs, [y, *pytensor.grad((y**2).sum(), wrt, disconnected_inputs="ignore")]


def values_of(dtype, steps=STEPS, batch=BATCH):
    scale = WIDE**-0.5
    index = np.random.default_rng(1).integers(-BATCH, BATCH, size=(steps, batch))
    return [
        numbers(steps, batch, WIDE, dtype=dtype),
        index,
        numbers(batch, WIDE, seed=2, dtype=dtype),
        numbers(WIDE, WIDE, seed=3, dtype=dtype) * np.asarray(scale, dtype),
        numbers(WIDE, WIDE, seed=4, dtype=dtype) * np.asarray(scale, dtype),
    ]


@pytest.mark.parametrize("batch", [BATCH, MANY_ROWS])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", STEP_FUNCTIONS)
def test_results_do_not_depend_on_the_number_of_threads(name, dtype, batch):
    inputs, outputs = loop_of(STEP_FUNCTIONS[name], dtype, batch=batch)
    function = pytensor.function(inputs, outputs, mode=native_mode(), on_unused_input="ignore")
    assert not [str(loop) for loop in report(function).loops if loop.reason]
    values = values_of(dtype, batch=batch)
    runtime_calls.set_threads(1)
    expected = function(*values)
    python = pytensor.function(inputs, outputs, mode=python_mode(), on_unused_input="ignore")
    same(expected, python(*values))
    # six threads are three groups of rows, of two threads each, where there are enough
    for threads in (2, 3, 5, 6):
        runtime_calls.set_threads(threads)
        for _ in range(5):
            for ours, alone in zip(function(*values), expected, strict=True):
                np.testing.assert_array_equal(ours, alone)


LONG = 1500


@pytest.mark.parametrize("threads, batch", [(2, BATCH), (3, BATCH), (2, MANY_ROWS)])
@pytest.mark.parametrize("seconds", [3600, 0.002], ids=["to-the-end", "for-a-while"])
@pytest.mark.parametrize("name", STEP_FUNCTIONS)
def test_threads_that_stand_aside_change_nothing(name, seconds, threads, batch):
    steps = LONG * BATCH // batch
    inputs, outputs = loop_of(STEP_FUNCTIONS[name], "float32", steps, batch)
    function = pytensor.function(inputs, outputs, mode=native_mode(), on_unused_input="ignore")
    values = values_of("float32", steps, batch)
    runtime_calls.set_threads(1)
    expected = function(*values)
    runtime_calls.set_threads(threads)
    for _ in range(2):
        runtime_calls.set_oversubscribed(seconds)
        for ours, alone in zip(function(*values), expected, strict=True):
            np.testing.assert_array_equal(ours, alone)


def test_a_loop_that_ends_early_dismisses_the_threads_that_stand_aside():
    x, w = pt.dmatrix("x"), pt.dmatrix("w")
    y = theano.scan(
        lambda h, w: (pt.tanh(pt.dot(h, w)), theano.scan_module.until(h[0, 0] > 2)),
        outputs_info=[x],
        non_sequences=[w],
        n_steps=100,
    )[0]
    function = theano.function([x, w], y, mode="NATIVE")
    values = [numbers(BATCH, WIDE), numbers(WIDE, WIDE, seed=1)]
    runtime_calls.set_threads(1)
    expected = function(*values)
    runtime_calls.set_threads(3)
    runtime_calls.set_oversubscribed(3600)
    np.testing.assert_array_equal(function(*values), expected)
    values[0][0, 0] = 3
    assert len(function(*values)) == 1


@pytest.mark.parametrize("seconds", [3600, 0], ids=["aside", "together"])
def test_all_threads_stop_at_an_index_out_of_range(seconds):
    inputs, outputs = loop_of(rows, "float64")
    function = pytensor.function(inputs, outputs[0], mode=native_mode(), on_unused_input="ignore")
    values = values_of("float64")
    runtime_calls.set_threads(3)
    expected = function(*values)
    values[1][3, 1] = 2 * WIDE
    runtime_calls.set_oversubscribed(seconds)
    with pytest.raises(IndexError, match="out of bounds"):
        function(*values)
    values[1][3, 1] = 0
    assert function(*values).shape == expected.shape


def test_more_threads_than_processors():
    """They wait for one another so long that one of them goes on alone."""
    x, w = pt.dmatrix("x"), pt.dmatrix("w")
    (y,) = scan(
        lambda h, w: pt.tanh(pt.dot(h, w)), outputs_info=[x], non_sequences=[w], n_steps=3000
    )
    function = pytensor.function([x, w], y, mode=native_mode())
    values = [numbers(BATCH, WIDE), numbers(WIDE, WIDE, seed=1) * WIDE**-0.5]
    runtime_calls.set_threads(1)
    alone = function(*values)
    runtime_calls.set_threads(4 * (os.cpu_count() or 1))
    np.testing.assert_array_equal(function(*values), alone)


def loops_of(name, dtype, batch=BATCH):
    """The loops of a function, lowered as the linker does it."""
    inputs, outputs = loop_of(STEP_FUNCTIONS[name], dtype, batch=batch)
    function = pytensor.function(inputs, outputs, mode=native_mode(), on_unused_input="ignore")
    nodes = [node for node in function.maker.fgraph.toposort() if isinstance(node.op, Scan)]
    lower_loop = loops_of_their_own()
    return [lower_loop(node.op, [], f"loop{k}") for k, node in enumerate(nodes)]


def program_of(loop: Loop) -> str:
    """A loop for ``loop_program.c``; all of its sizes are known."""
    sizes = [0] * loop.number_count
    sizes[1] = STEPS
    kinds, counts = [], []
    for argument in loop.arguments:
        assert all(isinstance(size, int) for size in argument.shape)
        row, first = math.prod(argument.shape), argument.first_size
        whole = argument.kind == "invariant"
        rows = 1 if whole or argument.kind == "untraced" else STEPS + argument.history
        sizes[first] = row if argument.kind == "sequence" else rows
        if argument.kind != "trace":
            sizes[first + 1 : first + 1 + len(argument.shape)] = argument.shape
        if whole:
            strides = np.empty(argument.shape, "int8").strides
            sizes[first + 1 + len(strides) : first + 1 + 2 * len(strides)] = strides
        kinds.append(np.dtype(argument.dtype).char)
        counts.append(rows * row)
    lines = emit_loop(loop).lines(loop.step.name)
    preamble = c_text.preamble([loop.step], "\n".join(lines))
    assert sizes[FIRST_SIZE:]
    return "\n".join(
        [
            *preamble,
            *lines,
            f"#define LOOP {loop.step.name}",
            f"enum {{ ARRAYS = {len(counts)} }};",
            f"static const int64_t NUMBERS[] = {{{', '.join(map(str, sizes))}}};",
            f"static const int64_t COUNTS[] = {{{', '.join(map(str, counts))}}};",
            f'static const char KINDS[] = "{"".join(kinds)}";',
            f"#define TABLE {', '.join(f'(void *){name}' for name in RUNTIME_FUNCTIONS)}",
        ]
    )


@pytest.fixture(scope="module", params=["thread", "address,undefined"])
def sanitized(with_sanitizers, request, tmp_path_factory) -> list[str]:
    """The command that makes a program under sanitizers, and the runtime, compiled once."""
    compiler = build.find_compiler()
    if sys.platform != "linux" or compiler is None:
        pytest.skip("the sanitizers' flags are those of compilers on Linux")
    folder = tmp_path_factory.mktemp("sanitized")
    flags = ["-std=gnu11", "-O1", "-g", "-march=native", "-pthread", f"-fsanitize={request.param}"]
    command = [*compiler, *flags, "-fno-sanitize-recover=all", f"-I{build.SOURCES}"]
    trivial, made = folder / "trivial.c", folder / "trivial"
    trivial.write_text("int main(void) { return 0; }\n")
    lacks = subprocess.run([*command, "-o", made, trivial], capture_output=True).returncode
    if lacks or subprocess.run([made], capture_output=True).returncode:
        pytest.skip(f"{compiler} cannot link or run -fsanitize={request.param}")
    sources = build.c_files()
    subprocess.run([*command, "-c", *map(str, sources)], cwd=folder, check=True)
    return [*command, *(str(folder / source.with_suffix(".o").name) for source in sources)]


@pytest.mark.parametrize("batch", [BATCH, MANY_ROWS])
@pytest.mark.parametrize("name", ["gated", "joined_gates", "softmax", "rows", "parts", "states"])
def test_loops_under_sanitizers(tmp_path, name, sanitized, batch):
    program, made = Path(__file__).with_name("loop_program.c"), tmp_path / "program"
    for loop in loops_of(name, "float32", batch):
        (tmp_path / "loop.inc").write_text(program_of(loop))
        parts = [f"-I{tmp_path}", str(program), "-o", str(made), "-lm"]
        subprocess.run([*sanitized, *parts], check=True)
        done = subprocess.run([str(made)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def products_by(rows, columns, inner, threads):
    """Return whether threads share the rows of a product instead of its columns."""
    return runtime_calls.by_rows("float32", rows, columns, inner, 4 * inner * columns, threads)


def test_rows_are_shared_where_each_thread_has_enough():
    assert not products_by(64, 512, 512, 1)
    assert products_by(64, 512, 512, 2)
    # what each reads comes from a cache that all share
    assert not products_by(16, 512, 1024, 2)
    assert not products_by(14, 128, 128, 2)
    assert not products_by(1, 128, 128, 2)


def groups_of(rows, columns, inner, threads):
    """In how many groups threads may share the rows of a product, and those of a group its columns."""
    nbytes = 4 * inner * columns
    return [
        groups
        for groups in range(1, threads)
        if runtime_calls.by_rows("float32", rows, columns, inner, nbytes, threads, groups)
    ]


def test_groups_of_rows_have_rows_enough_and_columns_that_stay_near():
    assert groups_of(32, 512, 512, 16) == [2, 4]
    assert groups_of(64, 512, 512, 6) == [2, 3]
    # the columns of a group's threads do not fit the cache of a core
    assert groups_of(80, 1024, 3000, 16) == []
    assert groups_of(80, 1024, 500, 16) == [2, 4, 8]


def test_a_loop_of_groups_has_the_barriers_of_both():
    inputs, outputs = loop_of(softmax, "float32", batch=MANY_ROWS)
    # an equal loop of another test would be taken as it was lowered
    lowered_loops._lowered.cache_clear()
    found = []
    with watched_passes(lambda one, name: name == "partition_work" and found.append(one.sharing)):
        pytensor.function(inputs, outputs, mode=native_mode(), on_unused_input="ignore")
    shared = [one for one in found if isinstance(one, Sharing) and one.barriers_by_both]
    assert shared
    for one in shared:
        assert one.barriers_by_both >= one.barriers | one.barriers_by_rows


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_that_are_shared_have_the_sums_of_all(family, dtype):
    random = np.random.default_rng(7)
    shared = 0
    for rows in range(16, 60):
        for columns, inner in ((64, 64), (150, 150), (96, 700), (3, 40)):
            a, b = (random.normal(size=s).astype(dtype) for s in ((rows, inner), (inner, columns)))
            packed = runtime_calls.pack(b)
            whole = np.empty((rows, columns), dtype)
            runtime_calls.multiply_packed(a, packed, whole, 0)
            for threads in (2, 3):
                if not runtime_calls.by_rows(dtype, rows, columns, inner, b.nbytes, threads):
                    continue
                shared += 1
                for thread in range(threads):
                    top, bottom = rows * thread // threads, rows * (thread + 1) // threads
                    part = np.empty((bottom - top, columns), dtype)
                    runtime_calls.multiply_packed(a[top:bottom], packed, part, 0)
                    np.testing.assert_array_equal(part, whole[top:bottom])
    assert shared
