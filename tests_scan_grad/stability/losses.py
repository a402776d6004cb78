"""The usual losses, written by hand and by the library's names, as programs."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np

BINARY = {
    "sigmoid": "-(y * T.log(T.nnet.sigmoid({z}))) - (1 - y) * T.log(1 - T.nnet.sigmoid({z}))",
    "exp": "-(y * T.log(1 / (1 + T.exp(-({z}))))) - (1 - y) * T.log(1 - 1 / (1 + T.exp(-({z}))))",
    "library": "T.nnet.binary_crossentropy(T.nnet.sigmoid({z}), y)",
    "softplus": "T.nnet.softplus({z}) - y * ({z})",
    "log1p": "T.log1p(T.exp({z})) - y * ({z})",
    "weighted": "-(m * (y * T.log(T.nnet.sigmoid({z})) + (1 - y) * T.log(1 - T.nnet.sigmoid({z}))))",
    "masked": "T.switch(m > 0, T.nnet.binary_crossentropy(T.nnet.sigmoid({z}), y), 0)",
    "signed": "T.log(1 + T.exp(-(2 * y - 1) * ({z})))",
}
CLASSES = {
    "softmax": "-T.log(T.nnet.softmax({z})) * y",
    "softmax, summed": "-T.sum(y * T.log(T.nnet.softmax({z})), axis=1)",
    "softmax by hand": "-(y * T.log(T.exp({z}) / T.exp({z}).sum(axis=1, keepdims=True)))",
    "log of sum": "(T.log(T.exp({z}).sum(axis=1, keepdims=True)) - ({z})) * y",
}
PICKED = {
    "selected": "-T.log(T.nnet.softmax({z}))[T.arange(y.shape[0]), y]",
    "library's": "T.nnet.categorical_crossentropy(T.nnet.softmax({z}), y)",
}
MEANS = ["e.sum()", "e.mean()", "e.sum() / y.shape[0]"]
TARGETS = ["float64", "float32", "int8", "int32", "bool"]
LOGITS = [1e-3, 1.0, 30.0, 300.0, 1000.0]
_ROWS = [[1.0, 0.5], [-0.25, 1.0], [0.75, -1.0]]
_OF_BINARY = {"w": [0.6, -1.0], "y": [1, 0, 1]}
_OF_CLASSES = {"w": [[0.6, -1.0, 0.3], [0.2, 0.9, -0.7]], "y": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
_OF_PICKED = {**_OF_CLASSES, "y": [0, 1, 2]}


def programs() -> list[dict[str, Any]]:
    """Return each loss with each dtype of targets, floatX, mean, and size of logits."""
    of_kinds = [(BINARY, _OF_BINARY), (CLASSES, _OF_CLASSES), (PICKED, _OF_PICKED)]
    return [
        _program(name, losses[name], arrays, target, floatx, mean, large)
        for losses, arrays in of_kinds
        for name, target, floatx, mean, large in itertools.product(
            losses, TARGETS, ("float64", "float32"), MEANS, LOGITS
        )
        if losses is not PICKED or target.startswith("int")
    ]


def _program(
    name: str, loss: str, arrays: Any, target: str, floatx: str, mean: str, large: float
) -> dict[str, Any]:
    # weights that differ in size make logits of one sign or the other, and some near zero
    values = {**arrays, "x": [[large * v for v in row] for row in _ROWS], "m": [1, 0, 1]}
    expression = loss.format(z="T.dot(x, w)")
    dtypes = {"x": floatx, "w": floatx, "y": target, "m": target}
    return {
        "seed": f"{name}, y {target}, floatX {floatx}, {mean}, {large}",
        "floatX": floatx,
        "leaves": [
            {"name": n, "dtype": dtypes[n], "value": values[n]}
            for n in "xwym"
            if n != "m" or re.search(r"\bm\b", expression)
        ],
        "expression": expression,
        "cost": mean,
        "wrt": "w",
        "loop": False,
        "gives": "both",
    }


def programs_in_loops() -> list[dict[str, Any]]:
    """Return the same losses in loops: over rows, or over batches where there are classes."""
    return [
        {
            **program,
            "seed": f"{program['seed']}, in a loop",
            "loop": "batches" if np.ndim(program["leaves"][1]["value"]) > 1 else "rows",
        }
        for program in programs()
    ]
