"""The statements of a network's training step, each with the time that one thread takes for it."""

from __future__ import annotations

import time
from collections import defaultdict
from operator import itemgetter
from typing import Any

import theano
from tests_scan_grad.timing.measuring.scaling_parts import Counted, Measured
from tests_scan_grad.timing.programs.network_programs import ours
from tests_scan_grad.timing.programs.networks import Network
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.pipeline import PASSES, watched_passes
from theano.link.native.run.profile import Measurements, measurements_of
from theano.link.native.runtime.load import library

CALLS = 5
# what the counters of a call say, in their order
Spent = list[dict[str, float]]


def measured_functions(network: Network, calls: int = CALLS) -> dict[str, Measured]:
    """Return the C functions of a training step by their names.

    Of each statement the least time in some calls counts, as far as this process had the processor then.
    """
    lowered: dict[str, Loop | Segment] = {}

    def watch(one: Loop | Segment, name: str) -> None:
        if name == PASSES[-1].change.__name__:
            lowered[one.step.name] = one

    stats = theano.ProfileStats(atexit_print=False)
    with watched_passes(watch):
        step = ours(network, profile=stats)
    arrays = network.arrays()
    library().tn_set_threads(1)
    try:
        step(arrays)
        measurements = next(m for m in map(measurements_of, stats.graphs) if m is not None)
        tries = [_spent(measurements, step, arrays) for _ in range(calls)]
    finally:
        library().tn_set_threads(0)
    least = [min(each, key=itemgetter("nanoseconds")) for each in zip(*tries, strict=True)]
    return _functions(lowered, measurements, least)


def _spent(measurements: Measurements, step: Any, arrays: Any) -> Spent:
    """Return what the counters count in one call."""
    before = [numbers for _, numbers in measurements.read()]
    begin, begin_used = time.perf_counter(), time.process_time()
    step(arrays)
    used = time.process_time() - begin_used
    had = min(1.0, used / (time.perf_counter() - begin))
    after = [numbers for _, numbers in measurements.read()]
    spent = [
        {name: now[name] - then[name] for name in now}
        for then, now in zip(before, after, strict=True)
    ]
    return [numbers | {"nanoseconds": had * numbers["nanoseconds"]} for numbers in spent]


def _functions(
    lowered: dict[str, Loop | Segment], measurements: Measurements, spent: Spent
) -> dict[str, Measured]:
    """Return the functions, with what each statement took and the sizes that values had."""
    counted: dict[str, list[Counted]] = defaultdict(list)
    seconds: dict[str, float] = defaultdict(float)
    called: dict[str, float] = defaultdict(float)
    for (counter, _), numbers in zip(measurements.read(), spent, strict=True):
        took = numbers["nanoseconds"] / 1e9
        seconds[counter.function] += took
        if counter.called:
            called[counter.called] += took
        if counter.kind == "statement":
            counted[counter.function].append(
                Counted(
                    counter.text, took, numbers["calls"], numbers["operations"], numbers["bytes"]
                )
            )
    shapes = measurements.shapes()
    sizes: dict[str, dict[Any, int]] = defaultdict(dict)
    for known, shape in shapes.items():
        one = lowered[known.function]
        value = one.step.values[known.variable]
        for size, number in zip(value.shape, shape, strict=True):
            sizes[known.function][one.step.sizes.find(size)] = number
    return {
        name: Measured(
            lowered[name],
            counted[name],
            sizes[name],
            # of a loop, what its caller counts besides
            max(0.0, called[name] - sum(each.seconds for each in counted[name])),
        )
        for name in counted
    }
