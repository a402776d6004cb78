"""Loops for the native engine's tests, run by it and by PyTensor's Python linker."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytensor
from pytensor.compile.mode import Mode
from pytensor.link.vm import VMLinker

from theano.link.native import NativeLinker, report

REWRITES = "fast_run"


def native_mode() -> Mode:
    """The engine, and nothing else compiled."""
    return Mode(NativeLinker(use_cloop=False, c_thunks=False), REWRITES)


def python_mode() -> Mode:
    return Mode(VMLinker(use_cloop=False, c_thunks=False), REWRITES)


def both(inputs: Sequence, outputs: Sequence) -> tuple[Callable, Callable]:
    """The function by the engine, all of its loops native, and by the Python linker."""
    native = pytensor.function(inputs, outputs, mode=native_mode(), on_unused_input="ignore")
    for record in report(native).loops:
        assert record.reason is None, str(record)
    assert report(native).loops, "no loop was left"
    reference = pytensor.function(inputs, outputs, mode=python_mode(), on_unused_input="ignore")
    return native, reference


def check(inputs: Sequence, outputs: Sequence, *calls: Sequence) -> Callable:
    """Compare the engine with the Python linker on each of the calls."""
    native, reference = both(inputs, outputs)
    for values in calls:
        same(native(*values), reference(*values))
    return native


def compiled(inputs, outputs, **options):
    """A PyTensor function by the native engine."""
    return pytensor.function(inputs, outputs, mode=native_mode(), **options)


def same(actual: Sequence, expected: Sequence) -> None:
    for ours, theirs in zip(actual, expected, strict=True):
        assert np.shape(ours) == np.shape(theirs)
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
        tolerance = 1e-4 if np.asarray(ours).dtype == np.float32 else 1e-9
        scale = max(1.0, np.nanmax(np.abs(theirs), initial=0))
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * scale)


def numbers(*shape: int, seed: int = 0, dtype: str = "float64") -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def scan(step: Callable, **options):
    """PyTensor's scan, always with a list of outputs."""
    return pytensor.scan(step, return_list=True, return_updates=False, **options)
