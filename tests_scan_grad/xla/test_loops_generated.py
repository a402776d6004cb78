"""Random loops and their gradients in mode 'XLA' and by PyTensor's Python linker."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

import theano
from tests_scan_grad.generated_loops import FAMILIES, LoopDescription, describe, loops
from tests_scan_grad.loop_runs import WRONG_REWRITES, CompiledLoop, difference, rewritten_mode
from theano.compile.mode import get_mode

pytest.importorskip("jax")


def _result(compiled: CompiledLoop):
    try:
        return compiled()
    except IndexError as error:
        # an until stopped the loop before the step that the cost reads
        return error


def _check(loop: LoopDescription) -> None:
    with theano.change_flags({"scan.save": loop.save}):
        ours = CompiledLoop(loop, theano.scan, get_mode("XLA").excluding(*WRONG_REWRITES))
        python = CompiledLoop(loop, theano.scan, rewritten_mode())
    actual, expected = _result(ours), _result(python)
    if isinstance(expected, IndexError):
        assert isinstance(actual, IndexError)
        return
    wrong = difference(actual, expected)
    assert wrong is None, f"{wrong}, in\n{describe(loop)}"


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_loops(family):
    profile = settings.get_profile("generated_loops")
    # XLA compiles each for a second or two
    share = max(1, profile.max_examples // (15 * len(FAMILIES)))

    @settings(profile, max_examples=share)
    @given(loops(family))
    def check(loop):
        _check(loop)

    check()
