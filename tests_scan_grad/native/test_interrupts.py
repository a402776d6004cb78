"""Ctrl-C stops a long loop, and the function can be called again."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
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


PRODUCTS = """
import signal, threading, time
import numpy as np
import theano, theano.tensor as T
from theano.link.native import report
from theano.link.native.runtime import arrays

arrays.set_threads({threads})
x = T.matrix("x")
w = theano.shared(np.eye(2000), "w")
calls = theano.shared(0, "calls")
product = {graph}
updates = [(w, w - 0.5 * product), (calls, calls + 1)]
f = theano.function([x], product.sum(), updates=updates, mode="NATIVE")
assert report(f).segments
eye = np.eye(2000)
begin = time.monotonic()
f(eye)
whole = time.monotonic() - begin
before = w.get_value(), calls.get_value()
signal.signal(signal.SIGINT, signal.default_int_handler)
sent = []

def send():
    sent.append(time.monotonic())
    signal.raise_signal(signal.SIGINT)

for attempt in range(2):
    threading.Timer(0.1 * whole, send).start()
    try:
        f(eye)
    except KeyboardInterrupt:
        late = time.monotonic() - sent[-1]
    # in the middle, and not when all was done
    assert late < 0.6 * whole, (late, whole)
    np.testing.assert_array_equal(w.get_value(), before[0])
    assert calls.get_value() == before[1]
w.set_value(eye)
f(eye)
np.testing.assert_allclose(w.get_value(), {expected} * eye, atol=1e-9)
print("whole")
"""
HALVED = "theano.scan(lambda h: h * 0.5, outputs_info=[w], n_steps=3)[0][-1]"
# sin(x), in twenty ways to write it
WAVES = f"({' + '.join(f'T.sin(x * w + {k} * np.pi) * {(-1) ** k}' for k in range(0, 40, 2))}) / 20"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize(
    "threads, graph, expected",
    [
        (1, "x.dot(w)", 0.5),
        (2, "x.T.dot(x.dot(w))", 0.5),
        (1, f"T.dot(x, {HALVED})", 0.9375),
        (1, WAVES, 1 - 0.5 * np.sin(1)),
        (1, f"({WAVES}).T + ({WAVES})[::-1, ::-1]", 1 - np.sin(1)),
    ],
    ids=["product", "threads", "after-a-loop", "elements", "rows"],
)
def test_a_signal_stops_a_segment_and_no_shared_variable_changes(threads, graph, expected):
    text = PRODUCTS.format(threads=threads, graph=graph, expected=expected)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "whole\n"
