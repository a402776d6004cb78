"""Mistakes with `theano.function(..., data_parallel=...)`, on two virtual devices."""

import pytest

from tests_scan_grad.gpuarray.checks import complaints, names_of

pytest.importorskip("jax")


@pytest.mark.parametrize("name", names_of("split_mistakes"))
def test_what_is_said(name):
    assert complaints("split_mistakes", "")[name] == ""
