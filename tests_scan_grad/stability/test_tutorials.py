"""Networks of Theano's tutorials on unscaled data: what Theano 1.0.5 gave, and no nan besides."""

import json
import lzma
from pathlib import Path

import numpy as np
import pytest

import theano
from tests_scan_grad.stability.tutorials import CASES, trained

# `tutorials.py` on Python 3.8 wrote it
OF_THEANO_1_0_5 = Path(__file__).with_name("tutorials_of_theano_1_0_5.json.xz")


@pytest.fixture(scope="module")
def stored():
    cases = json.loads(lzma.decompress(OF_THEANO_1_0_5.read_bytes()))
    return {tuple(case): steps for case, steps in cases}


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_a_network_learns_what_theano_learned(case, stored):
    with theano.config.change_flags(floatX=case[1]):
        found = np.array(trained(theano, *case))
    known = np.array(stored[case])
    assert np.isfinite(found[np.isfinite(known)]).all()
    # later steps amplify roundings
    tolerance = 1e-12 if case[1] == "float64" else 1e-4
    np.testing.assert_allclose(found[0], known[0], rtol=tolerance, atol=tolerance)
