"""Random expressions in mode 'XLA' and by each operation's own ``perform``."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import theano
from tests_scan_grad.native.lowering.generated_expressions import expressions
from tests_scan_grad.native.lowering.test_lowering_generated import difference

pytest.importorskip("jax")

# Each is compiled by XLA, which takes its time.
EXAMPLES = 30
# What may have been added and subtracted again on the way.
SCALE = 100.0


def test_generated_expressions():
    profile = settings.get_profile("generated_loops")
    examples = max(EXAMPLES, profile.max_examples // 17)

    @settings(profile, max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(expressions())
    def check(case):
        function = theano.function(
            [item.variable for item in case.inputs],
            [item.variable for item in case.outputs],
            mode=theano.Mode("xla", None),
            on_unused_input="ignore",
        )
        with np.errstate(all="ignore"):
            results = function(*(item.value for item in case.inputs))
        for actual, item in zip(results, case.outputs, strict=True):
            wrong = difference(actual, item, SCALE)
            assert wrong is None, f"{wrong} for {item.variable.owner}\n{case!r}"

    check()
