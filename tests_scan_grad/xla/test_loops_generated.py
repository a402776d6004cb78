"""Random loops and their gradients in mode 'XLA' and by PyTensor's Python linker."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

import theano
from tests_scan_grad.generated.generated_loops import FAMILIES, loops
from tests_scan_grad.loop_runs import WRONG_REWRITES, check_against_python
from theano.compile.mode import get_mode

pytest.importorskip("jax")


@pytest.mark.parametrize("bucket_lengths", ["off", "4"])
@pytest.mark.parametrize("family", FAMILIES)
def test_generated_loops(family, bucket_lengths):
    profile = settings.get_profile("generated_loops")
    # XLA compiles each for a second or two
    share = max(1, profile.max_examples // (15 * len(FAMILIES)))

    @settings(profile, max_examples=share)
    @given(loops(family))
    def check(loop):
        with theano.change_flags({"xla.bucket_lengths": bucket_lengths}):
            check_against_python(loop, get_mode("XLA").excluding(*WRONG_REWRITES))

    check()
