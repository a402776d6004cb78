"""Parts of work that threads of the pool take as they come, so that nobody waits for one without a processor."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tests_scan_grad.native.runtime import runtime_calls


@pytest.fixture(autouse=True)
def usual_threads():
    yield
    runtime_calls.set_threads(0)


def parts_of_a_run(threads, work=lambda part: None):
    """Return which parts were done, of how many, and by which threads."""
    done = []

    def noted(part, parts):
        work(part)
        done.append((part, parts, threading.get_ident()))

    runtime_calls.share_in_pool(threads, noted)
    return sorted(done)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_each_part_is_done_once(threads):
    runtime_calls.set_threads(threads)
    for _ in range(50):
        done = parts_of_a_run(threads)
        (parts,) = {parts for _, parts, _ in done}
        assert [part for part, _, _ in done] == list(range(parts))
        assert parts % threads == 0


def test_no_more_threads_than_allowed():
    runtime_calls.set_threads(2)
    for _ in range(20):
        assert len({thread for _, _, thread in parts_of_a_run(16)}) <= 2


def test_work_inside_work_is_one_part():
    runtime_calls.set_threads(2)
    inner = []
    parts_of_a_run(2, lambda part: inner.append([k for k, *_ in parts_of_a_run(2)]))
    assert all(parts == [0] for parts in inner)


def test_the_caller_does_what_a_thread_without_a_processor_has_not_begun():
    """A worker does not come back from its part before the caller has done all others."""
    runtime_calls.set_threads(2)
    caller = threading.get_ident()

    def late(part):
        if threading.get_ident() != caller:
            threading.Event().wait(0.05)

    for _ in range(3):
        parts_of_a_run(2, late)
    others_done, done_by_caller = threading.Event(), []

    def one_at_a_time(part):
        if threading.get_ident() == caller:
            done_by_caller.append(part)
            if len(done_by_caller) == 7:
                others_done.set()
        else:
            assert others_done.wait(60)

    done = parts_of_a_run(2, one_at_a_time)
    # they are small now, since a thread was late
    assert [part for part, _, _ in done] == list(range(8))
    assert len(done_by_caller) in (7, 8)


def test_products_are_the_same_bits_in_parts_of_any_size():
    a, b = (np.random.default_rng(k).normal(size=(300, 300)).astype("float32") for k in range(2))
    results = []
    for threads in (1, 2, 3):
        runtime_calls.set_threads(threads)
        for _ in range(5):
            c = np.full((300, 300), np.nan, "float32")
            runtime_calls.multiply(a, b, c)
            results.append(c)
            parts_of_a_run(threads, lambda part: threading.Event().wait(0.01 * part))
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])
