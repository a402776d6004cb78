"""`theano.function(..., data_parallel=...)`, on two virtual devices in their own process."""

import pytest

from tests_scan_grad.gpuarray.checks import complaints, names_of

pytest.importorskip("jax")

NAMES = [(module, name) for module in ("split_steps", "split_draws") for name in names_of(module)]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_on_two_devices(module, name):
    assert complaints(module, "")[name] == ""


@pytest.mark.parametrize("module", ["split_steps", "split_draws"])
def test_all_checks_ran(module):
    assert sorted(complaints(module, "")) == sorted(names_of(module))
