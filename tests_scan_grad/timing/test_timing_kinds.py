"""The experiment `kinds`: both libraries compute the same, and the table has the worst first."""

import importlib.util
import json

import numpy as np
import pytest

import theano
from tests_scan_grad.timing.__main__ import main
from tests_scan_grad.timing.experiments.kinds import to_jax
from tests_scan_grad.timing.programs.kind_libraries import ENGINES, summary
from tests_scan_grad.timing.programs.kinds_of_steps import KINDS

# one of each sort; the run of the experiment compares all of them
SOME = ("switch", "GARCH", "tanh of reversed", "roll", "halves", "stencil in place", "one-hot")
SOME += ("softmax of columns", "forward algorithm", "coupled oscillators", "cumulative sum", "LSTM")


def test_there_are_forty():
    assert len(KINDS) >= 40


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("gradient", [False, True], ids=["value", "gradient"])
def test_libraries_compute_the_same(name, gradient):
    kind = KINDS[name]
    arrays = kind.arrays(kind.small, 5, "float64")
    native, jax = (
        summary(ENGINES[engine](kind, arrays, kind.small, gradient)())
        for engine in ("native", "jax")
    )
    assert np.isfinite(native).all() and max(native) > 0
    np.testing.assert_allclose(jax, native, 1e-8, 1e-12)


def test_no_setting_stays_behind():
    before = theano.config.floatX, theano.config.native.quick
    kind = KINDS["arithmetic"]
    ENGINES["native"](kind, kind.arrays(kind.small, 5, "float32"), kind.small, False)()
    assert before == (theano.config.floatX, theano.config.native.quick)


def test_the_table_has_the_worst_rows_first(tmp_path, capsys):
    file = tmp_path / "run.json"
    asked = f"kinds --rows tanh,halves --peers none --repeats 1 --quick --json {file}"
    assert main(asked.split()) == 0
    printed = capsys.readouterr().out
    assert "ratio" in printed and "halves, large, gradient" in printed
    found = json.loads(file.read_text())["problems"]
    assert len(found) == 8 and found[0]["label"] == "tanh, small"
    assert to_jax(found[0]) is None
    assert to_jax({"rows": [{"ratios": {"jax": 0.5}}]}) == 0.5
