"""Ctrl-C during a call of XLA: the process goes on, and so does the program, which nothing stops."""

from __future__ import annotations

import sys

import pytest

from tests_scan_grad.fresh_process import run_python

pytest.importorskip("jax")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")

LONG_LOOP = """
import signal, sys, threading, time
import numpy as np
import theano, theano.tensor as T

signal.signal(signal.SIGINT, signal.default_int_handler)
steps, start = T.lscalar("steps"), T.vector("start")
w = theano.shared(np.zeros(50), "w")
loop, _ = theano.scan(lambda h: T.tanh(h + 1), outputs_info=[start], n_steps=steps)
f = theano.function([start, steps], loop[-1].sum(), updates=[(w, w + start)], mode="XLA")
value = np.ones(50)
f(value, 3)
# for some seconds: what goes on in the background is to end
f(0 * value, 10**5)
begin = time.perf_counter()
f(0 * value, 10**5)
LONG = int(5 * 10**5 / (time.perf_counter() - begin))


def interrupted(call):
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    try:
        call()
    except KeyboardInterrupt as error:
        print("interrupted", "goes on in the background" in error.__notes__[0])
    else:
        print("not interrupted")
"""
AGAIN = """
interrupted(lambda: f(value, LONG))
# the program has a copy
value[:] = 7
interrupted(lambda: f(value, 3))
interrupted(w.get_value)
print(w.get_value().max())
f(value, 3)
print(w.get_value().max())
"""
EXITS = """
interrupted(lambda: f(value, 10**12))
sys.stdout.flush()
# again and again: Python ignores it while it joins threads
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 1, 1)
"""
THREAD = """
def compute():
    results.append(float(f(value, 3)))


results = []
interrupted(lambda: f(value, LONG))
thread = threading.Thread(target=compute)
thread.start()
thread.join()
print(results == [float(f(value, 3))], w.get_value().max())
"""


@pytest.mark.parametrize(
    "text, printed",
    [
        (AGAIN, [*["interrupted True"] * 3, "2.0", "9.0"]),
        (THREAD, ["interrupted True", "True", "4.0"]),
    ],
    ids=["main-thread", "another-thread"],
)
def test_an_interrupt_ends_the_wait_and_the_updates_are_made_when_the_program_ends(text, printed):
    done = run_python(LONG_LOOP + text, THEANO_FLAGS="floatX=float64")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == " ".join(printed).split()


def test_a_second_interrupt_at_exit_ends_the_process():
    done = run_python(LONG_LOOP + EXITS, timeout=120, THEANO_FLAGS="floatX=float64")
    assert done.stdout == "interrupted True\n", done.stderr
    assert done.returncode == 130
    assert "Interrupted again" in done.stderr


UPDATES = """
import random, signal
import numpy as np
import theano, theano.tensor as T


class Enough(Exception):
    pass


def stop(*_):
    if armed:
        raise Enough


armed = False
signal.signal(signal.SIGALRM, stop)
x = T.matrix("x")
w, calls = theano.shared(np.zeros((200, 200)), "w"), theano.shared(0, "calls")
updates = [(w, w + x), (calls, calls + 1)]
f = theano.function([x], x.dot(w).sum(), updates=updates, mode="XLA")
value = np.ones((200, 200))
for _ in range(5):
    f(value)
stops, random = 0, random.Random(0)
for _ in range(300):
    try:
        armed = True
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 2e-3))
        for _ in range(8):
            f(value)
        armed = False
    except Enough:
        armed = False
        stops += 1
    # both or none
    assert (w.get_value() == calls.get_value()).all()
print("many" if stops > 100 else stops)
"""


def test_an_interrupt_in_the_midst_of_an_update_loses_no_shared_variable():
    done = run_python(UPDATES, THEANO_FLAGS="floatX=float64")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "many\n"
