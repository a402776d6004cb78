"""Outputs by the engine against those of PyTensor's Python code, in a function and in a loop."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt

from tests_scan_grad.native.lowering.evaluations import (
    EVALUATORS,
    difference,
    python_function,
    reference,
)

# The forms in which the values of an operation are given.
LAYOUTS = {
    "in C order": lambda x: x,
    "transposed in memory": lambda x: np.asfortranarray(x),
}


def numbers(*shape: int, dtype: str = "float64") -> np.ndarray:
    values = np.random.default_rng(sum(shape) + len(shape)).normal(size=shape)
    if dtype == "bool":
        return values > 0
    return (3 * (np.abs(values) if dtype.startswith("u") else values)).astype(dtype)


def of(*shape: int | None, dtype: str = "float64"):
    return pt.tensor(dtype=dtype, shape=(None,) * len(shape))


def check(inputs, outputs, *calls) -> None:
    """The outputs by the engine are those of PyTensor's Python code, for each of the calls."""
    python = python_function(inputs, outputs)
    results = [reference(python, values) for values in calls]
    for where, evaluator in EVALUATORS.items():
        native = evaluator(inputs, outputs)
        for values, expected in zip(calls, results, strict=True):
            for ours, theirs in zip(native(*values), expected, strict=True):
                wrong = difference(ours, theirs)
                shapes = [np.shape(value) for value in values]
                assert wrong is None, f"{wrong} for {shapes} in a {where}"
