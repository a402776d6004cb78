"""The timing experiment of PyMC's models: its rows, and a model timed both ways."""

import json
from importlib.util import find_spec

import pytest

from tests_scan_grad.timing.__main__ import main
from tests_scan_grad.timing.experiments.pymc import ROWS
from tests_scan_grad.timing.measuring import measure


@pytest.mark.skipif(find_spec("pymc") is not None, reason="PyMC is installed")
def test_without_pymc_it_says_what_to_install(capsys):
    assert main(["pymc", "--peers", "none"]) == 2
    assert "theano-scan[pymc]" in capsys.readouterr().err


def test_every_model_is_a_row():
    pytest.importorskip("pymc", reason="needs the extra [pymc]")
    from tests_scan_grad.timing.programs.pymc_models import MODELS

    assert list(MODELS) == list(ROWS)


def test_a_model_is_timed_from_python_from_c_and_to_its_first_call(tmp_path, monkeypatch, capsys):
    pytest.importorskip("nutpie", reason="needs the extra [pymc]")
    monkeypatch.setattr(measure, "PAUSE_SECONDS", 0)
    path = tmp_path / "run.json"
    asked = ["pymc", "--rows", "schools", "--peers", "c", "--repeats", "1", "--json", str(path)]
    assert main(asked) == 0
    calls, first = json.loads(path.read_text())["problems"]
    assert [row["name"] for row in calls["rows"]] == ["native", "native from C", "c"]
    assert max(row["relative_error"] for row in calls["rows"]) < 1e-12
    assert [row["name"] for row in first["rows"]] == ["native"]
    assert "schools" in capsys.readouterr().out


def test_what_jax_answers_has_been_computed():
    pytest.importorskip("jax", reason="is a peer")
    pytest.importorskip("pymc", reason="needs the extra [pymc]")
    from tests_scan_grad.timing.programs.pymc_models import MODELS
    from tests_scan_grad.timing.programs.pymc_programs import ENGINES, points_of

    model = MODELS["markov-3"]()
    density = ENGINES["jax"](model)
    for point in points_of(model):
        assert all(result.is_ready() for result in density(point))
