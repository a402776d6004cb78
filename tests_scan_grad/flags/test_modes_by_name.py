"""Each mode, linker and optimizer by name, as an argument: equal results, or the error that is meant."""

import pytest

import theano
from tests_scan_grad.flags import programs
from tests_scan_grad.flags.agreement import Expected, assert_as_without, here
from tests_scan_grad.flags.settings import SLOW
from theano.compile.mode import named_modes
from theano.compile.mode import predefined_linkers as linkers
from theano.compile.mode import predefined_optimizers as optimizers


@pytest.fixture(scope="module")
def expected():
    return Expected()


def with_mode(mode):
    """Return what the programs compute with a mode that is passed as an argument, or the error."""
    try:
        return programs.results(mode())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", [name for name in named_modes if ("mode", name) not in SLOW])
def test_modes(name, expected):
    assert_as_without(with_mode(lambda: name), expected, ("mode", name))


@pytest.mark.all_flags
@pytest.mark.parametrize("name", [name for name in named_modes if ("mode", name) in SLOW])
def test_modes_that_run_slowly(name, expected):
    assert_as_without(with_mode(lambda: name), expected, ("mode", name))


LINKERS = sorted(map(str, linkers))


@pytest.mark.parametrize("name", [name for name in LINKERS if ("linker", name) not in SLOW])
def test_linkers(name, expected):
    assert_as_without(with_mode(lambda: theano.Mode(name)), expected, ("linker", name))


@pytest.mark.all_flags
@pytest.mark.parametrize("name", [name for name in LINKERS if ("linker", name) in SLOW])
def test_linkers_that_compile_each_operation(name, expected):
    assert_as_without(with_mode(lambda: theano.Mode(name)), expected, ("linker", name))


@pytest.mark.parametrize("name", sorted(map(str, optimizers)))
def test_optimizers(name, expected):
    found = with_mode(lambda: theano.Mode(optimizer=name))
    assert_as_without(found, expected, ("optimizer", name))


@pytest.mark.parametrize("linker", ["py", "xla", "native"])
@pytest.mark.parametrize("optimizer", ["None", "merge", "stabilize"])
def test_linkers_with_few_rewrites(linker, optimizer, expected):
    chosen = (("linker", linker), ("optimizer", optimizer))
    assert_as_without(here(*chosen), expected, *chosen)
