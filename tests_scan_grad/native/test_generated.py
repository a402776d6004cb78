"""Random loops and their gradients by the native engine and by PyTensor's Python linker."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests_scan_grad.generated.generated_loops import FAMILIES, loops, share_of_loops
from tests_scan_grad.loop_runs import WRONG_REWRITES, check_against_python
from theano.compile.mode import OPT_FAST_RUN, Mode
from theano.link.native import NativeLinker


def native_mode() -> Mode:
    linker = NativeLinker(use_cloop=False, c_thunks=False)
    return Mode(linker, OPT_FAST_RUN).excluding(*WRONG_REWRITES)


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_loops(family):
    @share_of_loops(4 * len(FAMILIES))
    @given(loops(family))
    def check(loop):
        check_against_python(loop, native_mode())

    check()
