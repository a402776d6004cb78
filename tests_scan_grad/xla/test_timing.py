"""The experiments run by the XLA engine: the one for GPUs, and the others on its device."""

from __future__ import annotations

import json

import pytest

from tests_scan_grad.fresh_process import run_python
from tests_scan_grad.timing.__main__ import main
from tests_scan_grad.timing.measuring import device_floors, measure

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def small_and_without_pauses(monkeypatch):
    monkeypatch.setattr(measure, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(measure, "SHORTEST_SAMPLE_SECONDS", 1e-5)
    monkeypatch.setattr(device_floors, "SIDE", {"cpu": 64, "gpu": 64})
    monkeypatch.setattr(device_floors, "ELEMENTS", {"cpu": 1024, "gpu": 1024})


def test_the_gpus_experiment_compares_and_names_its_device(tmp_path, capsys):
    path = tmp_path / "run.json"
    arguments = ["gpu", "--quick", "--rows", "gated-1x64", "--peers", "jax", "--repeats", "2"]
    assert main([*arguments, "--json", str(path)]) == 0
    (problem,) = json.loads(path.read_text())["problems"]
    assert [row["name"] for row in problem["rows"]] == ["xla", "jax"]
    assert set(problem["floors"]) == {"arithmetic", "bytes"}
    assert all(seconds > 0 for seconds in problem["floors"].values())
    printed = capsys.readouterr().out
    assert ("There is no GPU here" in printed) == (jax.default_backend() == "cpu")
    assert "gated_rnn, 20 steps, 1 x 64" in printed


@pytest.mark.parametrize("name", ["rnn", "gatedrnn", "dotspeed"])
def test_experiments_run_on_the_device_of_the_flags(name):
    sizes = ["--batch", "2", "--dim", "3", *(["--steps", "3"] if name != "dotspeed" else [])]
    arguments = [name, *sizes, "--peers", "none", "--repeats", "1"]
    code = f"from tests_scan_grad.timing.__main__ import main; raise SystemExit(main({arguments}))"
    done = run_python(code, THEANO_FLAGS="device=xla:cpu")
    assert done.returncode == 0, done.stderr
    assert "Methods run in the XLA engine" in done.stdout
