"""Modes in which Python runs operations: any number of operands, and no C compiler."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import printed_by
from theano.compile import DebugMode, MonitorMode
from theano.compile.mode_components import linkers
from theano.pytensor_internals.functions.linking import VMLinker


@pytest.fixture
def x():
    return T.matrix("x", dtype="float64")


# modes in which Python runs operations
BY_PYTHON = {
    "FAST_COMPILE": lambda: "FAST_COMPILE",
    "py": lambda: theano.Mode(linker="py"),
    "py, fused": lambda: theano.Mode(linker="py").including("fusion"),
    "vm": lambda: theano.Mode(VMLinker(use_cloop=False, c_thunks=False)),
    "NanGuardMode": lambda: "NanGuardMode",
    "MonitorMode": MonitorMode,
    "DebugMode": lambda: DebugMode(check_c_code=False),
}


@pytest.mark.parametrize("mode", BY_PYTHON)
@pytest.mark.parametrize("operands", [31, 32, 100])
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_python_adds_and_multiplies_any_number_of_operands(operands, dtype, mode):
    given = [T.TensorType(dtype, (None,))() for _ in range(operands)]
    total, product = given[0], given[0]
    for operand in given[1:]:
        total, product = total + operand, product * operand
    f = theano.function(given, [total, product], mode=BY_PYTHON[mode]())
    values = np.random.default_rng(0).choice([-1, 1, 1], (operands, 3)).astype(dtype)
    for result, expected in zip(f(*values), (values.sum(0), values.prod(0)), strict=True):
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("mode", BY_PYTHON)
def test_python_computes_an_expression_of_any_number_of_operands(mode):
    given = [T.dvector() for _ in range(40)]
    total = given[0]
    for operand in given[1:]:
        total = total * T.tanh(operand) + operand
    h, _ = theano.scan(lambda u: u * total, sequences=given[0])
    f = theano.function(given, [total, h], mode=BY_PYTHON[mode]())
    values = np.random.default_rng(0).normal(size=(40, 3))
    expected = values[0]
    for value in values[1:]:
        expected = expected * np.tanh(value) + value
    results = f(*values)
    np.testing.assert_allclose(results[0], expected)
    np.testing.assert_allclose(results[1], np.outer(values[0], expected))


NO_COMPILER = """
import warnings
import theano, theano.tensor as T
x = T.vector("x")
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for _ in range(2):
        f = theano.function([x], T.exp(x).sum(), mode=theano.Mode(LINKER))
print(f([0.0, 0.0]), f.maker.linker.use_cloop)
print([str(w.message) for w in seen if "compiler" in str(w.message)])
print([w.filename for w in seen if "compiler" in str(w.message)])
"""


def test_without_a_compiler_python_runs_with_one_warning():
    code = NO_COMPILER.replace("LINKER", "'pytensor_cvm'")
    value, messages, files = printed_by(code, THEANO_FLAGS="cxx=")
    assert value == "2.0 False"
    assert messages.count("No C++ compiler was found") == 1
    assert "'pytensor_vm' runs in place of 'pytensor_cvm'" in messages
    assert files == "['<string>']"


# LLVM compiles, too, unless it may not
NO_LLVM = "cxx=,native.compiler=cc"


def test_without_a_c_compiler_the_default_runs_with_one_warning():
    code = NO_COMPILER.replace("LINKER", "None")
    value, messages, files = printed_by(code, THEANO_FLAGS=NO_LLVM, CC="no-such-compiler")
    assert value == "2.0 False"
    assert messages.count("No C compiler was found") == 1
    assert "Python runs in place of 'native'" in messages
    assert files == "['<string>']"


@pytest.mark.parametrize("name", ["cvm", "c|py_nogc"])
def test_without_a_c_compiler_theanos_names_run_python_with_one_warning(name):
    code = NO_COMPILER.replace("LINKER", repr(name))
    value, messages, _ = printed_by(code, THEANO_FLAGS=NO_LLVM, CC="no-such-compiler")
    assert value == "2.0 False"
    assert messages.count("No C compiler was found") == 1
    assert f"Python runs in place of {name!r}" in messages


def test_without_pythons_headers_python_runs(monkeypatch, x):
    monkeypatch.setattr(linkers, "_warned_of_no_compiler", set())
    monkeypatch.setattr(linkers.sysconfig, "get_path", lambda name: "/nowhere")
    with pytest.warns(UserWarning, match="Python's C headers are missing.*/nowhere"):
        f = theano.function([x], T.exp(x).sum(), mode=theano.Mode("pytensor_cvm"))
    assert not f.maker.linker.use_cloop and not f.maker.linker.c_thunks
    np.testing.assert_allclose(f(np.full((2, 2), 3.0)), 4 * np.exp(3))
