"""Delicate expressions of every dtype, compared with exact arithmetic and with Theano 1.0.5."""

import json
import lzma
from pathlib import Path

import numpy as np
import pytensor
import pytest
from pytensor.compile.mode import OPT_FAST_RUN, Mode

import theano
from tests_scan_grad.stability import losses
from tests_scan_grad.stability.accuracy import (
    FACTOR,
    errors,
    exact_results,
    narrowest,
    sensitivity,
    worse,
)
from tests_scan_grad.stability.drawing import drawn
from tests_scan_grad.stability.running import arrays_of, results_of

GROUP = 25
# `running.py` on Python 3.8 wrote it: what Theano 1.0.5 gives for the first 1,000 programs
OF_THEANO_1_0_5 = Path(__file__).with_name("of_theano_1_0_5.json.xz")
# XLA rounds a product and a sum once, so that terms that cancel in other engines leave a rounding
LEAST_ON_XLA = 1e-2
REFERENCES = [Mode(linker="py", optimizer=OPT_FAST_RUN), Mode(linker="py", optimizer=None)]


def ours(program, mode=None):
    def compiled(inputs, outputs):
        return theano.function(inputs, outputs, mode=mode, on_unused_input="ignore")

    with theano.config.change_flags(floatX=program["floatX"]):
        return results_of(program, theano, compiled)


def of_reference(program, mode):
    def compiled(inputs, outputs):
        return pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")

    with theano.config.change_flags(floatX=program["floatX"]):
        return results_of(program, theano, compiled)


def faults_of(program, mode=None, stored=None):
    """Return a message if a program is worse than PyTensor's rewrites, and than none.

    How much its results move where its leaves are rounded is no fault.
    """
    results = ours(program, mode)
    assert not isinstance(results, str), (program, results)
    right, dtype = exact_results(program), narrowest(program)
    least = LEAST_ON_XLA if mode == "XLA" else 0.0
    found = errors(results, right, dtype, least)
    if not worse(found, [[0.0] * len(found)], dtype):
        return []
    references = [of_reference(program, mode) for mode in REFERENCES]
    known = [errors(each, right, dtype, least) for each in references if not isinstance(each, str)]
    faults = worse(found, known, dtype)
    if faults:
        inherent = sensitivity(program, right, dtype)
        faults = [k for k in faults if not found[k] <= FACTOR * inherent[k]]
    if stored is not None:
        # right to half of its digits, and no number here
        old = errors(stored, right, dtype)
        half = np.sqrt(np.finfo(dtype).eps)
        faults += [
            k for k, e in enumerate(found) if e == np.inf and old[k] is not None and old[k] < half
        ]
    return [(program["seed"], program["expression"], program["cost"], found)] if faults else []


@pytest.fixture(scope="module")
def stored():
    return json.loads(lzma.decompress(OF_THEANO_1_0_5.read_bytes()))


def check_group(first, stored, mode=None):
    faults = []
    for seed in range(first, first + GROUP):
        faults += faults_of(drawn(seed), mode, stored[seed] if seed < len(stored) else None)
    assert not faults


@pytest.mark.parametrize("first", range(0, 300, GROUP))
def test_programs_are_as_right_as_they_can_be(first, stored):
    check_group(first, stored)


@pytest.mark.parametrize("first", range(300, 1000, GROUP))
def test_more_programs_are_as_right_as_they_can_be(first, stored):
    check_group(first, stored)


@pytest.mark.parametrize("first", range(1000, 1000 + 2 * GROUP, GROUP))
def test_programs_on_xla_are_as_right_as_they_can_be(first, stored):
    pytest.importorskip("jax")
    check_group(first, stored, "XLA")


def loss_faults(programs, mode=None):
    """Return the losses whose value or gradient is not that of exact arithmetic."""
    faults = []
    for program in programs:
        results, dtype = ours(program, mode), narrowest(program)
        assert not isinstance(results, str), (program, results)
        right = [float(v) for each in exact_results(program) for v in np.ravel(each)]
        # what cancels is right to the size of its terms: an input times a probability
        size = max(1.0, *(abs(v).max() for v in [*arrays_of(program).values()]))
        bound = (1e-5 if dtype == "float32" else 1e-13) * size
        if not np.allclose(np.concatenate(results), right, rtol=1e3 * bound / size, atol=bound):
            faults.append((program["seed"], results, right))
    return faults


LOSSES, LOSSES_IN_LOOPS = losses.programs(), losses.programs_in_loops()


@pytest.mark.parametrize("first", range(19))
def test_losses_are_right(first):
    assert not loss_faults(LOSSES[first :: 19 * 8])


@pytest.mark.parametrize("first", range(19))
def test_more_losses_are_right(first):
    assert not loss_faults(LOSSES[first :: 19 * 3])


@pytest.mark.parametrize("first", range(4))
def test_losses_in_loops_are_right(first):
    assert not loss_faults(LOSSES_IN_LOOPS[first :: 4 * 17])


def test_losses_on_xla_are_right():
    pytest.importorskip("jax")
    assert not loss_faults(LOSSES[::67], "XLA")
