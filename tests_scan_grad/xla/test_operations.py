"""Operations in mode 'XLA' give the values, dtypes and shapes that the Python linker gives."""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import printed_by
from tests_scan_grad.xla.loop_programs import compiled_texts
from tests_scan_grad.xla.operations import GROUPS, Case

pytest.importorskip("jax")

CASES = [
    pytest.param(case, id=f"{group}: {case.name}") for group in GROUPS for case in GROUPS[group]
]


def variables_of(values):
    return [T.TensorType(v.dtype, [n == 1 for n in v.shape])(f"x{k}") for k, v in enumerate(values)]


def tolerance(dtype):
    return {"float32": 2e-6, "float64": 1e-12}.get(str(dtype), 0)


def test_each_file_of_lowerings_is_imported_with_the_table():
    name = "theano.link.xla.lowering"
    folder = importlib.import_module(name).__path__
    files = {module.name for module in pkgutil.walk_packages(folder, f"{name}.")}
    (imported,) = printed_by(f"import sys, {name}; print(*sys.modules)")
    assert files <= set(imported.split())


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("case", CASES)
def test_operation(case: Case):
    values = [np.asarray(value) for value in case.values]
    variables = variables_of(values)
    outputs = case.build(*variables)
    outputs = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    expected = theano.function(variables, outputs, mode=theano.Mode("py", "fast_compile"))(*values)
    compiled = theano.function(variables, outputs, mode="XLA")
    found = compiled(*values)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(
            ours, theirs, rtol=tolerance(ours.dtype), atol=tolerance(ours.dtype), equal_nan=True
        )
    assert bool(compiled.vm.plan.reasons) == case.on_host, compiled.vm.plan.reasons


def test_rows_are_added_without_a_copy_of_them():
    table, i, y = T.dmatrix("table"), T.lvector("i"), T.dtensor3("y")
    rows = y.reshape((i.shape[0], table.shape[1]))
    f = theano.function([table, i, y], T.inc_subtensor(table[i], rows), mode="XLA")
    given = np.ones((8, 5)), np.arange(24) % 7, np.ones((4, 6, 5))
    assert f(*given)[0, 0] == 1 + 4
    (text,) = compiled_texts(f)
    assert "scatter" in text
    assert not [line for line in text.splitlines() if " copy(" in line and "[24," in line]
