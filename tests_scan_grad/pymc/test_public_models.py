"""The command that compares models with PyTensor's own modes."""

import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
pytest.importorskip("nutpie", reason="needs the extra [pymc]")

from tests_scan_grad.pymc import public_models  # noqa: E402

PROGRAM = """
import pymc as pm

with pm.Model() as first:
    pm.Normal("x")
"""


def test_models_of_the_gallery_are_compared(capsys):
    assert public_models.main(["--mode", "FAST_COMPILE", "--only", "quantile regression"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:3] == ["quantile", "regression", "same"]
    assert lines[1].endswith("native")
    assert lines[2].startswith("1 models compared, 0 differ, 0 failed; 1 native;")


def test_models_of_programs_are_compared(tmp_path, capsys):
    (tmp_path / "one.py").write_text(PROGRAM)
    (tmp_path / "other.py").write_text("raise ValueError('no data')")
    assert public_models.main(["--mode", "FAST_COMPILE", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "one.first" in out and "the program fails: ValueError: no data" in out
    assert "1 models compared, 0 differ, 1 failed" in out


def test_a_density_that_differs_is_reported():
    assert not public_models._agree((1.0, [0.5]), (1.0, [0.6]))
