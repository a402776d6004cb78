"""The example of a model of PyMC runs, on real data, and draws its picture."""

import subprocess
import sys

import pytest

from tests_scan_grad.fresh_process import ROOT


def test_the_volatility_of_a_share(tmp_path):
    for name in ("nutpie", "matplotlib", "arviz_plots"):
        pytest.importorskip(name, reason="needs the extra [pymc]")
    picture = tmp_path / "draws.png"
    command = [sys.executable, "examples/volatility.py", "--draws", "100", "--quiet"]
    done = subprocess.run(
        [*command, "--plot", str(picture)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "1046 daily returns" in done.stdout and "persistence" in done.stdout
    assert picture.stat().st_size > 1000
