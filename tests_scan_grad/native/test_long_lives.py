"""Functions over thousands of calls, in forked processes, without a compiler, with bad caches."""

import gc
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import ROOT, printed_by
from tests_scan_grad.native.gated_network import cost_of, gradient, values_of
from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native import report
from theano.link.native.build import libraries as build
from theano.link.native.build import objects
from theano.link.native.runtime import load
from theano.rewriting.disk.sealed_files import is_sealed
from theano.support import garbage_collection

PRINT_SUMS = """
from tests_scan_grad.native.gated_network import gradient, values_of
print(*[repr(float(abs(g).sum())) for g in gradient()(*values_of(6, 3, 4))])
"""


def test_ten_thousand_training_steps_do_not_grow_memory():
    if not Path("/proc/self/statm").exists():
        pytest.skip("the memory of a process is read where Linux has it")
    x = T.tensor3("x")
    x_value, *weight_values = values_of(5, 4, 8)
    weights = [theano.shared(value) for value in weight_values]
    cost = cost_of(x, *weights)
    updates = [(p, p - 0.01 * g) for p, g in zip(weights, T.grad(cost, weights), strict=True)]
    step = theano.function([x], cost, updates=updates, mode="NATIVE")
    assert not report(step).calls
    first = step(x_value)
    for _ in range(1000):
        step(x_value)
    before = resident_bytes()
    for _ in range(10_000):
        last = step(x_value)
    assert resident_bytes() - before < 500_000
    assert 0 < last < first


USES = {
    "gradient": lambda x, cost, w: theano.grad(cost, w),
    "tangent": lambda x, cost, w: T.Rop(cost, w, w),
    "native function": lambda x, cost, w: theano.function([x], cost, mode="NATIVE"),
    "checked function": lambda x, cost, w: theano.function([x], cost, mode="DebugMode"),
    "interpreted function": lambda x, cost, w: theano.function([x], cost, mode="FAST_COMPILE"),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_loop_that_is_used_again_holds_no_more(use):
    x, cost, w = a_loop()
    with theano.config.change_flags(cache_optimizations=False):
        assert_nothing_is_added(lambda: use(x, cost, w))


def test_a_function_that_is_copied_again_holds_no_more():
    x, cost, w = a_loop()
    f = theano.function([x], [cost, theano.grad(cost, w)], mode="NATIVE")
    assert_nothing_is_added(f.copy)


def test_a_program_leaves_the_process_with_its_function():
    if not Path("/proc/self/maps").exists():
        pytest.skip("what a process has loaded is read where Linux has it")
    gc.disable()
    try:
        before = programs_here()
        f = function_that_learns(0.25)
        f([1.0, 2.0, 3.0])
        assert len(programs_here() - before) == 1
        del f
        assert programs_here() <= before
    finally:
        gc.enable()


def a_loop():
    x, w = T.dvector("x"), theano.shared(np.ones(4))
    h, _ = theano.scan(lambda x_t, h, w: T.tanh(h * w * 3 + x_t), x, T.zeros((4,)), w)
    return x, h[-1].sum(), w


def assert_nothing_is_added(use):
    """Compare what the tags of all nodes that there are list, before and after some uses."""
    for _ in range(2):
        use()
    before = entries_in_tags()
    for _ in range(5):
        use()
    assert entries_in_tags() <= before


def entries_in_tags():
    gc.collect()
    # by type: isinstance asks what a weak proxy of another test stands for, which may be gone
    nodes = [thing for thing in gc.get_objects() if issubclass(type(thing), theano.gof.Apply)]
    lists = {id(v): v for node in nodes for v in vars(node.tag).values() if isinstance(v, list)}
    return sum(map(len, lists.values()))


@pytest.mark.timeout(0)
def test_calls_and_compilations_do_not_grow_memory(request):
    if not Path("/proc/self/statm").exists():
        pytest.skip("the memory of a process is read where Linux has it")
    compilations = request.config.getoption("--compilations")
    environment = {"THEANO_FLAGS": f"base_compiledir={theano.config.base_compiledir}"}
    code = f"from {__name__} import live; live({compilations})"
    before, after, libraries = map(
        int, printed_by(code, timeout=600 + 2 * compilations, **environment)
    )
    # pytest shows it with -rP
    print(f"{before / 1e6:.1f} MB before {compilations} compilations, {after / 1e6:.1f} after")
    # before them: what is kept once for all compilations, PyTensor's equal constants for instance,
    # and the room for the garbage that there may be between two collections
    assert after - before < (min(0.01 * before, 50e6) if compilations >= 500 else 10e6)
    assert libraries < 3


def live(compilations, calls=20_000):
    """Compile functions and call them; print the memory before and after, and the libraries left.

    Nobody has the functions afterwards, and nothing here collects the garbage that they leave.
    A collection comes every 19 functions, and gives some memory back to the system, more or less
    of it: the memory is the most that there was over 20 functions.
    """
    theano.config.cache_optimizations = False
    if compilations >= 500:
        # where the collections fall among the functions is settled after about a hundred
        warming_up = 120
    else:
        # some collections among the few functions, too: the garbage of each is 2 MB
        warming_up, garbage_collection.GARBAGE_TO_OTHERS = compilations, 0.2
    memory = []
    # all from one line: steps of another line would be others, and fill the tables of known steps
    for k in range(warming_up + compilations):
        f = function_that_learns(k)
        for _ in range(200 if k < warming_up else calls // compilations):
            f([1.0, 2.0, 3.0])
        memory.append(resident_bytes())
    print(max(memory[:warming_up][-20:]))
    print(max(memory[-20:]))
    print(len(programs_here()))


def programs_here():
    """The libraries of functions that this process has loaded."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    return {line.split()[-1] for line in maps if "/program-" in line}


def function_that_learns(k):
    """A function with a loop, its gradient and an update, unlike that of any other number."""
    x, w = T.dvector("x"), theano.shared(np.ones(4))
    h, _ = theano.scan(lambda x_t, h, w: T.tanh(h * w * (1 + k % 7) + x_t), x, T.zeros((4,)), w)
    cost = (h[-1] * float(k)).sum()
    return theano.function([x], cost, updates=[(w, w - 0.1 * T.grad(cost, w))], mode="NATIVE")


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_and_its_parent_answer_right():
    runtime_calls.set_threads(2)
    # two threads even where other programs leave no processor free
    runtime_calls.set_least_work(0)
    try:
        f, values = gradient(mode="NATIVE"), values_of(8, 64, 128)
        expected = f(*values)

        def right_with_workers():
            return agree(f(*values), expected) and threads_here() >= 2

        assert right_with_workers()
        assert exit_code_of_child(right_with_workers) == 0
        assert right_with_workers()
        assert exit_code_of_child(lambda: exit_code_of_child(right_with_workers) == 0) == 0
    finally:
        runtime_calls.set_least_work(-1)
        runtime_calls.set_threads(0)


def threads_here():
    """The threads of this process; where it does not say, as many as there should be."""
    return len(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else 2


def agree(results, expected):
    return all(np.allclose(r, e, rtol=1e-12) for r, e in zip(results, expected, strict=True))


def exit_code_of_child(answers_right):
    """0 if the child answers right, 1 if not; that of a signal if it hangs or crashes."""
    child = os.fork()
    if not child:
        signal.alarm(60)
        os._exit(0 if answers_right() else 1)
    return os.waitpid(child, 0)[1]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    for module in (build, objects):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "native")
    return tmp_path / "native"


def test_a_damaged_entry_of_a_function_is_built_again(cache):
    values = values_of(6, 3, 4)
    expected = gradient(mode="NATIVE")(*values)
    contents = {entry: entry.read_bytes() for entry in cache.iterdir()}
    assert {entry.suffix for entry in contents} == {".so", ".o"}
    for damage in (
        lambda whole: b"",
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:100] + bytes([whole[100] ^ 1]) + whole[101:],
    ):
        for entry, whole in contents.items():
            entry.unlink()
            entry.write_bytes(damage(whole))
        assert agree(gradient(mode="NATIVE")(*values), expected)
        assert all(map(is_sealed, contents)) and {*cache.iterdir()} == {*contents}


def test_a_cache_that_cannot_be_written_still_compiles(cache):
    cache.write_text("a file, not a folder")
    values = values_of(6, 3, 4)
    expected = gradient(mode=theano.Mode("py", "fast_compile"))(*values)
    f = gradient(mode="NATIVE")
    assert report(f).segments
    assert agree(f(*values), expected)


def test_two_processes_compile_the_same_function_at_once(tmp_path):
    cache = tmp_path / "native"
    cache.mkdir()
    runtime = Path(load.library()._name)
    if runtime.exists():
        shutil.copy(runtime, cache)
    environment = os.environ | {
        "PYTENSOR_FLAGS": f"base_compiledir={tmp_path}",
        "THEANO_FLAGS": "mode=NATIVE",
        "THEANORC": os.devnull,
    }
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PRINT_SUMS],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=300) for process in processes]
    expected = [abs(g).sum() for g in gradient(mode="NATIVE")(*values_of(6, 3, 4))]
    for printed, errors in answers:
        np.testing.assert_allclose([float(v) for v in printed.split()], expected, err_msg=errors)
    entries = [*cache.glob("program-*.so"), *cache.glob("loop_*.o")]
    assert (
        entries and all(map(is_sealed, entries)) and all(path.is_file() for path in cache.iterdir())
    )


def test_without_a_compiler_numpy_computes_the_gradient():
    code = f"""
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    {PRINT_SUMS.strip().replace(chr(10), "; ")}
    gradient()
print(sum("No C compiler" in str(w.message) for w in seen))
"""
    flags = "cxx=,native.compiler=cc"
    computed, warned = printed_by(code, THEANO_FLAGS=flags, CC="no-such-compiler")
    expected = [abs(g).sum() for g in gradient(mode="NATIVE")(*values_of(6, 3, 4))]
    np.testing.assert_allclose([float(v) for v in computed.split()], expected, rtol=1e-9)
    assert warned == "1"
