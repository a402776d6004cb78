"""The timing experiment of whole loops: its rows, its table, and what it leaves out."""

import importlib.util
import json
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from tests_scan_grad.timing.__main__ import main
from tests_scan_grad.timing.experiment import Problem, Program, Sizes
from tests_scan_grad.timing.experiments import loops
from tests_scan_grad.timing.measuring import agreement, first_call, measure
from tests_scan_grad.timing.measuring.time_limit import TimeExceeded, time_limit
from tests_scan_grad.timing.programs import denormals, scalar_loops
from tests_scan_grad.timing.programs.differentiable_loop import NATIVE, problems
from tests_scan_grad.timing.reports import loops_report
from tests_scan_grad.timing.reports.report import absences
from tests_scan_grad.timing.run import run_problem

TINY = Sizes(batch=2, steps=3, dim=4, dtype="float32")
# Numba is left to the command itself: it takes half a minute for each program.
INSTALLED = [
    peer
    for peer, package in {"torch": "torch", "jax": "jax", "pytensor": "pytensor"}.items()
    if importlib.util.find_spec(package)
]


@pytest.fixture(autouse=True)
def tiny_and_without_pauses(monkeypatch):
    """Let every row be tiny, and nothing wait for an undisturbed moment."""
    monkeypatch.setattr(measure, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(measure, "SHORTEST_SAMPLE_SECONDS", 1e-5)
    tiny = {
        "GATED": {name: (TINY, goals) for name, (_, goals) in loops.GATED.items()},
        "SCALAR": {name: (make, 20) for name, (make, _) in loops.SCALAR.items()},
        "OTHER": {name: (make, TINY) for name, (make, _) in loops.OTHER.items()},
    }
    for table, rows in tiny.items():
        monkeypatch.setattr(loops, table, rows)


def run_rows(rows, path, *more):
    """Run rows of the experiment and return what its JSON file holds."""
    arguments = ["loops", "--rows", rows, "--repeats", "1", "--json", str(path), *more]
    assert main(arguments) == 0
    return json.loads(path.read_text())


def test_the_table_has_ratios_and_times_of_every_engine(tmp_path, capsys):
    wanted = [*INSTALLED, *(["gru"] if "torch" in INSTALLED else [])]
    found = run_rows("gated-1x64", tmp_path / "run.json", "--peers", ",".join(wanted))
    forward, both = found["problems"]
    assert forward["label"].endswith(": forward")
    assert both["label"].endswith(": forward + gradient")
    for problem in (forward, both):
        rows = {row["name"]: row for row in problem["rows"]}
        assert set(rows) == {"native", "cvm", *wanted}
        assert problem["left_out"] == {}
        assert set(rows["native"]["ratios"]) == set(wanted)
        assert all(row["seconds"] > 0 for row in rows.values())
        assert rows["native"]["remarks"] == []
        # Another cell's results are no one else's.
        assert {name for name, row in rows.items() if row["relative_error"] is None} <= {"gru"}
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    header = next(line for line in lines if "this" in line.split()).split()
    assert header == ["cvm", *wanted, "this", "cvm", *wanted]
    assert next(line for line in lines if line.startswith(both["label"]))
    assert ("torch.nn.GRU, another cell" in printed) == ("gru" in wanted)


@pytest.mark.parametrize(
    ("make", "differentiate"),
    [(scalar_loops.ar2, True), (scalar_loops.sir, False)],
    ids=["gradient of ar2", "sir"],
)
def test_loops_of_numbers_agree_between_engines_and_are_native(make, differentiate):
    problem = list(problems(make(20)))[differentiate]
    names = {**problem.methods, **{peer: problem.peers[peer] for peer in INSTALLED}}
    programs = {name: make_ready() for name, make_ready in names.items()}
    results = {name: program.to_numpy(program.call()) for name, program in programs.items()}
    assert all(len(arrays) == len(problem.results) for arrays in results.values())
    agreement.check(problem, results)
    assert programs[NATIVE].remarks == ()


def test_a_quick_run_has_shorter_loops(tmp_path, capsys):
    found = run_rows("sir", tmp_path / "run.json", "--quick", "--peers", "none")
    assert [problem["steps"] for problem in found["problems"]] == [20 // loops.QUICK] * 2
    printed = capsys.readouterr().out
    assert "quick run" in printed and "ns a step" in printed


def test_rows_come_in_the_order_of_the_table():
    chosen = Sizes(rows=("denormals", "sir", "gated-1x64"), quick=False)
    labels = [problem.label.split(":")[0] for problem in loops.all_problems(chosen)]
    assert labels[0].startswith("gated RNN")
    assert labels[2] == "SIR Euler step"
    assert labels[-1].startswith("vanishing gradient")


def test_each_engine_is_timed_on_a_vanishing_gradient_and_on_an_ordinary_one(tmp_path):
    found = run_rows("denormals", tmp_path / "run.json", "--peers", "none")
    assert [[row["name"] for row in problem["rows"]] for problem in found["problems"]] == [
        ["native", "ordinary"],
        ["cvm", "ordinary"],
    ]
    scale = float(denormals.VANISHING_SCALE)
    assert 0 < np.float32(scale * scale) < np.finfo(np.float32).tiny
    assert float(np.finfo(np.float32).tiny) < scale


def test_a_first_call_is_that_of_a_fresh_process(monkeypatch):
    folders = []

    def run(self, folder: Path):
        folders.append(folder)
        return len(folders), []

    monkeypatch.setattr(first_call.FreshProcess, "run", run)
    for cold, number in ((True, 3), (False, 1)):
        folders.clear()
        program = first_call.in_fresh_process("native", TINY, cold)
        program.call()
        assert [program.own_clock(), program.own_clock()] == [2, 3]
        assert len(set(folders)) == number


@pytest.mark.parametrize("engine", ["native", *({"jax"} & set(INSTALLED))])
def test_a_fresh_process_computes_the_gradient_with_caches_of_its_own(engine, tmp_path):
    seconds, found = first_call.FreshProcess(engine, TINY, cold=True).run(tmp_path)
    arrays = first_call.recurrent.random_arrays(first_call.gatedrnn.CELL, TINY)
    here = first_call.ENGINES["native"](arrays)
    problem = next(first_call.problems(TINY))
    agreement.check(problem, {"here": here.to_numpy(here.call()), engine: found})
    assert seconds > 0
    assert any((tmp_path / ("jax" if engine == "jax" else "pytensor")).iterdir())


def test_a_fresh_process_that_fails_says_why(tmp_path):
    with pytest.raises(RuntimeError, match="a fresh process of numpy failed: KeyError: 'numpy'"):
        first_call.FreshProcess("numpy", TINY, cold=True).run(tmp_path)


def ready(value=1.0):
    """Return a program with one result."""
    return Program(call=lambda: [np.array(value)], to_numpy=list)


def fail():
    raise NotImplementedError("no such operation\nand more")


def test_a_peer_that_fails_or_takes_too_long_is_left_out_with_the_reason():
    def slow():
        # what the limit raises in the midst of it
        raise TimeExceeded

    problem = Problem("p", ("x",), {"m": ready}, {"good": ready, "bad": fail, "slow": slow})
    found = run_problem(problem, ["good", "bad", "slow", "elsewhere"], 1, limit=600)
    assert [row["name"] for row in found["rows"]] == ["m", "good"]
    lines = absences({"not_installed": {}, "problems": [found]})
    assert lines == [
        "p: without bad: NotImplementedError: no such operation",
        "p: without slow: it was not ready and called within 600 s",
    ]


def test_a_method_that_fails_is_an_error():
    problem = Problem("p", ("x",), {"m": fail}, {})
    with pytest.raises(NotImplementedError):
        run_problem(problem, [], 1)


needs_timer = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system has no timer that interrupts"
)


@needs_timer
def test_a_time_limit_gives_back_another_ones_clock():
    seen = []
    handler = signal.signal(signal.SIGALRM, lambda *_: seen.append("the other"))
    before = signal.setitimer(signal.ITIMER_REAL, 600)
    try:
        with pytest.raises(TimeExceeded), time_limit(0.01):
            time.sleep(600)
        with time_limit(600):
            pass
        assert seen == [] and 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 600
        signal.raise_signal(signal.SIGALRM)
        assert seen == ["the other"]
    finally:
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *before)


def of_problem(**changes):
    """Return a problem's part of a run: the first method takes 2 s, the peer 4 s."""
    rows = [
        {"name": name, "seconds": seconds, "remarks": []}
        for name, seconds in (("native", 2.0), ("jax", 4.0))
    ]
    empty = {"label": "p", "steps": None, "goals": {}, "goal_seconds": None, "left_out": {}}
    return {**empty, "rows": rows, **changes}


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"goals": {"jax": 0.6, "torch": 0.1}, "goal_seconds": 3.0}, []),
        ({"goals": {"jax": 0.4}}, ["p: 0.50 of jax's time, 0.40 wanted"]),
        ({"goal_seconds": 1.2}, ["p: 2.00 s, 1.2 s wanted"]),
    ],
)
def test_what_falls_short_is_said(changes, lines):
    assert loops_report.shortfalls(of_problem(**changes)) == lines


def test_the_time_of_a_loop_of_numbers_is_told_for_a_step():
    *_, line = loops_report.table([of_problem(steps=1_000_000, left_out={"numba": "slow"})])
    assert line.split() == ["p,", "ns", "a", "step", "0.50", "-", "2000", "4000", "-"]


def test_a_loop_that_is_not_native_is_remarked():
    made = of_problem()
    made["rows"][0]["remarks"] = ["ar2: by PyTensor"]
    assert loops_report.remarks(made) == ["p: native: ar2: by PyTensor"]


def test_every_engine_of_a_table_is_explained():
    names = [*loops.EXPERIMENT.peers, "cvm", denormals.ORDINARY]
    assert [line.split(":")[0] for line in loops_report.notes([])] == []
    assert {line.split(":")[0] for line in loops_report.notes(names)} == set(names)
