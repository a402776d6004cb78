"""The timing experiment of memory: its networks agree, and its table has figures and ratios."""

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest

from tests_scan_grad.timing.__main__ import main
from tests_scan_grad.timing.experiments import memory
from tests_scan_grad.timing.measuring import measure
from tests_scan_grad.timing.measuring.memory_blocks import Blocks
from tests_scan_grad.timing.measuring.own_process import environment
from tests_scan_grad.timing.programs.memory_networks import NETWORKS
from tests_scan_grad.timing.reports import memory_report

INSTALLED = [peer for peer in memory.PEERS if importlib.util.find_spec(peer)]


def test_a_quick_run_has_the_figures_of_every_library(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(measure, "PAUSE_SECONDS", 0)
    path = tmp_path / "memory.json"
    asked = ["memory", "--quick", "--rows", "tanh,lenet", "--json", str(path)]
    assert main([*asked, "--peers", ",".join(INSTALLED) or "none"]) == 0
    problems = json.loads(path.read_text())["problems"]
    assert [problem["label"] for problem in problems] == ["tanh", "lenet"]
    for problem in problems:
        assert problem["left_out"] == {}
        rows = {row["name"]: row for row in problem["rows"]}
        assert list(rows) == ["native", *INSTALLED]
        # a step of these allocates more than a page or two in every library
        assert all(row["peak_bytes"] > 1e5 and row["seconds"] > 0 for row in rows.values())
    header = next(
        line.split() for line in capsys.readouterr().out.splitlines() if "kept" in line.split()
    )
    columns = ["this", *INSTALLED, "to", "the", "better"]
    assert header == ["kept", *columns, *columns]


TEN_MEBIBYTES = """
import json
import numpy as np
from tests_scan_grad.timing.measuring.memory_blocks import block
step = lambda rows: np.ones((rows, 2**18), "float32").max()
print(json.dumps({"ones": block(step, 40, 10, 0.0)}))
"""


def test_what_a_call_adds_at_its_peak_is_counted_and_what_was_there_is_not():
    def found():
        # the process of a whole suite is large, and the system takes back pages of it meanwhile
        command = [sys.executable, "-c", TEN_MEBIBYTES]
        return json.loads(subprocess.check_output(command, env=environment(), text=True))

    blocks = Blocks(found)
    program = blocks.program("ones")
    for _ in range(3):
        assert program.to_numpy(program.call()) == [np.array(1.0)] * 3
    # 10 MiB are allocated for each call, whatever the small one took
    assert program.own_peak() == pytest.approx(10 * 2**20, rel=0.3)


@pytest.mark.parametrize(("single", "processes"), [(False, 3), (True, 1)])
def test_samples_come_from_processes_of_their_own_but_for_a_try(single, processes):
    peaks = iter((10, 30, 20))
    blocks = Blocks(
        lambda: {"a": {"costs": [1.0], "seconds": 2.0, "peak_bytes": next(peaks)}}, single
    )
    program = blocks.program("a")
    assert program.to_numpy(program.call()) == [np.array(1.0)]
    assert [program.own_clock(), program.own_clock()] == [2.0, 2.0]
    assert len(blocks.found) == processes
    assert program.own_peak() == (10 if single else 30)


def of_problem(**peaks):
    """Return the part of a run that the table shows, with these peaks in megabytes."""
    rows = [
        {"name": name, "peak_bytes": 1e6 * peak, "seconds": 0.1} for name, peak in peaks.items()
    ]
    return {"label": "tanh", "rows": rows}


def test_a_ratio_is_to_the_better_peer():
    problem = of_problem(native=30, torch=50, jax=40)
    assert memory_report.to_the_better(problem, "peak_bytes") == pytest.approx(0.75)
    *_, line = memory_report.table([problem], ["torch", "jax"], {"tanh": 4 * 10**6})
    assert line.split() == "tanh 4.0 30 50 40 0.75 100 100 100 1.00".split()
    (short,) = memory_report.shortfalls([problem], {"tanh": 0.5})
    assert short == "tanh: 0.75 of the better peer's memory, 0.50 wanted"
    assert memory_report.shortfalls([problem], {"tanh": 0.8}) == []


def test_without_peers_there_is_no_ratio():
    problem = of_problem(native=30)
    *_, line = memory_report.table([problem], [], {})
    assert line.split() == "tanh - 30 - 100 -".split()
    assert memory_report.shortfalls([problem], {"tanh": 0.5}) == []


# the language model's network reads rows of a table, which its module looks up
@pytest.mark.parametrize("name", [name for name in memory.MODULES if name != "language"])
def test_a_module_of_pytorch_computes_the_cost_of_its_network(name):
    torch = pytest.importorskip("torch", reason="is a peer")
    from tests_scan_grad.timing.peers import torch_steps

    network = NETWORKS[name].make(3)
    inputs = {key: torch.from_numpy(array) for key, array in network.arrays().items()}
    inputs = {key: t.long() if t.dtype == torch.int32 else t for key, t in inputs.items()}
    costs = [
        float(cost(inputs).detach())
        for _, cost in (memory.MODULES[name](network), torch_steps.torch_network(network))
    ]
    assert costs[0] == pytest.approx(costs[1], rel=1e-5)


def test_what_must_be_kept_is_the_states_and_gates():
    assert memory.kept_bytes(quick=False)["lstm"] == 6 * 1000 * 64 * 256 * 4
    assert set(NETWORKS) - set(memory.kept_bytes(quick=True)) == {
        "translation",
        "language",
        "lenet",
    }
