"""Random expressions by the engine, in loops and as functions, and by each operation's perform."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from pytensor.graph.traversal import ancestors

from tests_scan_grad.native.lowering.evaluations import EVALUATORS, RELATIVE
from tests_scan_grad.native.lowering.expressions import Expressions, Item
from tests_scan_grad.native.lowering.generated_expressions import expressions

EXAMPLES = 25


def difference(actual: np.ndarray, item: Item, scale: float) -> str | None:
    """Say how a result differs from the value that was expected, if it does."""
    expected, actual = item.value, np.asarray(actual)
    if (actual.shape, actual.dtype) != (expected.shape, expected.dtype):
        return f"{actual.dtype}{actual.shape} instead of {expected.dtype}{expected.shape}"
    tolerance = 0.0
    if expected.dtype.kind == "f":
        used = {getattr(variable.type, "dtype", "") for variable in ancestors([item.variable])}
        tolerance = RELATIVE["float32" if "float32" in used else "float64"]
    if np.allclose(actual, expected, tolerance, tolerance * scale, equal_nan=True):
        return None
    return f"{actual.tolist()} instead of {expected.tolist()}"


def compare(case: Expressions, where: str) -> None:
    """Compare all outputs of generated expressions."""
    variables = [item.variable for item in case.inputs]
    evaluate = EVALUATORS[where](variables, [item.variable for item in case.outputs])
    results = evaluate(*(item.value for item in case.inputs))
    # what may have been added and subtracted again on the way
    scale = 100.0
    for actual, item in zip(results, case.outputs, strict=True):
        wrong = difference(actual, item, scale)
        assert wrong is None, f"{wrong} for {item.variable.owner} in a {where}\n{case!r}"


@pytest.mark.parametrize("where", EVALUATORS)
def test_generated_expressions(where):
    profile = settings.get_profile("generated_loops")
    examples = max(EXAMPLES, profile.max_examples // 8)

    @settings(profile, max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(expressions())
    def check(case):
        compare(case, where)

    check()
