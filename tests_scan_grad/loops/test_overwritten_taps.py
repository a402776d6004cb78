"""Loops whose steps return taps that they overwrite, or views of them, by PyTensor's machine and in C."""

import numpy as np
import pytest
from pytensor.scan.op import ScanInfo

import theano
import theano.tensor as T
from theano.scan_module.scan_op import Scan

STEPS = 4

# taps of each state, how many outputs are given besides, and a step: of all taps the new values, and those
STEPS_THAT_RETURN_TAPS = {
    "a tap": ([1], 1, lambda a: ([2 * a], [a])),
    "a tap, twice": ([1], 2, lambda a: ([2 * a], [a, a])),
    "a tap that keeps its value": ([1], 1, lambda a: ([a], [a])),
    "a tap that is turned around": ([1], 1, lambda a: ([a[::-1]], [a])),
    "a view of a tap": ([1], 1, lambda a: ([2 * a + 1], [a[::-1]])),
    "a tap that is the new value of another": ([2], 1, lambda a, b: ([b, a + b], [a])),
    "two taps that change places": ([2], 0, lambda a, b: ([b, a], [])),
    "views that change places": ([2], 0, lambda a, b: ([b[::-1], a[::-1]], [])),
    "two states that change places": ([1, 1], 0, lambda a, b: ([b, a], [])),
    "states with two taps and with one": (
        [2, 1],
        3,
        lambda a, b, c: ([a + c, c, b], [c[::-1], b, a]),
    ),
    "no tap": ([1], 1, lambda a: ([2 * a], [3 * a])),
}


def loop(taps_of_states, given, step):
    """Return the inputs and results of a loop that overwrites all rows that it reads."""
    count = T.lscalar("count")
    buffers = [T.dmatrix(f"rows{k}") for k in range(len(taps_of_states))]
    taps = [T.dvector(f"tap{k}") for k in range(sum(taps_of_states))]
    new, others = step(*taps)
    slices = tuple(tuple(range(number)) for number in taps_of_states)
    info = ScanInfo(
        n_seqs=0,
        mit_mot_in_slices=slices,
        mit_mot_out_slices=slices,
        mit_sot_in_slices=(),
        sit_sot_in_slices=(),
        n_nit_sot=given,
        n_untraced_sit_sot=0,
        n_non_seqs=0,
        as_while=False,
    )
    results = Scan(taps, [*new, *others], info)(count, *buffers, *[count] * given, return_list=True)
    return [count, *buffers], results


def loop_in_numpy(taps_of_states, given, step, buffers):
    buffers = [rows.copy() for rows in buffers]
    places = [(state, tap) for state, number in enumerate(taps_of_states) for tap in range(number)]
    all_others = [[] for _ in range(given)]
    for k in range(STEPS):
        new, others = step(*(buffers[state][k + tap].copy() for state, tap in places))
        for rows, row in zip(all_others, others, strict=True):
            rows.append(row)
        for (state, tap), row in zip(places, new, strict=True):
            buffers[state][k + tap] = row
    return [*buffers, *map(np.array, all_others)]


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", "NATIVE"])
@pytest.mark.parametrize("name", STEPS_THAT_RETURN_TAPS)
def test_rows_are_those_of_the_loop_in_numpy(name, mode):
    taps_of_states, given, step = STEPS_THAT_RETURN_TAPS[name]
    random = np.random.default_rng(7)
    buffers = [random.normal(size=(STEPS + number - 1, 3)) for number in taps_of_states]
    function = theano.function(*loop(taps_of_states, given, step), mode=mode)
    expected = loop_in_numpy(taps_of_states, given, step, buffers)
    for _ in range(2):
        for found, wanted in zip(function(STEPS, *buffers), expected, strict=True):
            np.testing.assert_allclose(found, wanted)
