"""Costs of threads that work together, measured: barriers, others' results, memory."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass

from tests_scan_grad.timing.measuring.c_code import compiled

ROUNDS, MEETINGS = 40, 12
# A barrier that takes longer has waited for a processor; so often it is tried again.
BOTH_RUN, TRIES = 1e-6, 50
# What a thread reads that another has just written, of the size of a small batch's states; and what no
# cache holds.
EXCHANGED_BYTES, STREAMED_BYTES = 1 << 17, 1 << 26
# How many threads arrive on one line of the runtime's barrier before one of them goes on to the next.
ARRIVALS_ON_A_LINE = 4

PROGRAM = """
#include <stdint.h>
struct trial {
    void (*barrier)(int threads);
    int64_t (*now)(void);
    double *numbers;
    int64_t count, rounds, least;
    double sum;
};
void exchange(void *context, int thread, int threads)
{
    struct trial *trial = context;
    for (int64_t round = 0; round < trial->rounds; round++) {
        for (int64_t k = 0; !thread && k < trial->count; k++) trial->numbers[k] = (double)(k + round);
        trial->barrier(threads);
        int64_t begin = trial->now();
        double sums[8] = {0};
        for (int64_t k = 0; thread && k < trial->count; k += 8)
            for (int64_t j = 0; j < 8; j++) sums[j] += trial->numbers[k + j];
        int64_t took = trial->now() - begin;
        if (thread && took < trial->least) trial->least = took;
        for (int64_t j = 0; thread && j < 8; j++) trial->sum += sums[j];
        trial->barrier(threads);
    }
}
void meet(void *context, int thread, int threads)
{
    struct trial *trial = context;
    for (int64_t round = 0; round < trial->rounds; round++) {
        int64_t begin = trial->now();
        for (int64_t k = 0; k < trial->count; k++) trial->barrier(threads);
        int64_t took = trial->now() - begin;
        if (!thread && took < trial->least) trial->least = took;
    }
}
void stream(void *context, int thread, int threads)
{
    struct trial *trial = context;
    int64_t first = trial->count * thread / threads, end = trial->count * (thread + 1) / threads;
    for (int64_t round = 0; round < trial->rounds; round++) {
        trial->barrier(threads);
        int64_t begin = trial->now();
        for (int64_t k = first; k < end; k++) trial->numbers[k] += 1;
        trial->barrier(threads);
        int64_t took = trial->now() - begin;
        if (!thread && took < trial->least) trial->least = took;
    }
}
"""


class _Trial(ctypes.Structure):
    _fields_ = [
        ("barrier", ctypes.c_void_p),
        ("now", ctypes.c_void_p),
        ("numbers", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("rounds", ctypes.c_int64),
        ("least", ctypes.c_int64),
        ("sum", ctypes.c_double),
    ]


@dataclass(frozen=True)
class Prices:
    """Costs of work beyond one thread's arithmetic.

    Parameters
    ----------
    barrier
        Seconds of a barrier of two threads.
    exchanged
        Bytes a second that a thread reads of what another has written.
    streamed, streamed_by_two
        Bytes a second that come from memory or go there, for one thread and for two.
    """

    barrier: float
    exchanged: float
    streamed: float
    streamed_by_two: float

    def barrier_of(self, threads: int) -> float:
        """Return the seconds of a barrier: on each line, one thread arrives after the other."""
        arrivals, left = 0, threads
        while left > 1:
            arrivals += min(left, ARRIVALS_ON_A_LINE)
            left = math.ceil(left / ARRIVALS_ON_A_LINE)
        return self.barrier * arrivals / 2

    def streamed_by(self, threads: int) -> float:
        """Return the bytes a second of several threads, whose memory no others share."""
        return self.streamed if threads == 1 else self.streamed_by_two * threads / 2


def measured() -> Prices:
    """Return the prices of this machine's first two processors; of one, those of a thread alone."""
    import numpy as np

    from theano.link.native.runtime.load import library, symbol

    program, runtime = compiled(PROGRAM), library()
    functions = symbol("tn_barrier"), symbol("tn_now")

    def least(name: str, threads: int, count: int, rounds: int) -> float:
        numbers = np.zeros(count)
        trial = _Trial(*functions, numbers.ctypes.data, count, rounds, 1 << 60, 0)
        work = ctypes.cast(getattr(program, name), ctypes.c_void_p)
        runtime.tn_pool_run(threads, work, ctypes.byref(trial))
        return trial.least / 1e9

    runtime.tn_set_threads(2)
    # next to other programs it is seldom that both threads have a processor
    barrier = math.inf
    for _ in range(TRIES):
        barrier = min(barrier, least("meet", 2, MEETINGS, ROUNDS) / MEETINGS)
        if barrier < BOTH_RUN:
            break
    exchanged = least("exchange", 2, EXCHANGED_BYTES // 8, ROUNDS)
    # what is added to is read and written
    one, two = (least("stream", n, STREAMED_BYTES // 8, 4) for n in (1, 2))
    return Prices(
        barrier, EXCHANGED_BYTES / exchanged, 2 * STREAMED_BYTES / one, 2 * STREAMED_BYTES / two
    )
