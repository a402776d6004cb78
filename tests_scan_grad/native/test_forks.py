"""A child process that is forked while another thread is inside a function computes as its parent."""

from __future__ import annotations

import os

import pytest

from tests_scan_grad.fresh_process import run_python

PROGRAM = """
import multiprocessing, threading, time, warnings
import numpy as np
import theano, theano.tensor as T
from tests_scan_grad.native.runtime import runtime_calls

warnings.simplefilter("ignore")
theano.config.cache_optimizations = False
runtime_calls.set_threads({threads})
runtime_calls.set_least_work(0)
steps, start = T.lscalar("steps"), T.vector("start")
total = theano.shared(np.zeros(()), "total")
h, _ = theano.scan(lambda h: T.tanh(h + 1), outputs_info=[start], n_steps=steps)
function = theano.function([start, steps], h[-1], updates=[(total, total + 1)], mode="NATIVE")
other = theano.function([start], T.tanh(start.dot(start)) + start, mode="NATIVE")
value = np.linspace(0, 1, 500)
expected = function(value, 3), other(value)


def child(send):
    # the parent's other thread is inside a function, and stays there
    runtime_calls.set_threads({threads})
    same = np.array_equal(function(value, 3), expected[0])
    same = same and np.array_equal(other(value), expected[1])
    x = T.vector("x")
    same = same and theano.function([x], x * {number} + 1, mode="NATIVE")([2.0])[0] == 2 * {number} + 1
    send.send(same)


stop = threading.Event()


def compute():
    while not stop.is_set():
        function(value, 20000)


def compile_more():
    k = 0
    while not stop.is_set():
        k += 1
        x = T.vector("x")
        sums, _ = theano.scan(lambda v, s: s + k * v, [x], [T.zeros((), x.dtype)])
        theano.function([x], sums, mode="NATIVE")


others = [threading.Thread(target=work) for work in (compute, {more})]
for thread in others:
    thread.start()
fork = multiprocessing.get_context("fork")
try:
    for _ in range({forks}):
        time.sleep(0.05)
        receive, send = fork.Pipe(duplex=False)
        process = fork.Process(target=child, args=(send,), daemon=True)
        process.start()
        assert receive.poll(60), "the child hangs"
        assert receive.recv()
        process.join()
finally:
    stop.set()
    for thread in others:
        thread.join()
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are those of POSIX")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("more", ["compute", "compile_more"])
def test_a_fork_while_another_thread_is_inside_a_function(threads, more):
    done = run_python(PROGRAM.format(threads=threads, more=more, forks=5, number=7))
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("done\n")


IN_THE_MIDST_OF_A_POLL = """
import ctypes, os, threading
import theano
from theano.link.native.build.optimized_later import OptimizedLater

parent, inside, go_on = os.getpid(), threading.Event(), threading.Event()
library = ctypes.CDLL(None)


class Build:
    def kept(self):
        if os.getpid() == parent:
            inside.set()
            go_on.wait()
        return library


laters = [OptimizedLater(Build(), 0.0) for _ in range(2)]
threads = [threading.Thread(target=laters[0].poll)]
threads[0].start()
inside.wait()
assert laters[0].poll() is None and laters[0].poll() is None
child = os.fork()
if child == 0:
    os._exit(0 if all(later.{asked}() is library for later in laters) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
go_on.set()
threads[0].join()
print(laters[0].poll() is library)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are those of POSIX")
@pytest.mark.parametrize("asked", ["poll", "wait"])
def test_a_fork_while_another_thread_polls_for_optimized_code(asked):
    done = run_python(IN_THE_MIDST_OF_A_POLL.format(asked=asked))
    assert done.stdout.split() == ["0", "True"], done.stderr
    assert "Exception ignored" not in done.stderr
