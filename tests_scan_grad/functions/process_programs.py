"""Functions, shared variables and a model that other processes are given; run as a program.

The first argument names how processes are started, the second the engine.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import sys
import threading
import warnings
from typing import Any

import numpy as np

import theano
import theano.tensor as T

VALUE = np.linspace(0, 1, 12).reshape(4, 3)


class Model:
    """A network of one layer: its parameters, and functions that share them."""

    def __init__(self, mode: str):
        x = T.dmatrix("x")
        self.w = theano.shared(0.1 * np.arange(9.0).reshape(3, 3), "w")
        states, _ = theano.scan(lambda row, h: T.tanh(row + h.dot(self.w)), x, T.zeros(3))
        cost = T.sqr(states[-1]).sum()
        updates = [(self.w, self.w - 0.1 * theano.grad(cost, self.w))]
        self.train = theano.function([x], cost, updates=updates, mode=mode)
        self.cost = theano.function([x], cost, mode=mode)


def steps_of(model: Model) -> list[Any]:
    """Return the results of two training steps; each process has its own parameters."""
    costs = [float(model.train(VALUE)) for _ in range(2)]
    return [costs, float(model.cost(VALUE)), model.w.get_value().tolist()]


def compiled_there(mode: str) -> list[Any]:
    """The same of a model that this process makes."""
    return steps_of(Model(mode))


def value_of(shared: Any) -> list[Any]:
    return shared.get_value().tolist()


def message_of(model: Model) -> str:
    """Return the message of the error that a call raises where it cannot compute."""
    try:
        model.cost(VALUE)
    except RuntimeError as error:
        return str(error)
    return "computed"


def _in_context(start: str, tasks: list[tuple]) -> list[Any]:
    with multiprocessing.get_context(start).Pool(1) as pool:
        return [pool.apply_async(*task).get(240) for task in tasks]


def _in_futures(start: str, tasks: list[tuple]) -> list[Any]:
    context = multiprocessing.get_context(start)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        return [pool.submit(function, *given).result(240) for function, given in tasks]


def _in_joblib(_: str, tasks: list[tuple]) -> list[Any]:
    from joblib import Parallel, delayed

    return Parallel(2, timeout=240)(delayed(function)(*given) for function, given in tasks)


POOLS = {
    "fork": (_in_context, "fork"),
    "spawn": (_in_context, "spawn"),
    "forkserver": (_in_context, "forkserver"),
    "futures": (_in_futures, "spawn"),
    "futures-fork": (_in_futures, "fork"),
    "joblib": (_in_joblib, ""),
}


def _compile_until(stop: threading.Event, mode: str) -> None:
    k = 0
    while not stop.is_set():
        k += 1
        x = T.dvector("x")
        theano.function([x], T.tanh(x * k).sum(), mode=mode)


def main(pool: str, mode: str) -> None:
    warnings.simplefilter("ignore")
    run, start = POOLS[pool]
    model = Model(mode)
    before = [model.w.get_value().tolist(), float(model.cost(VALUE))]
    stop = threading.Event()
    thread = threading.Thread(target=_compile_until, args=(stop, "NATIVE"))
    thread.start()
    try:
        if mode == "XLA" and start == "fork":
            print(*run(start, [(message_of, (model,)), (value_of, (model.w,))]), sep="\n")
            return
        given, made, value = run(
            start, [(steps_of, (model,)), (compiled_there, (mode,)), (value_of, (model.w,))]
        )
    finally:
        stop.set()
        thread.join()
    # what the other process did has changed nothing here
    assert [model.w.get_value().tolist(), float(model.cost(VALUE))] == before
    assert value == before[0]
    here = steps_of(model)
    np.testing.assert_allclose(
        np.hstack([*map(np.ravel, given)]), np.hstack([*map(np.ravel, here)])
    )
    np.testing.assert_allclose(np.hstack([*map(np.ravel, made)]), np.hstack([*map(np.ravel, here)]))
    print("equal")


if __name__ == "__main__":
    # functions are pickled by the name of their module
    from tests_scan_grad.functions import process_programs

    process_programs.main(*sys.argv[1:])
