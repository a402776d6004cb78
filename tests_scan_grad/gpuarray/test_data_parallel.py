"""`theano.function(..., data_parallel=...)`, on two virtual devices in a process of their own."""

import pytest

from tests_scan_grad.gpuarray.checks import complaints, names_of

pytest.importorskip("jax")

NAMES = names_of("split_steps")


@pytest.mark.parametrize("name", NAMES)
def test_on_two_devices(name):
    assert complaints("split_steps", "")[name] == ""


def test_all_checks_ran():
    assert sorted(complaints("split_steps", "")) == sorted(NAMES)
