"""Ctrl-C stops a long loop, and the function can be called again."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import signal, sys, threading, time
import numpy as np
import pytensor
import pytensor.tensor as pt
from tests_scan_grad.native.loops import native_mode, scan
from theano.link.native import report
from theano.link.native.runtime import arrays

arrays.set_threads({threads})
arrays.set_least_work(0)
steps = pt.lscalar("steps")
start = pt.dvector("start")
(y,) = scan(lambda h: pt.tanh(h + 1), outputs_info=[start], n_steps=steps)
function = pytensor.function([start, steps], y[-1], mode=native_mode())
assert not [str(loop) for loop in report(function).loops if loop.reason]
value = np.zeros(500)
expected = function(value, 3)
{before}
begin = time.monotonic()
try:
    function(value, 10**9)
except {kind}:
    late = time.monotonic() - begin - 0.3
    print("stopped", late)
    assert late < 0.5, late
np.testing.assert_array_equal(function(value, 3), expected)
print("again")
"""
# A process that was started in the background ignores Ctrl-C.
SIGNAL = """
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
"""
HANDLER = """
class Enough(Exception):
    pass

def stop(*_):
    raise Enough

signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.3)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("before, kind", [(SIGNAL, "KeyboardInterrupt"), (HANDLER, "Enough")])
def test_a_signal_stops_a_long_loop(threads, before, kind):
    text = PROGRAM.format(threads=threads, before=before, kind=kind)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("stopped") and done.stdout.endswith("again\n")
