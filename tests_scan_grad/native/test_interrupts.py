"""Ctrl-C stops long loops and segments, and the function can be called again."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """
import signal, threading
import numpy as np
import pytensor
import pytensor.tensor as pt
from tests_scan_grad.native.loops import native_mode, scan
from theano.link.native import report
from tests_scan_grad.native.runtime import runtime_calls

runtime_calls.set_threads({threads})
runtime_calls.set_least_work(0)
steps = pt.lscalar("steps")
start = pt.dvector("start")
(y,) = scan(lambda h: pt.tanh(h + 1), outputs_info=[start], n_steps=steps)
function = pytensor.function([start, steps], y[-1], mode=native_mode())
assert not [str(loop) for loop in report(function).loops if loop.reason]
value = np.zeros(500)
expected = function(value, 3)
{before}
try:
    # it would take many minutes
    function(value, 10**10)
except {kind}:
    print("stopped")
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
    assert done.stdout == "stopped\nagain\n"


# What is measured is the time of the processor, which other programs do not take; the signal comes
# when a tenth of it is over.
STOPS = """
import signal, time
import numpy as np
import theano, theano.tensor as T
from theano.link.native import report
from tests_scan_grad.native.runtime import runtime_calls

def interrupt(*_):
    raise KeyboardInterrupt

def stops(f, values, shared=()):
    assert report(f).segments
    f(*values)
    begin = time.process_time()
    f(*values)
    whole = time.process_time() - begin
    before = [variable.get_value() for variable in shared]
    signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, 0.1 * whole)
    begin = time.process_time()
    try:
        f(*values)
    except KeyboardInterrupt:
        spent = time.process_time() - begin
    else:
        raise AssertionError("not stopped")
    # in the middle, and not when all was done
    assert spent < 0.6 * whole, (spent, whole)
    for variable, value in zip(shared, before, strict=True):
        np.testing.assert_array_equal(variable.get_value(), value)

runtime_calls.set_threads({threads})
runtime_calls.set_least_work(0)
"""
PRODUCTS = """
x = T.matrix("x")
w = theano.shared(np.eye({size}), "w")
calls = theano.shared(0, "calls")
product = {graph}
updates = [(w, w - 0.5 * product), (calls, calls + 1)]
f = theano.function([x], product.sum(), updates=updates, mode="NATIVE")
eye = np.eye({size})
for attempt in range(2):
    stops(f, [eye], [w, calls])
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
    "threads, size, graph, expected",
    [
        (1, 2000, "x.dot(w)", 0.5),
        (2, 2000, "x.T.dot(x.dot(w))", 0.5),
        (1, 2000, f"T.dot(x, {HALVED})", 0.9375),
        (1, 1000, WAVES, 1 - 0.5 * np.sin(1)),
        (1, 1000, f"({WAVES}).T + ({WAVES})[::-1, ::-1]", 1 - np.sin(1)),
    ],
    ids=["product", "threads", "after-a-loop", "elements", "rows"],
)
def test_a_signal_stops_a_segment_and_no_shared_variable_changes(threads, size, graph, expected):
    text = STOPS + PRODUCTS
    text = text.format(threads=threads, size=size, graph=graph, expected=expected)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "whole\n"


PASSES = """
c, m, v = T.bvector("c"), T.fmatrix("m"), T.fvector("v")
length = 3 * 10**7
small, tall, wide = (np.zeros(shape, dtype) for shape, dtype in [
    (length, "int8"), ((2, length), "float32"), (length, "float32")
])
f = theano.function({inputs}, {graph}, mode="NATIVE")
stops(f, {values})
print("whole")
"""
# each of them in several ways, so that all of it takes long enough
GRAPHS = {
    "one-number": (
        "[v]",
        "[r(v[k:]) for r in (T.sum, T.max, T.prod) for k in range(12)]",
        "[wide]",
    ),
    "strided": ("[m]", "[r(m.T[k:]) for r in (T.sum, T.max) for k in range(3)]", "[tall]"),
    "rows": ("[m]", "[r(m[:, k:], 0).min() for r in (T.sum, T.max) for k in range(5)]", "[tall]"),
    "columns": ("[m]", "[r(m[:, k:], 1) for r in (T.sum, T.max) for k in range(9)]", "[tall]"),
    "argmax": ("[c]", "[T.argmax(c[k:]) for k in range(14)]", "[small]"),
    "cumulative": ("[c]", "[T.cumsum(c[k:])[-1] for k in range(14)]", "[small]"),
    "vectors": ("[v]", "[v[k:].dot(v[: length - k]) for k in range(60)]", "[wide]"),
    "matrix-vector": ("[m, v]", "[m[:, k:].dot(v[k:]) for k in range(30)]", "[tall, wide]"),
    "vector-matrix": (
        "[m]",
        "[T.dot(np.ones(2, 'f'), m[:, k:]).max() for k in range(9)]",
        "[tall]",
    ),
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize("inputs, graph, values", GRAPHS.values(), ids=GRAPHS)
def test_a_signal_stops_reductions_and_the_like(inputs, graph, values):
    text = (STOPS + PASSES).format(threads=1, inputs=inputs, graph=graph, values=values)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "whole\n"


STEPS = """
x, w = T.matrix("x"), T.matrix("w")
states, _ = theano.scan({step}, outputs_info=[x], non_sequences=[w], n_steps=1)
f = theano.function([x, w], states[-1], mode="NATIVE", on_unused_input="ignore")
eye = np.eye(1600)
stops(f, [eye, eye])
np.testing.assert_allclose(f(2 * eye, 3 * eye), {expected} * eye)
print("whole")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "step, expected",
    [("lambda h, w: h.dot(w)", 6), ("lambda h, w: h.dot(h) + w", 7)],
    ids=["packed", "not-packed"],
)
def test_a_signal_stops_a_step_that_is_one_long_product(threads, step, expected):
    text = (STOPS + STEPS).format(threads=threads, step=step, expected=expected)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "whole\n"


IN_A_HANDLER = """
import signal
import numpy as np
import theano
import theano.tensor as T
from tests_scan_grad.native.runtime import runtime_calls

runtime_calls.set_threads({threads})
a, b = T.dmatrices("ab")
outer = theano.function([a, b], {graph}, mode="NATIVE")
inner = {inner}
random = np.random.default_rng(0)
large, other = random.normal(size=(2, 1000, 1000)), random.normal(size=(2, 300, 300))
expected, expected_of_other, found = outer(*large), inner(*other), []


def handler(*_):
    found.append(inner(*other))
    # a period would run into itself on a machine that takes longer than that
    signal.setitimer(signal.ITIMER_REAL, 0.03)


signal.signal(signal.SIGALRM, handler)
for _ in range(5):
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    result = outer(*large)
    signal.setitimer(signal.ITIMER_REAL, 0)
    np.testing.assert_array_equal(result, expected)
for result in found:
    np.testing.assert_array_equal(result, expected_of_other)
print("ran" if found else "no signal came")
"""
LOOP = "theano.scan(lambda h, w: T.tanh(h.dot(w)), outputs_info=b, non_sequences=a, n_steps=3)[0]"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "graph, inner",
    [
        ("T.dot(a, b)", "theano.function([a, b], T.dot(a, b), mode='NATIVE')"),
        ("T.tanh(a.dot(b)).dot(b)", "outer"),
        (LOOP, "outer"),
    ],
    ids=["another-product", "the-same-products", "the-same-loop"],
)
def test_a_handler_may_compute_in_the_midst_of_a_computation(graph, inner, threads):
    text = IN_A_HANDLER.format(graph=graph, inner=inner, threads=threads)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["ran"], done.stderr


OF_PYTENSOR = """
import signal
import numpy as np
import pytensor
import pytensor.tensor as pt
from tests_scan_grad.native.loops import native_mode

a = pt.dmatrix("a")
f = pytensor.function([a], pt.dot(a, a), mode=native_mode())
large, small = 2 * np.eye(1500), 3 * np.eye(5)
f(small)
signal.signal(signal.SIGALRM, lambda *_: f(small))
signal.setitimer(signal.ITIMER_REAL, 0.01)
try:
    f(large)
except RuntimeError as error:
    print(error)
np.testing.assert_array_equal(f(large), 4 * np.eye(1500))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_a_function_of_pytensor_refuses_a_call_in_the_midst_of_one():
    done = subprocess.run(
        [sys.executable, "-c", OF_PYTENSOR], capture_output=True, text=True, timeout=300
    )
    assert "in the midst of a call" in done.stdout, done.stderr
    assert done.returncode == 0, done.stderr
