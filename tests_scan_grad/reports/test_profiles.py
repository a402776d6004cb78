"""Profiles as they are printed: functions, loops, memory, and all of a process at its end."""

import io
import itertools
import re

import numpy as np
import pytest
import scipy.sparse

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import run_python
from theano.compile.profile_summary.memory import Memory
from theano.compile.profiling import ProfileStats, print_profiles, sum_of

SIZE, STEPS, CALLS = 32, 5, 3
BYTES = 8 * SIZE**2


def recurrent(**options):
    """A loop of `STEPS` products, and a product after it."""
    x, w = T.dmatrix("x"), theano.shared(0.1 * np.ones((SIZE, SIZE)), name="w")
    states, _ = theano.scan(
        lambda h, w: T.tanh(T.dot(h, w)),
        outputs_info=x,
        non_sequences=w,
        n_steps=STEPS,
        name="rnn",
    )
    options.setdefault("profile", ProfileStats(atexit_print=False, message="of this test"))
    f = theano.function([x], T.exp(T.dot(states[-1], w)), **options)
    for _ in range(CALLS):
        f(np.ones((SIZE, SIZE)))
    return f


def printed(profile, **flags):
    file = io.StringIO()
    with theano.config.change_flags(flags):
        profile.summary(file)
    return file.getvalue()


@pytest.fixture
def with_memory():
    with theano.change_flags(profile_memory=True):
        yield recurrent()


def section(text, title):
    """The lines of a table, which an empty line ends."""
    _, _, after = text.partition(f"\n{title}\n")
    assert after, f"no {title!r} in\n{text}"
    return after.split("\n\n")[0].split("\n")


MODES = {"native": "FAST_RUN", "C": theano.Mode("pytensor_cvm")}


@pytest.mark.parametrize("kind", MODES)
def test_the_tables_of_theano_are_printed(kind):
    f = recurrent(mode=MODES[kind])
    text = printed(f.profile)
    assert text.startswith("Function profiling\n==================\n  Message: of this test\n")
    assert f"  Time in {CALLS} calls to Function.__call__: " in text
    whole = sum(f.profile.apply_time.values())
    for title, column in (("Class", "Class name"), ("Ops", "Op name")):
        _, header, *rows, rest = section(text, title)
        assert header.startswith("<% time> <sum %> <apply time>") and header.endswith(f"<{column}>")
        assert rest.startswith("   ... (remaining 0 ")
        shares = [float(row.split("%")[0]) for row in rows]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) == pytest.approx(100, abs=0.1 * len(rows))
        seconds = [float(row.split()[2].removesuffix("s")) for row in rows]
        assert sum(seconds) == pytest.approx(whole, abs=1e-3 * len(rows))
        assert sum(int(row.split()[6]) for row in rows) == len(f.maker.fgraph.apply_nodes)
    _, header, *rows, _ = section(text, "Apply")
    assert len(rows) == len(f.maker.fgraph.apply_nodes)
    places = sorted(int(row.split()[5]) for row in rows)
    assert places == list(range(len(rows)))


@pytest.mark.parametrize("kind", MODES)
def test_no_text_speaks_of_pytensor_or_of_libraries_without_effect(kind):
    with theano.change_flags(profile_memory=True, profile=True):
        text = printed(recurrent(mode=MODES[kind]).profile).lower()
    for word in (
        "pytensor flag",
        "amdlibm",
        "pytensor.function",
        "pytensor.grad",
        "pytensor import",
    ):
        assert word not in text
    assert "try the theano flag floatx=float32" in text


def test_the_overhead_of_a_native_loop_is_printed():
    f = recurrent()
    text = printed(f.profile)
    header, row, total = section(text, "Scan overhead:")
    assert header.startswith("<Scan op time(s)> <sub scan fct time(s)> <sub scan op time(s)> ")
    whole, steps, operations = (float(word.removesuffix("s")) for word in row.split()[:3])
    assert 0 < operations <= steps <= whole and "Scan{rnn" in row
    assert total.startswith("total ") and total.split()[1:6] == row.split()[:5]
    (loop,) = theano.link.native.profile(f).loops
    assert whole == pytest.approx(loop.seconds, rel=0.01)


def test_the_step_of_a_native_loop_has_a_profile_of_its_own(with_memory):
    text = printed(with_memory.profile, profile_memory=True)
    _, _, of_loop = text.partition("\nScan Op profiling ( rnn )\n")
    total = STEPS * CALLS
    assert f"  Time in {CALLS} calls of the op (for a total of {total} steps) " in of_loop
    assert "Total overhead (computing slices..) " in of_loop
    _, _, *rows, _ = section(of_loop, "Ops")
    assert sorted((row.split()[7], int(row.split()[5])) for row in rows) == [
        ("Dot", total),
        ("Tanh", total),
    ]
    assert f"output 0: dtype=float64, shape=({SIZE}, {SIZE})" in of_loop
    assert f"{BYTES}B  [({SIZE}, {SIZE})] c Dot(" in of_loop


def test_a_loop_that_pytensor_runs_is_profiled_where_the_flag_is_set():
    with theano.change_flags(profile=True):
        text = printed(recurrent(mode=MODES["C"]).profile)
    row = section(text, "Scan overhead:")[1]
    whole, steps, operations = (float(word.removesuffix("s")) for word in row.split()[:3])
    assert 0 < operations <= steps <= whole
    text = printed(recurrent(mode=MODES["C"]).profile)
    assert "is not profiled: set the flag profile=True" in section(text, "Scan overhead:")[1]


def test_memory_is_told_by_node(with_memory):
    text = printed(with_memory.profile, profile_memory=True)
    shapes = with_memory.profile.variable_shape
    for node in with_memory.maker.fgraph.apply_nodes:
        for variable in [*node.inputs, *node.outputs]:
            assert len(shapes[variable]) == getattr(variable.type, "ndim", 0)
    (result,) = with_memory.maker.fgraph.outputs
    assert shapes[result] == (SIZE, SIZE)
    assert f"{BYTES}B  [({SIZE}, {SIZE})] i {result.owner}" in text
    before, _, after = text.partition("Max peak memory with current setting\n")
    assert before and after.startswith("        CPU: ")


def test_what_is_fused_is_marked():
    x = T.dvector("x")
    with theano.change_flags(profile_memory=True):
        f = theano.function([x], T.exp(T.tanh(x) * 3), profile=ProfileStats(False))
        f(np.ones(1000))
    text = printed(f.profile, profile_memory=True)
    assert "8000B  [(1000,)] f Tanh(x)" in text
    assert "8000B  [(1000,)] f Exp(" not in text


@pytest.mark.parametrize(
    ("build", "peaks", "least"),
    [
        (lambda x: T.exp(T.cumsum(x)), ("8KB", "16KB", "8KB"), "8KB"),
        (lambda x: T.cumsum(T.cumsum(T.cumsum(x))), ("16KB", "16KB", "24KB"), "16KB"),
        (lambda x: T.cumsum(T.cumsum(x)[::2])[:3], ("12KB", "12KB", "12KB"), "12KB"),
    ],
)
def test_peaks_with_and_without_collection_and_operations_in_place(build, peaks, least):
    x = T.dvector("x")
    with theano.change_flags(profile_memory=True, **{"profiling.min_peak_memory": True}):
        f = theano.function([x], build(x), profile=ProfileStats(False))
        f(np.ones(1024))
        text = printed(f.profile, profile_memory=True)
    found = tuple(
        text.partition(f"Max peak memory {what}\n")[2].split()[1]
        for what in (
            "with current setting",
            "with current setting and Theano flag optimizer_excluding=inplace",
            "if allow_gc=False (linker don't make a difference)",
        )
    )
    assert found == peaks
    assert f"Minimum peak from all valid apply node order is {least}\n" in text


def test_sparse_values_are_not_counted():
    m = theano.sparse.csr_matrix("m")
    with theano.change_flags(profile_memory=True):
        product = theano.sparse.structured_dot(m, m)
        f = theano.function([m], product, profile=ProfileStats(False))
        f(scipy.sparse.csr_matrix(np.eye(40)))
    text = printed(f.profile, profile_memory=True)
    assert "shape=(40, 40)" in text and "CPU: 0KB (0KB)" in text


def test_loops_inside_loops_and_loops_that_end_early_tell_their_shapes():
    x, v = T.dmatrix("x"), T.dvector("v")
    outer, _ = theano.scan(
        lambda row: theano.scan(lambda e, s: T.tanh(s + e), [row], [T.zeros(())], name="inner")[0][
            -1
        ],
        [x],
        name="outer",
    )
    doubled, _ = theano.scan(
        lambda s: (2 * s, theano.scan_module.until(s > 50)),
        outputs_info=v.sum(),
        n_steps=100,
        name="ends",
    )
    with theano.change_flags(profile_memory=True):
        f = theano.function([x, v], [outer, doubled * 2], profile=ProfileStats(False))
        for length in (3, 20, 1):
            results = f(np.ones((3, 4)), np.ones(length))
            for variable, value in zip(f.maker.fgraph.outputs, results, strict=True):
                assert f.profile.variable_shape[variable] == value.shape
    text = printed(f.profile, profile_memory=True)
    for name in ("inner", "outer", "ends"):
        assert f"\nScan Op profiling ( {name} )\n" in text
    calls = {loop.name: (loop.calls, loop.steps) for loop in f.profile.loops()}
    assert calls["inner"] == (9, 36) and calls["outer"] == (3, 9)


def test_an_engine_that_counts_no_operations_prints_what_calls_took():
    pytest.importorskip("jax")
    x = T.dvector("x")
    f = theano.function([x], T.exp(x), mode="XLA", profile=ProfileStats(False))
    f([1.0])
    text = printed(f.profile)
    assert "Time in 1 calls to Function.__call__" in text and "No time was counted by op" in text


def test_python_alone_counts_no_time_by_node():
    text = printed(recurrent(mode=theano.Mode("py")).profile)
    assert "No time was counted by operation" in text and "Function profiling" in text


@pytest.mark.parametrize("seed", range(20))
def test_the_least_peak_is_that_of_the_best_order(seed):
    """All orders of small random graphs are tried."""
    draws = np.random.default_rng(seed)
    values = list(T.dvectors(*"abc"))
    nodes = []
    for _ in range(6):
        chosen = [values[k] for k in draws.choice(len(values), 2)]
        made = T.Elemwise(theano.scalar.add)(*chosen) if draws.random() < 0.7 else chosen[0][1:]
        values.append(made)
        nodes.append(made.owner)
    graph = theano.gof.FunctionGraph(values[:3], values[-2:], clone=False)
    shapes = {v: (int(draws.integers(1, 100)),) for v in values}
    memory = Memory.of(graph, shapes)
    possible = [
        memory.peaks(order).freed
        for order in itertools.permutations(memory.nodes)
        if all(
            v.owner is None or v.owner in order[:k]
            for k, node in enumerate(order)
            for v in node.inputs
        )
    ]
    assert memory.least_peak() == min(possible)


def test_several_profiles_are_printed_with_their_sum():
    profiles = [recurrent(profile=ProfileStats(False, message=name)).profile for name in "ab"]
    unused = ProfileStats(False, message="never called")
    file = io.StringIO()
    print_profiles([*profiles, unused], file)
    text = file.getvalue()
    assert text.count("Function profiling\n") == 3 and text.count("Scan Op profiling ( rnn )") == 2
    assert "Skipping empty Profile: never called" in text
    assert "Message: Sum of all(2) printed profiles at exit excluding Scan op profile." in text
    total = sum_of(profiles)
    assert total.fct_callcount == 2 * CALLS
    assert len(total.apply_time) == sum(len(p.apply_time) for p in profiles)
    assert total.optimizer_time == sum(p.rewriting_time for p in profiles)


AT_EXIT = """
import numpy as np, theano, theano.tensor as T
x = T.dmatrix("x")
h, _ = theano.scan(lambda h: T.tanh(T.dot(h, h)), outputs_info=x, n_steps=3, name="own", mode=MODE)
f = theano.function([x], h[-1], name="first", mode=MODE)
g = theano.function([x], T.exp(x), name="second", mode=MODE).copy()
for called in (f, g):
    called(np.ones((4, 4)))
"""


@pytest.mark.parametrize("mode", ["None", "theano.Mode('pytensor_vm')"])
def test_with_the_flag_all_profiles_are_printed_at_exit(mode, tmp_path):
    flags = "profile=True,profile_memory=True,print_global_stats=True"
    done = run_python(AT_EXIT.replace("MODE", mode), THEANO_FLAGS=flags)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert "Message: first\n" in done.stderr and "Message: second copy\n" in done.stderr
    assert done.stderr.count("Scan Op profiling ( own )") == 1
    # what took long to compile is printed, too, if it was not called
    assert re.search(r"Sum of all\([23]\) printed profiles at exit", done.stderr)
    assert "PyTensor" not in done.stderr
    assert "Time spent in Theano functions = " in done.stderr


def test_without_the_flag_nothing_is_printed_at_exit():
    code = AT_EXIT.replace("mode=MODE", "profile=True").replace('name="own", profile=True', "")
    done = run_python(code)
    assert done.returncode == 0 and done.stderr == ""


def test_profiles_go_to_the_file_that_the_flag_names(tmp_path):
    flags = f"profile=True,profiling.destination={tmp_path / 'profiles.txt'}"
    done = run_python(AT_EXIT.replace("MODE", "None"), THEANO_FLAGS=flags)
    assert done.returncode == 0 and done.stderr == ""
    assert "Message: first\n" in (tmp_path / "profiles.txt").read_text()


def test_the_totals_of_the_process_go_where_the_flag_says(tmp_path):
    place = tmp_path / "totals.txt"
    with theano.change_flags({"profiling.destination": str(place)}):
        theano.compile.profiling.print_global_stats()
    assert "Time spent in Theano functions = " in place.read_text()


def test_a_copy_is_profiled_by_itself():
    f = recurrent()
    copied = f.copy(profile="of the copy")
    assert type(copied.profile) is ProfileStats and copied.profile.message == "of the copy"
    assert not f.copy().profile
