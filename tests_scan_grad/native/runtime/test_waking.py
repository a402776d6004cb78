"""Workers of the pool that sleep are woken on other processors than that of their caller."""

import ctypes
import os
import subprocess
import sys

import pytest

from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native.runtime import build
from theano.link.native.runtime.load import symbol

HERE = os.path.dirname(__file__)


# where the system has a thread run depends on what else runs
@pytest.mark.timing
@pytest.mark.skipif(sys.platform != "linux", reason="processors are distinguished on Linux only")
def test_a_worker_that_slept_begins_on_another_processor(tmp_path):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one processor")
    library = tmp_path / "where_threads_run.so"
    source = os.path.join(HERE, "where_threads_run.c")
    subprocess.run([*build.find_compiler(), "-shared", "-fPIC", source, "-o", library], check=True)
    runtime_calls.set_threads(2)
    allowed = os.sched_getaffinity(0)
    run = ctypes.CDLL(str(library)).runs_on_one_processor
    # what else runs may have the system move the caller meanwhile, so that it is asked some times
    counts = [run(ctypes.c_void_p(symbol("tn_pool_run")), 20) for _ in range(5)]
    runtime_calls.set_threads(0)
    # woken where the system likes, up to all 20 were
    assert min(counts) < 10
    # once awake they may be moved anywhere
    masks = [os.sched_getaffinity(int(thread)) for thread in os.listdir("/proc/self/task")]
    assert masks == [allowed] * len(masks)
