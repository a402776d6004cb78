"""Numbers of threads that loops get, by the cost of a barrier."""

import os
import subprocess
import sys

import pytest

from tests_scan_grad.native.runtime import runtime_calls

# nanoseconds of work of a thread in a phase: always worth a barrier, and never
ENOUGH, TOO_LITTLE = 4000, 700
MANY = 10**6

UNKNOWN = """
from tests_scan_grad.native.runtime import runtime_calls
runtime_calls.set_threads(2)
print(runtime_calls.barrier_time(2, may_measure=False))
print(runtime_calls.threads_for(3000, phases=10), runtime_calls.threads_for(8000, phases=10))
print(runtime_calls.barrier_time(2, may_measure=False))
"""


@pytest.fixture(autouse=True)
def two_threads(threads):
    threads(2)
    runtime_calls.set_oversubscribed(-1)


def test_much_work_is_shared_and_little_is_not():
    assert runtime_calls.threads_for(2 * ENOUGH, MANY) == 2
    assert runtime_calls.threads_for(2 * TOO_LITTLE - 1, MANY) == 1
    # what is over sooner than a thread wakes
    assert runtime_calls.threads_for(2 * ENOUGH, 1) == 1


def test_what_lies_between_is_shared_where_threads_meet_quickly():
    for _ in range(50):
        barrier = runtime_calls.barrier_time(2, may_measure=True)
        assert barrier > 0
        worth = min(max(12 * barrier, TOO_LITTLE), ENOUGH)
        more, less = (runtime_calls.threads_for(2 * worth + d, MANY) for d in (2, -2))
        if runtime_calls.barrier_time(2, may_measure=False) == barrier:
            break
    assert (more, less) == (2, 1)


def test_short_loops_do_not_wait_for_the_measurement():
    done = subprocess.run(
        [sys.executable, "-c", UNKNOWN],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["-1", "1", "2", "-1"], done.stderr
