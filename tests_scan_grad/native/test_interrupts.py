"""Ctrl-C stops long loops and segments, and the function can be called again."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests_scan_grad.fresh_process import run_python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")

# what a child process raises in the midst of a computation
INTERRUPT = """
import signal
import numpy as np
from tests_scan_grad.native import polls
from tests_scan_grad.native.runtime import runtime_calls

runtime_calls.set_threads({threads})
runtime_calls.set_least_work(0)

class Enough(Exception):
    pass

def stop(*_):
    raise {kind}

signal.signal(polls.SIGNAL, stop)
"""
LONG_LOOP = """
import pytensor
import pytensor.tensor as pt
from tests_scan_grad.native.loops import native_mode, scan
from theano.link.native import report

steps = pt.lscalar("steps")
start = pt.dvector("start")
(y,) = scan(lambda h: pt.tanh(h + 1), outputs_info=[start], n_steps=steps)
function = pytensor.function([start, steps], y[-1], mode=native_mode())
assert not [str(loop) for loop in report(function).loops if loop.reason]
value = np.zeros(500)
expected = function(value, 3)
polls.signal_at(3)
try:
    # it would take many minutes
    function(value, 10**10)
except {kind}:
    print("stopped")
np.testing.assert_array_equal(function(value, 3), expected)
print("again")
"""


def printed(*parts, **values):
    """Run programs one after another in a process that must succeed, and return its output."""
    done = run_python("".join(parts).format(**values))
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", ["KeyboardInterrupt", "Enough"])
def test_a_signal_stops_a_long_loop(threads, kind):
    said = printed(INTERRUPT, LONG_LOOP, threads=threads, kind=kind)
    assert said == ["stopped", "again"]


# The signal comes at a tenth of the polls of a whole call; those of the main thread are few where
# other threads do the work, so that it then comes at the first. What went on nevertheless would
# poll as often as a whole call does.
STOPS = """
import theano, theano.tensor as T
from theano.link.native import report

def stops(f, values, shared=()):
    assert report(f).segments
    runtime_calls.set_threads(1)
    polls.signal_at(0)
    f(*values)
    whole = polls.counted()
    assert whole >= 10, whole
    before = [variable.get_value() for variable in shared]
    runtime_calls.set_threads({threads})
    polls.signal_at(1 if {threads} > 1 else whole // 10)
    answers = polls.stops_polled()
    try:
        f(*values)
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("not stopped")
    answers = polls.stops_polled() - answers
    assert 0 < answers < 0.25 * whole, (answers, whole)
    for variable, value in zip(shared, before, strict=True):
        np.testing.assert_array_equal(variable.get_value(), value)

"""


def stopped(program, **values):
    """Stop the computations of a program in a process, and return what the process prints."""
    return printed(INTERRUPT, STOPS, program, kind="KeyboardInterrupt", **values)


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
    program = {"threads": threads, "size": size, "graph": graph, "expected": expected}
    assert stopped(PRODUCTS, **program) == ["whole"]


PASSES = """
c, m, v = T.bvector("c"), T.fmatrix("m"), T.fvector("v")
length = 3 * 10**7
small, tall, wide, rows = (np.zeros(shape, dtype) for shape, dtype in [
    (length, "int8"), ((2, length), "float32"), (length, "float32"), ((30, length // 30), "float32")
])
f = theano.function({inputs}, {graph}, mode="NATIVE")
stops(f, {values})
print("whole")
"""
# each of them in several ways, so that there are polls in its midst
GRAPHS = {
    "one-number": (
        "[v]",
        "[r(v[k:]) for r in (T.sum, T.max, T.prod) for k in range(12)]",
        "[wide]",
    ),
    "strided": ("[m]", "[r(m.T[k:]) for r in (T.sum, T.max) for k in range(3)]", "[tall]"),
    "rows": ("[m]", "[r(m[:, k:], 0).min() for r in (T.sum, T.max) for k in range(5)]", "[tall]"),
    "columns": ("[m]", "[r(m[:, k:], 1) for r in (T.sum, T.max) for k in range(9)]", "[rows]"),
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


@pytest.mark.parametrize("inputs, graph, values", GRAPHS.values(), ids=GRAPHS)
def test_a_signal_stops_reductions_and_the_like(inputs, graph, values):
    program = {"inputs": inputs, "graph": graph, "values": values}
    assert stopped(PASSES, threads=1, **program) == ["whole"]


STEPS = """
x, w = T.matrix("x"), T.matrix("w")
states, _ = theano.scan({step}, outputs_info=[x], non_sequences=[w], n_steps=1)
f = theano.function([x, w], states[-1], mode="NATIVE", on_unused_input="ignore")
eye = np.eye(1600)
stops(f, [eye, eye])
np.testing.assert_allclose(f(2 * eye, 3 * eye), {expected} * eye)
print("whole")
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "step, expected",
    [("lambda h, w: h.dot(w)", 6), ("lambda h, w: h.dot(h) + w", 7)],
    ids=["packed", "not-packed"],
)
def test_a_signal_stops_a_step_that_is_one_long_product(threads, step, expected):
    assert stopped(STEPS, threads=threads, step=step, expected=expected) == ["whole"]


IN_A_HANDLER = """
import theano
import theano.tensor as T

a, b = T.dmatrices("ab")
outer = theano.function([a, b], {graph}, mode="NATIVE")
inner = {inner}
random = np.random.default_rng(0)
large, other = random.normal(size=(2, 1000, 1000)), random.normal(size=(2, 300, 300))
expected, expected_of_other, found = outer(*large), inner(*other), []
signal.signal(polls.SIGNAL, lambda *_: found.append(inner(*other)))
for poll in (1, 1, 2, 3, 5):
    polls.signal_at(poll)
    np.testing.assert_array_equal(outer(*large), expected)
for result in found:
    np.testing.assert_array_equal(result, expected_of_other)
print(len(found))
"""
LOOP = "theano.scan(lambda h, w: T.tanh(h.dot(w)), outputs_info=b, non_sequences=a, n_steps=3)[0]"


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
    program = {"graph": graph, "inner": inner, "threads": threads}
    (signals,) = printed(INTERRUPT, IN_A_HANDLER, kind="Enough", **program)
    # where another thread does the work, the main thread polls less often
    assert int(signals) == 5 or (threads > 1 and int(signals) >= 2)


OF_PYTENSOR = """
import pytensor
import pytensor.tensor as pt
from tests_scan_grad.native.loops import native_mode

a = pt.dmatrix("a")
f = pytensor.function([a], pt.dot(a, a), mode=native_mode())
large, small = 2 * np.eye(1000), 3 * np.eye(5)
f(small)
signal.signal(polls.SIGNAL, lambda *_: f(small))
polls.signal_at(2)
try:
    f(large)
except RuntimeError as error:
    print(error)
np.testing.assert_array_equal(f(large), 4 * np.eye(1000))
"""


def test_a_function_of_pytensor_refuses_a_call_in_the_midst_of_one():
    said = printed(INTERRUPT, OF_PYTENSOR, threads=1, kind="Enough")
    assert "while another call of it runs" in " ".join(said)
