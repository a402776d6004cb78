"""Expressions evaluated by the native engine, in a loop or as a function, and by perform alone."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import numpy as np
import pytensor
from pytensor.compile.mode import Mode
from pytensor.graph.replace import clone_replace
from pytensor.link.vm import VMLinker

from theano.link.native import NativeLinker, report

RELATIVE = {"float32": 1e-5, "float64": 1e-9}
STEPS = 2
ABSOLUTE = {"float32": 1e-6, "float64": 1e-12}


def python_function(inputs: Sequence, outputs: Sequence):
    """The expressions as they are written, each operation by its own ``perform``."""
    mode = Mode(VMLinker(use_cloop=False, c_thunks=False), None)
    function = pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")

    def call(*values):
        # operations that are graphs of others compile them when they are first called
        with pytensor.config.change_flags(linker="py"):
            return function(*values)

    return call


def native_loop(inputs: Sequence, outputs: Sequence):
    """The expressions as the step of a loop, which the engine must run.

    The rewrites of the outer graph are left out: they would move the expressions out of the loop.
    """
    sequences = [pytensor.tensor.tensor(dtype=x.dtype, shape=(None, *x.type.shape)) for x in inputs]

    def step(*rows):
        return clone_replace(list(outputs), dict(zip(inputs, rows, strict=True)))

    traces = pytensor.scan(
        step,
        sequences=sequences,
        outputs_info=[None] * len(outputs),
        return_list=True,
        return_updates=False,
    )
    mode = Mode(NativeLinker(use_cloop=False, c_thunks=False), None)
    function = pytensor.function(sequences, traces, mode=mode, on_unused_input="ignore")
    for record in report(function).loops:
        assert record.reason is None, str(record)
    assert report(function).loops

    def last_step(*values):
        rows = [np.broadcast_to(value, (STEPS, *np.shape(value))) for value in values]
        with np.errstate(all="ignore"):
            traces = function(*rows)
        for trace in traces:
            np.testing.assert_array_equal(trace[0], trace[-1], "steps on the same values differ")
        return [trace[-1] for trace in traces]

    return last_step


def native_function(inputs: Sequence, outputs: Sequence):
    """The expressions as a function, of which Python may run nothing."""
    mode = Mode(NativeLinker(use_cloop=False, c_thunks=False), None)
    function = pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")
    calls = report(function).calls
    assert not calls, "; ".join(map(str, calls))
    return function


EVALUATORS = {"loop": native_loop, "function": native_function}


def reference(function, values: Sequence):
    with np.errstate(all="ignore"):
        return function(*values)


def difference(actual, expected) -> str | None:
    """Return what differs between two results beyond rounding, or None."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape:
        return f"shape {actual.shape} instead of {expected.shape}"
    if actual.dtype != expected.dtype:
        return f"{actual.dtype} instead of {expected.dtype}"
    if expected.dtype.kind != "f":
        wrong = actual != expected
    else:
        name = str(expected.dtype)
        wrong = ~np.isclose(actual, expected, RELATIVE[name], ABSOLUTE[name], equal_nan=True)
    if not wrong.any():
        return None
    at = tuple(int(k) for k in np.argwhere(wrong)[0])
    return f"{actual[at]} instead of {expected[at]} at {at}, {int(wrong.sum())} in all"


def outcome(function, values: Sequence):
    """The results of a call, or the type of the exception that it raised."""
    with contextlib.suppress(IndexError, ValueError, AssertionError):
        return reference(function, values)
    return None
