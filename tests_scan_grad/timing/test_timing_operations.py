"""The experiment `operations`: every library computes the same, and the table has the worst first."""

import importlib.util
import json

import numpy as np
import pytest

from tests_scan_grad.timing.__main__ import main
from tests_scan_grad.timing.experiments.operations import to_the_better
from tests_scan_grad.timing.programs.operation_libraries import ENGINES
from tests_scan_grad.timing.programs.operations import OPERATIONS, arguments

# one of each kind; the run of the experiment compares all of them
SOME = ("erf", "remainder", "gelu", "choice", "softmax of columns", "log-sum-exp of rows", "tile")
SOME += ("argsort of rows", "rows by index", "cumulative sum of columns", "lower triangle")
MODULES = {"torch": "torch", "jax": "jax"}


def test_there_are_a_hundred_and_fifty():
    assert len(OPERATIONS) + sum(one.smooth for one in OPERATIONS.values()) >= 150


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("gradient", [False, True], ids=["value", "gradient"])
def test_libraries_compute_the_same(name, gradient):
    operation = OPERATIONS[name]
    if gradient and not operation.smooth:
        pytest.skip("it has no gradient")
    given = arguments(operation, 400, "float64")
    there = [one for one, module in MODULES.items() if importlib.util.find_spec(module)]
    native, *others = (
        np.asarray(ENGINES[engine](operation, given, gradient)(), "float64")
        for engine in ("native", *there, *(() if gradient else ("numpy",)))
    )
    assert native.size and np.isfinite(native).all()
    for other in others:
        np.testing.assert_allclose(other, native, 1e-7, 1e-10)


def test_the_table_has_the_worst_rows_first(tmp_path, capsys):
    file = tmp_path / "run.json"
    asked = f"operations --rows exp,floor --peers numpy --repeats 1 --quick --json {file}"
    assert main(asked.split()) == 0
    printed = capsys.readouterr().out
    assert "to the better" in printed and "exp, gradient" in printed
    found = json.loads(file.read_text())["problems"]
    assert [problem["label"] for problem in found] == ["exp", "exp, gradient", "floor"]
    assert [len(problem["rows"]) for problem in found] == [2, 1, 2]
    seconds = {"native": 3.0, "torch": 2.0, "jax": 1.5, "numpy": 1.0}
    rows = [{"name": name, "seconds": one} for name, one in seconds.items()]
    assert to_the_better({"rows": rows}) == 2.0
    assert to_the_better({"rows": rows[:1]}) is None
