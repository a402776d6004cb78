"""Random loops and their gradients by the native engine and by PyTensor's Python linker."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

import theano
from tests_scan_grad.generated_loops import FAMILIES, LoopDescription, describe, loops
from tests_scan_grad.loop_runs import (
    WRONG_REWRITES,
    CompiledLoop,
    difference,
    rewritten_mode,
)
from theano.compile.mode import OPT_FAST_RUN, Mode
from theano.link.native import NativeLinker


def native_mode() -> Mode:
    linker = NativeLinker(use_cloop=False, c_thunks=False)
    return Mode(linker, OPT_FAST_RUN).excluding(*WRONG_REWRITES)


def _result(compiled: CompiledLoop):
    try:
        return compiled()
    except IndexError as error:
        # an until stopped the loop before the step that the cost reads
        return error


def _check(loop: LoopDescription) -> None:
    with theano.change_flags({"scan.save": loop.save}):
        native = CompiledLoop(loop, theano.scan, native_mode())
        python = CompiledLoop(loop, theano.scan, rewritten_mode())
    actual, expected = _result(native), _result(python)
    if isinstance(expected, IndexError):
        assert isinstance(actual, IndexError)
        return
    wrong = difference(actual, expected)
    assert wrong is None, f"{wrong}, in\n{describe(loop)}"


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_loops(family):
    profile = settings.get_profile("generated_loops")
    share = max(1, profile.max_examples // (4 * len(FAMILIES)))

    @settings(profile, max_examples=share)
    @given(loops(family))
    def check(loop):
        _check(loop)

    check()
