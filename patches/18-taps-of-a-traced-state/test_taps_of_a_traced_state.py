import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pymc.logprob.basic import logp
from scipy.stats import norm


def trace_of(taps, start):
    def step(*before):
        return pt.random.normal(sum(0.1 * (k + 1) * row for k, row in enumerate(before)), 1.0)

    state = {"initial": pt.constant(start), "taps": taps}
    return pytensor.scan(step, outputs_info=[state], n_steps=7, return_updates=False)


@pytest.mark.parametrize(
    "taps", [[-2], [-2, -1], [-3, -1], [-4, -3], [-4, -3, -1], [-12, -1], [-5, -3, -2]], ids=str
)
def test_rows_that_taps_read(taps):
    """The density is that of a loop over the rows, whatever lies between the taps."""
    rows = np.random.default_rng(1).normal(size=-min(taps) + 7)
    first = -min(taps)
    trace = trace_of(taps, rows[:first])
    value = trace.clone()
    found = logp(trace, value).eval({value: rows[first:]}, mode="FAST_COMPILE")
    expected = []
    for at in range(first, len(rows)):
        mean = sum(0.1 * (k + 1) * rows[at + tap] for k, tap in enumerate(taps))
        expected.append(norm.logpdf(rows[at], mean, 1.0))
    np.testing.assert_allclose(found, expected)
