"""Programs whose compilation fills a cache, each run in its own process.

The processes are forked from one that has imported everything and compiled nothing.
"""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path

import numpy as np

import theano
import theano.tensor as T
from theano.link.native import report
from theano.rewriting.disk import cached_graphs

FOLDERS = ("native", "graphs")


def perceptron() -> list[np.ndarray]:
    """Two steps of a small network; a program without loops."""
    x, w = T.matrix("x"), theano.shared(np.full((3, 3), 0.3), "w")
    cost = (T.tanh(x.dot(w)) ** 2).sum()
    update = (w, w - 0.1 * theano.grad(cost, w))
    step = theano.function([x], cost, updates=[update], mode="NATIVE")
    assert report(step).segments
    value = np.arange(6.0).reshape(2, 3)
    return [step(value), step(value), w.get_value()]


def recurrent(slope: float) -> list[np.ndarray]:
    """The gradient of a loop; programs that differ in a constant."""
    x, w = T.matrix("x"), theano.shared(np.eye(3) * slope, "w")
    h, _ = theano.scan(
        lambda x_t, h, w: T.tanh(slope * x_t + h.dot(w)),
        sequences=[x],
        outputs_info=[T.zeros_like(x[0])],
        non_sequences=[w],
    )
    function = theano.function([x], [h, theano.grad((h**2).sum(), w)], mode="NATIVE")
    assert report(function).segments
    return function(np.linspace(-1, 1, 12).reshape(4, 3))


PROGRAMS = {
    "perceptron": perceptron,
    "recurrent": lambda: recurrent(0.5),
    "another": lambda: recurrent(0.25),
}


def new_cache() -> Path:
    """The folder of the flag ``base_compiledir``, which holds no cache yet; all graphs will be kept."""
    folder = Path(theano.config.base_compiledir)
    assert not any((folder / name).exists() for name in FOLDERS), "not a new folder"
    theano.config.cache_optimizations = True
    cached_graphs.SECONDS_WORTH_CACHING = 0
    return folder


Program = Callable[[], list[np.ndarray]]


def equal(values: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    """Return whether two lists of arrays are equal."""
    return len(values) == len(expected) and all(map(np.array_equal, values, expected))


def started(program: Program) -> tuple[ForkProcess, Connection]:
    """A process that runs a program, and where its answer comes from."""
    fork = multiprocessing.get_context("fork")
    receive, send = fork.Pipe(duplex=False)
    child = fork.Process(target=_run, args=(program, send))
    child.start()
    send.close()
    return child, receive


def answer(child: ForkProcess, receive: Connection) -> list[np.ndarray] | str:
    """Return what a process computed, or how it ended."""
    try:
        return receive.recv()
    except EOFError:
        child.join()
        return f"the process ended with status {child.exitcode}"
    finally:
        child.join()
        receive.close()


def in_child(program: Program) -> list[np.ndarray] | str:
    """Return what a program computes in its own process, or how that process ended."""
    return answer(*started(program))


def _run(program: Program, send: Connection) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            send.send([np.asarray(value) for value in program()])
    except BaseException as error:
        send.send(f"{type(error).__name__}: {error}")
