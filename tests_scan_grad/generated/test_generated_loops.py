"""Random loops agree with PyTensor's Python linker, unrolled loops and finite differences.

``pytest --generated-loops N`` generates N loops. Nothing here is compiled to C.
"""

from __future__ import annotations

import collections

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import theano
from tests_scan_grad.generated.generated_loops import (
    FAMILIES,
    LoopDescription,
    describe,
    loops,
    share_of_loops,
)
from tests_scan_grad.generated.step_operations import OPERATIONS, SPECIAL
from tests_scan_grad.loop_runs import (
    CompiledLoop,
    Run,
    difference,
    pytensor_scan,
    rewritten_mode,
    slope_difference,
    unrewritten_mode,
)
from tests_scan_grad.unrolled_loops import unrolled_scan

# where PyTensor 3.0.7's own scan is no reference
PYTENSOR_IS_WRONG = {
    "its gradients have wrong values or shapes when a loop stops early": lambda loop: (
        loop.until is not None
    ),
    "it calls gradients through a draw undefined": lambda loop: loop.draws,
    "it reads the first element where a backward loop of one step reads the last": lambda loop: (
        loop.go_backwards and loop.length == 1 and loop.n_steps == "constant"
    ),
}
# not "truncated": a truncated gradient is not the gradient of anything
SECOND_ORDER_FAMILIES = ("any", "gated", "accumulators", "taps", "until", "nested", "draws")


def _reference(loop: LoopDescription, order: int) -> Run:
    """The unrolled loop by PyTensor's Python linker, or the loop where it cannot be unrolled.

    IndexError if the cost reads steps that do not exist.
    """
    if "nested loop with until" in loop.operations:
        return CompiledLoop(loop, pytensor_scan, unrewritten_mode(), order)()
    steps = loop.length
    if loop.until is not None:
        forward = CompiledLoop(loop, pytensor_scan, unrewritten_mode(), order=0)()
        steps = len(forward.outputs[0])
    return CompiledLoop(loop, unrolled_scan, unrewritten_mode(), order, steps)()


def _check(loop: LoopDescription, order: int = 1) -> None:
    with theano.change_flags({"scan.save": loop.save}):
        compiled = CompiledLoop(loop, theano.scan, rewritten_mode(), order)
    try:
        expected = _reference(loop, order)
    except IndexError:
        # an until stopped the loop before the step that the cost reads
        reject()
    run = compiled()
    wrong = difference(run, expected)
    assert wrong is None, f"{wrong}, in\n{describe(loop)}"
    if loop.smooth:
        wrong = slope_difference(compiled, run)
        assert wrong is None, f"{wrong}, in\n{describe(loop)}"
    if order == 1 and not any(applies(loop) for applies in PYTENSOR_IS_WRONG.values()):
        wrong = difference(run, CompiledLoop(loop, pytensor_scan, unrewritten_mode())())
        assert wrong is None, f"{wrong} by PyTensor's gradient, in\n{describe(loop)}"


@pytest.mark.parametrize("family", FAMILIES)
def test_loops_and_their_gradients_are_right(family):
    @share_of_loops(len(FAMILIES))
    @given(loops(family))
    def check(loop):
        _check(loop)

    check()


@pytest.mark.parametrize("family", SECOND_ORDER_FAMILIES)
def test_second_derivatives_are_right(family):
    @share_of_loops(20 * len(SECOND_ORDER_FAMILIES), floor=4)
    @given(loops(family))
    def check(loop):
        _check(loop, order=2)

    check()


def test_the_loops_cover_every_operation_and_every_option():
    seen: collections.Counter = collections.Counter()

    @share_of_loops(1, floor=1000)
    @given(st.data())
    def count(data):
        family = data.draw(st.sampled_from(list(FAMILIES)))
        loop = data.draw(loops(family))
        seen.update(loop.operations)
        seen.update(f"{state.update} {state.taps}" for state in loop.states)
        seen.update(sequence.taps for sequence in loop.sequences)
        seen.update(("read", read) for read in loop.reads)
        for field in ("batch", "n_steps", "go_backwards", "captured", "save", "static"):
            seen[field, getattr(loop, field)] += 1
        seen["truncated", loop.truncate_gradient != -1] += 1
        seen["until", loop.until is not None] += 1

    count()
    for operation in (*OPERATIONS, *SPECIAL):
        assert seen[operation], f"no loop does {operation!r}"
    for taps in ((-1,), (-2,), (-1, -2)):
        for update in ("squash", "linear", "accumulate", "keep"):
            assert seen[f"{update} {taps}"], f"no state with taps {taps} does {update!r}"
    options = {
        "batch": (0, 1, 3),
        "n_steps": ("sequences", "constant", "symbolic"),
        "go_backwards": (False, True),
        "captured": ("arguments", "implicit", "shared"),
        "save": ("auto", "all", "none"),
        "static": (False, True),
        "truncated": (False, True),
        "until": (False, True),
        "read": ("all", "last", "last of rest", "strided", "none"),
    }
    for field, values in options.items():
        for value in values:
            assert seen[field, value], f"no loop has {field} = {value!r}"
    for taps in ((0,), (-1, 0, 2), (1,)):
        assert seen[taps], f"no sequence has taps {taps}"
