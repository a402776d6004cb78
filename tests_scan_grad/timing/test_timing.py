"""The timing command: its rows are complete, and it times nothing that disagrees."""

import importlib.util
import json
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.mode import Mode
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
from pytensor.tensor.math import Dot

import theano
from tests_scan_grad.timing.__main__ import main
from tests_scan_grad.timing.experiment import Disagreement, Problem, Program, TimingError
from tests_scan_grad.timing.experiments import gatedrnn, registry
from tests_scan_grad.timing.measuring import agreement, machine, measure
from tests_scan_grad.timing.measuring.loop_profile import LoopProfile, is_product, loop_profile
from tests_scan_grad.timing.peers import packages
from tests_scan_grad.timing.programs import graph_library, recurrent
from tests_scan_grad.timing.reports.report import absences, disturbance
from tests_scan_grad.timing.run import run_experiment, run_problem
from theano.pytensor_internals.operations.tensor import (
    BatchedDot,
    CGemv,
    CGer,
    Dot22,
    Dot22Scalar,
    Gemm,
    Gemv,
    Ger,
)

SMALL = {
    "gatedrnn": ["--batch", "2", "--steps", "3", "--dim", "4"],
    "rnn": ["--batch", "2", "--steps", "3", "--dim", "4"],
    "dotspeed": ["--batch", "2", "--dim", "3"],
}
METHODS = {
    "gatedrnn": {"grad(h)", "by hand", "grad(h,r,z,n)"},
    "rnn": {"grad(h)", "by hand"},
    "dotspeed": {"theano"},
}
INSTALLED = [name for name in ("torch", "jax") if importlib.util.find_spec(name)]
INSTALLED += ["cvm", "pytensor"]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    """Nothing here asserts a time, so nothing need wait for one to be undisturbed."""
    monkeypatch.setattr(measure, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(measure, "SHORTEST_SAMPLE_SECONDS", 1e-5)


def run_small(name, path, *more):
    """Run an experiment at a small size and return what its JSON file holds."""
    arguments = [name, *SMALL[name], "--repeats", "2", "--json", str(path), *more]
    assert main(arguments) == 0
    return json.loads(path.read_text())


def assert_complete(row, peers_run):
    """Every figure of a row is there and is possible."""
    assert len(row["samples"]) == 2
    assert row["seconds"] == min(row["samples"]) > 0
    assert row["peak_bytes"] >= 0 and row["peak_measured_as"]
    if row["kind"] == "peer":
        assert row["ratios"] == {}
        return
    assert set(row["ratios"]) == set(peers_run)
    assert all(ratio > 0 for ratio in row["ratios"].values())
    assert row["compile_seconds"] > 0 and row["first_compile_seconds"] > 0
    profile = row["profile"]
    assert set(profile) == set(LoopProfile.__dataclass_fields__)
    assert all(profile[name] >= 0 for name in profile if name.endswith("seconds"))
    assert profile["products_outside"] >= 1


@pytest.mark.parametrize("name", SMALL)
def test_each_experiment_runs_and_its_rows_are_complete(name, tmp_path, capsys):
    wanted = {"gatedrnn": INSTALLED, "rnn": ["pytensor"], "dotspeed": ["numpy"]}[name]
    found = run_small(name, tmp_path / "run.json", "--peers", ",".join(wanted))
    assert found["experiment"] == name
    assert found["peers"] == wanted
    for key in ("processor", "cores", "threads", "versions", "date"):
        assert found["machine"][key]
    for problem in found["problems"]:
        assert problem["cores_used_by_others"] is None or problem["cores_used_by_others"] >= 0
        names = [row["name"] for row in problem["rows"]]
        assert set(names) == METHODS[name] | set(wanted)
        for row in problem["rows"]:
            assert_complete(row, wanted)
    printed = capsys.readouterr().out
    for row in found["problems"][0]["rows"]:
        assert row["name"] in printed


def test_dotspeed_has_all_shapes_addends_and_orders():
    sizes = registry.experiment_named("dotspeed").sizes
    small = replace(sizes, batch=2, dim=3)
    labels = [problem.label for problem in registry.experiment_named("dotspeed").problems(small)]
    assert len(set(labels)) == len(labels) == 4 * 2 * 4


@pytest.mark.parametrize("peer", [*INSTALLED])
def test_products_of_each_peer_agree_in_all_orders(peer):
    experiment = registry.experiment_named("dotspeed")
    for problem in experiment.problems(replace(experiment.sizes, batch=2, dim=3)):
        method, other = problem.methods["theano"](), problem.peers[peer]()
        results = {
            name: program.to_numpy(program.call())
            for name, program in (("theano", method), (peer, other))
        }
        agreement.check(problem, results)


def test_plot_is_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "run.png"
    found = run_small(
        "rnn", tmp_path / "r.json", "--peers", "none", "--plot", str(picture), "--dtype", "float64"
    )
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert found["sizes"]["dtype"] == "float64"
    assert found["peers"] == []


def test_a_file_that_cannot_be_written_does_not_lose_the_table(tmp_path, capsys):
    arguments = ["rnn", *SMALL["rnn"], "--repeats", "1", "--peers", "none"]
    assert main([*arguments, "--json", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert "by hand" in captured.out
    assert str(tmp_path) in captured.err.splitlines()[-1]


def test_the_list_names_every_experiment(capsys):
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(registry.NAMES)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["gatedrn"], ["'gatedrn'", *registry.NAMES]),
        ([], ["name an experiment", *registry.NAMES]),
        (["rnn", "--device", "cuda9"], ["'cuda9'", "cpu"]),
        (["rnn", "--peers", "tensorflow"], ["'tensorflow'", "torch", "jax", "pytensor"]),
        (["rnn", "--batch", "0"], ["--batch", "at least 1", "0"]),
        (["rnn", "--repeats", "0"], ["--repeats", "at least 1"]),
        (["rnn", "--limit", "0"], ["--limit", "above 0"]),
        (["rnn", "--rows", "x"], ["rnn", "--rows"]),
        (["rnn", "--quick"], ["rnn", "--quick"]),
        (["dotspeed", "--steps", "3"], ["dotspeed", "--steps"]),
        (["loops", "--rows", "ar2,ar3"], ["'ar3'", "ar2", "gated-1x64"]),
        (["loops", "--plot", "loops.png"], ["loops", "--plot"]),
        (["rnn", "--peers", "none", "--json", "/no/such/folder/r.json"], ["/no/such/folder"]),
    ],
)
def test_a_bad_request_ends_with_a_message_before_anything_runs(arguments, parts, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (message,) = captured.err.splitlines()
    for part in parts:
        assert part in message


@pytest.fixture
def without_torch(monkeypatch):
    """Let it seem that PyTorch is not installed."""
    monkeypatch.setattr(
        packages.importlib.util, "find_spec", lambda name: None if name == "torch" else name
    )


def test_a_missing_peer_that_is_asked_for_is_named_with_what_to_install(without_torch, capsys):
    assert main(["gatedrnn", "--peers", "torch"]) == 2
    message = capsys.readouterr().err
    assert "torch" in message and "theano-scan[bench]" in message


def test_a_missing_peer_that_is_not_asked_for_is_reported(without_torch):
    assert packages.chosen(gatedrnn.EXPERIMENT, None) == ("jax", "cvm", "pytensor")
    small = replace(gatedrnn.EXPERIMENT.sizes, batch=2, steps=3, dim=4)
    experiment = replace(gatedrnn.EXPERIMENT, dissected=False)
    found = run_experiment(experiment, small, [], 1)
    assert list(found["not_installed"]) == ["torch"]
    (line,) = absences(found)
    assert line.startswith("torch is not installed") and "theano-scan[bench]" in line


def with_wrong_method(wrong):
    """Return the gated network's experiment with one method's results passed through `wrong`."""

    def build(*arguments):
        first, *others = gatedrnn.by_hand(*arguments)
        return [*others, first] if wrong == "order" else [wrong(first), *others]

    unspoilt = gatedrnn.EXPERIMENT.problems

    def problems(sizes):
        arrays = recurrent.random_arrays(gatedrnn.CELL, sizes)
        for problem in unspoilt(sizes):
            faulty = partial(graph_library.compiled, graph_library.ours(), build, arrays)
            yield replace(problem, methods={**problem.methods, "by hand": faulty})

    return replace(gatedrnn.EXPERIMENT, problems=problems)


@pytest.mark.parametrize(
    "wrong",
    [lambda x: x * np.float32(1.001), lambda x: x[1:], lambda x: x * np.float32("nan"), "order"],
    ids=["scaled", "shape", "not a number", "order"],
)
def test_a_wrong_gradient_is_an_error_that_names_the_method(wrong, monkeypatch, capsys):
    experiment = with_wrong_method(wrong)
    monkeypatch.setattr(registry, "experiment_named", lambda name: experiment)
    monkeypatch.setattr(measure, "interleaved", lambda *_: pytest.fail("timed all the same"))
    assert main(["gatedrnn", *SMALL["gatedrnn"], "--peers", "none"]) == 1
    message = capsys.readouterr().err.splitlines()[-1]
    assert "'by hand'" in message and "dU" in message and "0.0001 is allowed" in message


def test_the_wrong_figure_is_in_the_message():
    problem = Problem("p", ("x",), {}, {}, dtype="float64")
    right = [np.array([1.0, 4.0])]
    assert agreement.check(problem, {"a": right, "b": right}) == {"a": 0, "b": 0}
    with pytest.raises(Disagreement, match="of 'b' differs from that of 'a' by 0.25,"):
        agreement.check(problem, {"a": right, "b": [np.array([1.0, 3.0])]})


def test_a_float64_problem_allows_less():
    problem = Problem("p", ("x",), {}, {})
    results = {"a": [np.array([1.0])], "b": [np.array([1.0 + 1e-6])]}
    agreement.check(problem, results)
    with pytest.raises(Disagreement, match="allowed in float64"):
        agreement.check(replace(problem, dtype="float64"), results)


def test_programs_that_do_other_work_are_not_compared():
    problem = Problem("p", ("x",), {}, {}, unlike=frozenset({"b"}))
    results = {"a": [np.array([1.0])], "b": [np.array([7.0]), np.array([8.0])]}
    assert agreement.check(problem, results) == {"a": 0}


def test_programs_take_turns_and_each_round_begins_with_another(monkeypatch):
    order = []
    monkeypatch.setattr(measure, "SHORTEST_SAMPLE_SECONDS", 1e-9)
    programs = {
        name: Program(call=partial(order.append, name), to_numpy=list) for name in ("a", "b", "c")
    }
    samples = measure.interleaved(programs, 3)
    assert "".join(order) == "abc" + "abc" + "bca" + "cab"
    assert all(len(each) == 3 for each in samples.values())


class Clock:
    """A clock of a process whose threads compute for some seconds after each sample."""

    def __init__(self, spinning):
        self.spinning, self.now, self.computed, self.computes_until = spinning, 0.0, 0.0, 0.0

    def begin_to_spin(self):
        self.computes_until = self.now + self.spinning
        return 0.0

    def monotonic(self):
        return self.now

    def process_time(self):
        return self.computed

    def sleep(self, seconds):
        self.computed += max(0.0, min(seconds, self.computes_until - self.now))
        self.now += seconds


@pytest.mark.parametrize("spinning", [0.0, 0.2, 1e6])
def test_a_sample_waits_for_the_threads_of_the_program_before(spinning, monkeypatch):
    clock, began = Clock(spinning), []
    monkeypatch.setattr(measure, "time", clock)
    monkeypatch.setattr(measure, "PAUSE_SECONDS", 0.02)

    def quiet():
        began.append(clock.now - clock.computes_until)
        return 0.0

    programs = {
        "spins": Program(call=list, to_numpy=list, own_clock=clock.begin_to_spin),
        "is quiet": Program(call=list, to_numpy=list, own_clock=quiet),
    }
    measure.interleaved(programs, 2)
    if spinning < measure.LONGEST_PAUSE_SECONDS:
        assert len(began) == 2 and min(began) >= 0
    else:
        # who never rests is not waited for
        assert clock.now < 8 * measure.LONGEST_PAUSE_SECONDS


def test_a_very_slow_program_is_sampled_less_often(monkeypatch):
    monkeypatch.setattr(measure, "LONGEST_SECONDS", 5.0)
    seconds = {"slow": 3.0, "quick": 0.1}
    programs = {
        name: Program(call=list, to_numpy=list, own_clock=partial(seconds.get, name))
        for name in seconds
    }
    samples = measure.interleaved(programs, 4)
    assert samples == {"slow": [3.0] * 2, "quick": [0.1] * 4}


def test_plain_pytensor_is_without_our_gradient():
    # Six products in the backward step are the defect that this project removes.
    small = replace(gatedrnn.EXPERIMENT.sizes, batch=2, steps=3, dim=4)
    arrays = recurrent.random_arrays(gatedrnn.CELL, small)
    build = partial(recurrent.grad_of_h, gatedrnn.CELL)
    program = graph_library.compiled(graph_library.plain_pytensor(), build, arrays)
    found = loop_profile(program.profiled(), program.arguments)
    assert found.forward_loop_products == [3]
    assert found.backward_loop_products == [6]
    assert found.products_outside == 3


@pytest.mark.parametrize(
    "op",
    [
        Dot(),
        Blockwise(Dot()),
        BatchedDot(),
        *(Dot22(), Dot22Scalar(), Gemm(inplace=True), Gemv(inplace=False), CGemv(inplace=True)),
        *(Ger(destructive=False), CGer(destructive=True)),
    ],
    ids=str,
)
def test_every_kind_of_product_counts(op):
    assert is_product(op)


@pytest.mark.parametrize("op", [pt.tanh, pt.add, Blockwise(Cholesky())], ids=str)
def test_what_is_not_a_product_does_not_count(op):
    assert not is_product(op)


def test_products_of_a_loop_inside_a_loop_count():
    x, m = pt.matrix("x"), pt.matrix("m")

    def scan(*args, **kwargs):
        return pytensor.scan(*args, **kwargs, return_updates=False)

    def step(row, m):
        inner = scan(lambda s, m: s.dot(m).dot(m), outputs_info=row, non_sequences=m, n_steps=2)
        return row.dot(m) + inner[-1]

    outputs = scan(step, sequences=x, non_sequences=m).dot(m)
    quiet = theano.ProfileStats(atexit_print=False)
    function = pytensor.function([x, m], outputs, mode=Mode("cvm", None), profile=quiet)
    found = loop_profile(function, (np.ones((3, 2)), np.ones((2, 2))))
    assert found.forward_loop_products == [1 + 2]
    assert found.backward_loop_products == []
    assert found.products_outside == 1


def test_the_profile_of_a_native_function_tells_of_loops_and_of_products_outside():
    small = replace(gatedrnn.EXPERIMENT.sizes, batch=2, steps=3, dim=4)
    arrays = recurrent.random_arrays(gatedrnn.CELL, small)
    build = partial(recurrent.grad_of_h, gatedrnn.CELL)
    program = graph_library.compiled(graph_library.our_engine(), build, arrays)
    found = loop_profile(program.profiled(), program.arguments)
    assert found.forward_loop_products == found.backward_loop_products == [2]
    assert found.products_outside == 3
    assert min(found.forward_loop_seconds, found.backward_loop_seconds) > 0
    assert found.products_outside_seconds > 0
    # what is timed carries no counters
    assert program.function.profile is None


def test_a_peer_that_was_not_asked_for_is_not_made_ready():
    ready = Program(call=lambda: [np.ones(2)], to_numpy=list)
    problem = Problem(
        "p", ("x",), {"m": lambda: ready}, {"other": lambda: pytest.fail("made ready")}
    )
    (row,) = run_problem(problem, [], 1)["rows"]
    assert row["name"] == "m" and row["profile"] is None


@pytest.mark.parametrize(("cores", "warned"), [(None, False), (0.01, False), (1.5, True)])
def test_a_disturbed_run_says_so(cores, warned):
    run = {"machine": {"cores": 2}, "problems": [{"cores_used_by_others": cores}]}
    lines = disturbance(run)
    assert bool(lines) == warned
    assert not warned or "1.5 of 2 cores" in lines[0]


needs_account = pytest.mark.skipif(
    machine.busy_seconds() is None, reason="this system does not account for its processors' time"
)


@pytest.mark.parametrize(("busy", "cores"), [((10, 13), 1.5), ((10, 9), 0), ((None, None), None)])
def test_the_work_of_others_is_that_of_its_time(busy, cores, monkeypatch):
    accounts, seconds = iter(busy), iter((100.0, 102.0))
    monkeypatch.setattr(machine, "busy_seconds", lambda: next(accounts))
    monkeypatch.setattr(machine, "time", SimpleNamespace(perf_counter=lambda: next(seconds)))
    with machine.OtherWork() as other:
        pass
    assert other.cores == cores


@needs_account
def test_the_work_of_others_is_accounted_for():
    # one that is still at work is not known to be ours: it stands for another
    before = machine.busy_seconds()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as forever:
        try:
            while machine.busy_seconds() <= before + 0.5:
                time.sleep(0.05)
        finally:
            forever.kill()


@needs_account
@pytest.mark.parametrize("whose", [("user", "system"), ("children_user", "children_system")])
def test_our_own_work_is_not_the_work_of_others(whose, monkeypatch):
    # so that the account stands still meanwhile
    text = machine.Path("/proc/stat").read_text()
    monkeypatch.setattr(machine.Path, "read_text", lambda path: text)
    names = ("user", "system", "children_user", "children_system")
    times = SimpleNamespace(**dict.fromkeys(names, 1.0))
    monkeypatch.setattr(machine.os, "times", lambda: times)
    before = machine.busy_seconds()
    for name, seconds in zip(whose, (1000, 500), strict=True):
        setattr(times, name, getattr(times, name) + seconds)
    assert machine.busy_seconds() - before == pytest.approx(-1500)


def test_sizes_that_an_experiment_lacks_are_refused():
    sizes = registry.experiment_named("dotspeed").sizes
    assert sizes.override("dotspeed", batch=3, steps=None).batch == 3
    with pytest.raises(TimingError, match="dotspeed has no size 'steps'"):
        sizes.override("dotspeed", steps=4)


@pytest.mark.parametrize(
    "experiment, name",
    [("steps", "softmax-500"), ("steps", "embedding"), ("images", "lenet-20"), ("images", "solid")],
)
def test_training_steps_agree_with_the_peers_that_are_installed(experiment, name, tmp_path):
    wanted = [peer for peer in ("jax",) if importlib.util.find_spec(peer)]
    path = tmp_path / "steps.json"
    arguments = [experiment, "--quick", "--rows", name, "--repeats", "1", "--json", str(path)]
    assert main([*arguments, "--peers", ",".join(wanted) or "none"]) == 0
    (problem,) = json.loads(path.read_text())["problems"]
    assert [row["name"] for row in problem["rows"]] == ["native", *wanted]
    assert problem["left_out"] == {}


def test_every_training_step_is_there_in_pytorch():
    from tests_scan_grad.timing.peers import torch_steps
    from tests_scan_grad.timing.programs import step_networks

    assert list(torch_steps.MODULES) == list(step_networks.NETWORKS)
