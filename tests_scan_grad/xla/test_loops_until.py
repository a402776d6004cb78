"""Loops of mode 'XLA' that stop early."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.xla.loop_programs import agree

pytest.importorskip("jax")

X = np.random.default_rng(5).uniform(0.1, 1, (6, 3))
# stops in no step, in the first one, in the third
BOUNDS = (100.0, 0.0, 4.0)


def summed(x, bound, **kwargs):
    """Running sums of rows, until their sum is above a bound."""
    outputs, _ = theano.scan(
        lambda x, s: ((s + x), theano.scan_module.until((s + x).sum() > bound)),
        sequences=[x],
        outputs_info=[T.zeros_like(x[0])],
        **kwargs,
    )
    return outputs


def test_the_last_value_is_known_to_be_one_row():
    x, bound = T.dmatrix("x"), T.dscalar("bound")
    s = summed(x, bound)
    f = agree([x, bound], [s[-1], s[-1].sum()], *((X, b) for b in BOUNDS))
    assert len(f.vm.plan.stages) == 1
