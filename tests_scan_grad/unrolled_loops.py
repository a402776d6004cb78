"""``scan`` without a loop: the steps one after the other, as a reference for gradients.

The number of steps must be an int. An ``until`` is not looked at: the caller says how many steps
the loop runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor.tensor as pt
from pytensor.gradient import zero_grad
from pytensor.graph.basic import Variable
from pytensor.graph.replace import graph_replace
from pytensor.scan.basic import get_updates_and_outputs


def unrolled_scan(
    fn: Callable,
    sequences: Any = (),
    outputs_info: Any = (),
    non_sequences: Any = (),
    n_steps: int = 0,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
) -> tuple[list[Variable], dict[Variable, Variable]]:
    """Return what ``theano.scan`` returns, built without a loop, from lists for all arguments."""
    past = [_initial_values(entry) for entry in outputs_info]
    known = [len(values) for values in past]
    shared_values: dict[Variable, Variable] = {}
    # with no step to run, one is built all the same, for the types of the outputs
    for t in range(max(n_steps, 1)):
        arguments = [
            value for entry in sequences for value in _elements(entry, t, n_steps, go_backwards)
        ]
        for entry, values, count in zip(outputs_info, past, known, strict=True):
            arguments += [values[count + t + tap] for tap in _taps(entry)]
        # stand-ins, so that generators are replaced in this step and not in what came before
        stand_ins = [argument.type() for argument in arguments] if shared_values else arguments
        _, outputs, updates = get_updates_and_outputs(fn(*stand_ins, *non_sequences))
        if shared_values:
            replacements = dict(zip(stand_ins, arguments, strict=True)) | shared_values
            replaced = graph_replace([*outputs, *updates.values()], replacements, strict=False)
            outputs = replaced[: len(outputs)]
            updates = dict(zip(updates, replaced[len(outputs) :], strict=True))
        shared_values.update(updates)
        if truncate_gradient != -1 and t < n_steps - truncate_gradient:
            outputs = [zero_grad(output) for output in outputs]
        for values, output in zip(past, outputs, strict=True):
            values.append(output)
    stacked = [
        pt.stack(values[count:])[:n_steps] for values, count in zip(past, known, strict=True)
    ]
    return stacked, shared_values if n_steps else {}


def _taps(entry: Any) -> list[int]:
    if entry is None:
        return []
    return entry["taps"] if isinstance(entry, dict) else [-1]


def _initial_values(entry: Any) -> list[Variable]:
    if entry is None:
        return []
    if not isinstance(entry, dict):
        return [entry]
    return [entry["initial"][row] for row in range(-min(entry["taps"]))]


def _elements(entry: Any, t: int, n_steps: int, go_backwards: bool) -> list[Variable]:
    """The elements of one sequence that step ``t`` reads."""
    if not isinstance(entry, dict):
        entry = {"input": entry, "taps": [0]}
    array, taps = entry["input"], entry["taps"]
    if n_steps == 0:
        array = pt.zeros((1, *[array.shape[axis] for axis in range(1, array.ndim)]), array.dtype)
        return [array[0] for _ in taps]
    first, last = min(0, *taps), max(0, *taps)
    # elements from both ends that no step may take as its element at tap 0
    return [
        array[-1 - t - (last - tap)] if go_backwards else array[t + tap - first] for tap in taps
    ]
