"""Generated programs by the C compiler and by LLVM: the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import theano
from tests_scan_grad.generated.generated_loops import FAMILIES, describe, loops
from tests_scan_grad.loop_runs import CompiledLoop
from tests_scan_grad.native.lowering.evaluations import EVALUATORS
from tests_scan_grad.native.lowering.generated_expressions import expressions
from tests_scan_grad.native.test_generated import native_mode
from theano.link import native
from theano.link.native.runtime.build import find_compiler

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
COMPILERS = ("cc", "llvm")
# the C compiler; LLVM; and LLVM as what comes first, which does little about speed
FLAGS = {
    "cc": {"native.compiler": "cc"},
    "llvm": {"native.compiler": "llvm"},
    "quick": {"native.compiler": "auto", "native.quick": True},
}
EXAMPLES = 16
EXAMPLES_OF_LOOPS = 3


def differs(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Return whether any bits differ, except those of NaNs."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
        return True
    if ours.dtype.kind != "f":
        return not np.array_equal(ours, theirs)
    same = (ours == theirs) & (np.signbit(ours) == np.signbit(theirs))
    return not np.all(same | (np.isnan(ours) & np.isnan(theirs)))


def check_same(results: dict, about: str) -> None:
    for name, found in results.items():
        for k, (ours, theirs) in enumerate(zip(found, results["cc"], strict=True)):
            why = f"result {k} by {name} is {ours}, by C {theirs}, of\n{about}"
            assert not differs(ours, theirs), why


@pytest.mark.parametrize("where", EVALUATORS)
def test_generated_expressions(where):
    profile = settings.get_profile("generated_loops")

    @settings(profile, max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @given(expressions())
    def check(case):
        variables = [item.variable for item in case.inputs]
        outputs = [item.variable for item in case.outputs]
        results = {}
        for name, flags in FLAGS.items():
            with theano.change_flags(flags):
                evaluate = EVALUATORS[where](variables, outputs)
                results[name] = evaluate(*(item.value for item in case.inputs))
        check_same(results, repr(case))

    check()


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_loops(family):
    profile = settings.get_profile("generated_loops")

    @settings(profile, max_examples=EXAMPLES_OF_LOOPS, suppress_health_check=list(HealthCheck))
    @given(loops(family))
    def check(loop):
        results = {}
        for compiler in COMPILERS:
            flags = {"native.compiler": compiler, "scan.save": loop.save}
            with theano.change_flags(flags):
                compiled = CompiledLoop(loop, theano.scan, native_mode())
                report = native.report(compiled.function)
                assert report.by_llvm == (compiler == "llvm" and bool(report.segments))
                try:
                    results[compiler] = compiled().results()
                except IndexError:
                    # an until stopped the loop before the step that the cost reads
                    results[compiler] = []
        check_same(results, describe(loop))

    check()
