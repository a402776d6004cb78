"""Random loops and their gradients in mode 'XLA' and by PyTensor's Python linker."""

from __future__ import annotations

import pytest
from hypothesis import given

import theano
from tests_scan_grad.generated.generated_loops import FAMILIES, loops, share_of_loops
from tests_scan_grad.loop_runs import WRONG_REWRITES, check_against_python
from theano.compile.mode import get_mode

pytest.importorskip("jax")


@pytest.mark.parametrize("bucket_lengths", ["off", "4"])
@pytest.mark.parametrize("family", FAMILIES)
def test_generated_loops(family, bucket_lengths):
    # XLA compiles each for a second or two
    @share_of_loops(15 * len(FAMILIES))
    @given(loops(family))
    def check(loop):
        with theano.change_flags({"xla.bucket_lengths": bucket_lengths}):
            check_against_python(loop, get_mode("XLA").excluding(*WRONG_REWRITES))

    check()
