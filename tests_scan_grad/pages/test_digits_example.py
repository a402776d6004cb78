"""examples/digits.py from the command line: it learns, resumes exactly, and says what it lacks."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from tests_scan_grad.fresh_process import ROOT


def run(folder, epochs, *more, **environment):
    return subprocess.run(
        [
            *(sys.executable, "examples/digits.py", "--checkpoint", str(folder)),
            *("--epochs", str(epochs), *more),
        ],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )


def arrays_of(folder):
    with np.load(folder / "checkpoint.npz") as saved:
        return {name: saved[name] for name in saved.files}


def test_it_learns_and_goes_on_where_it_stopped(tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    picture = tmp_path / "filters.png"
    whole = run(tmp_path / "whole", 6, "--plot", str(picture))
    assert whole.returncode == 0, whole.stderr
    share = re.search(r"^([\d.]+)% of 360 digits not seen are read rightly", whole.stdout, re.M)
    assert float(share[1]) > 93
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    for epochs in (2, 6):
        parts = run(tmp_path / "parts", epochs)
        assert parts.returncode == 0, parts.stderr
    assert "continuing from" in parts.stdout and "after 2 epochs" in parts.stdout
    expected, found = arrays_of(tmp_path / "whole"), arrays_of(tmp_path / "parts")
    assert expected.keys() == found.keys()
    for name, values in expected.items():
        assert values.tobytes() == found[name].tobytes(), name


def test_what_is_missing_is_said(tmp_path):
    package = tmp_path / "sklearn"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('not here')\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    done = run(tmp_path / "saved", 1, PYTHONPATH=path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "digits: error: the digits come with scikit-learn: python -m pip install scikit-learn"
    )
