"""Comparison of programs that run as functions with the same programs in unrolled NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import theano
from tests_scan_grad.around_loops.drawing import draw
from tests_scan_grad.around_loops.loops import NotComparable
from tests_scan_grad.around_loops.programs import Compiled, Program
from tests_scan_grad.loop_runs import pytensor_scan, unrewritten_mode

# relative to the greatest value
TOLERANCE = {"float64": 1e-9, "float32": 3e-4}
SLOPE_TOLERANCE = {"float64": 1e-6, "float32": 3e-3}
MODES = {
    "FAST_RUN": "FAST_RUN",
    "FAST_COMPILE": "FAST_COMPILE",
    "XLA": "XLA",
    # what the graph says, node by node
    "unrewritten": None,
    # PyTensor's own scan, whose gradients are not asked for: some are wrong
    "PyTensor": None,
}
# mode -> why programs are not run in it
NOT_RUN: dict[str, dict[str, Callable[[Program], bool]]] = {
    "PyTensor": {
        "loops without steps put out no lengths": Program.has_loops_without_steps,
        "loops backwards read other rows where sequences are of different lengths": lambda program: (
            any(loop.backwards for loop in program.loops)
        ),
    },
}


@dataclass(frozen=True)
class Outcome:
    """Verdict on a program: "right", "skipped" with a reason, or "wrong" with a description."""

    verdict: str
    detail: str = ""


def check(seed: int, mode: str) -> Outcome:
    """Draw a program, run it both ways in each of its calls, and compare values and gradients."""
    program = draw(seed)
    try:
        for reason, applies in NOT_RUN.get(mode, {}).items():
            if applies(program):
                return Outcome("skipped", reason)
        wrong = _wrong(program, mode)
    except NotComparable as error:
        return Outcome("skipped", str(error))
    except Exception as error:  # whatever it raises, the program is a right one
        wrong = f"{type(error).__name__}: {str(error)[:3000]}"
    if wrong is None:
        return Outcome("right")
    return Outcome("wrong", f"{wrong}\nin {mode}\n{program.described()}")


def compiled(program: Program, mode: str) -> Compiled:
    """A program as a function in one of the modes."""
    scan: Any = pytensor_scan if mode == "PyTensor" else theano.scan
    linked = MODES[mode] or unrewritten_mode()
    return Compiled(program, scan, linked, gradients=mode != "PyTensor")


def _wrong(program: Program, mode: str) -> str | None:
    arrays = program.numbers(0)
    function = compiled(program, mode)
    peer = compiled(program, "unrewritten") if program.truncated and mode != "PyTensor" else None
    function.set_shared(arrays)
    kept: list[tuple[str, np.ndarray, np.ndarray]] = []
    for call in range(len(program.calls)):
        given = program.numbers(call)
        for k in function.shared:
            given[k] = arrays[k]
        expected = program.compute(given)
        found, gradients = function(given)
        for (k, borrow), result in zip(program.results, found, strict=True):
            where = f"value v{k} of call {call}"
            wrong = _difference(program, where, result, expected[k])
            if wrong is not None:
                return wrong
            if not borrow:
                kept.append((where, result, result.copy()))
        if gradients:
            peer_gradients = _by_peer(peer, given)
            wrong = _slope_difference(program, given, gradients, peer_gradients)
            if wrong is not None:
                return f"in call {call}: {wrong}"
        arrays = [
            expected[program.updates[k]] if k in program.updates else a for k, a in enumerate(given)
        ]
        for k, value in function.shared_values().items():
            wrong = _difference(program, f"shared v{k} after call {call}", value, arrays[k])
            if wrong is not None:
                return wrong
    for where, result, copy in kept:
        if not np.array_equal(result, copy):
            return f"{where} was changed by a later call"
    return None


def _by_peer(peer: Compiled | None, given: list[np.ndarray]) -> list[np.ndarray] | None:
    if peer is None:
        return None
    peer.set_shared(given)
    return peer(given)[1]


def _difference(
    program: Program, where: str, found: np.ndarray, expected: np.ndarray
) -> str | None:
    if found.shape != expected.shape:
        return f"{where} has shape {found.shape}, expected {expected.shape}"
    if str(found.dtype) != program.dtype:
        return f"{where} is {found.dtype}, expected {program.dtype}"
    if not expected.size:
        return None
    bound = TOLERANCE[program.dtype] * max(1.0, float(np.abs(expected).max()))
    # written so that a NaN counts as a difference
    if not np.abs(found - expected).max() <= bound:
        return f"{where} is\n{found}\nexpected\n{expected}"
    return None


def _slope_difference(
    program: Program,
    given: list[np.ndarray],
    gradients: list[np.ndarray],
    expected: list[np.ndarray] | None,
) -> str | None:
    """Return how gradients differ from the peer's, or from finite differences, or None."""
    for k, (gradient, array) in enumerate(zip(gradients, given, strict=True)):
        if gradient.shape != array.shape or str(gradient.dtype) != program.dtype:
            return f"the gradient by v{k} is {gradient.dtype} {gradient.shape}, of {array.shape}"
    if expected is not None:
        for k, (ours, theirs) in enumerate(zip(gradients, expected, strict=True)):
            wrong = _difference(program, f"the gradient by v{k}", ours, np.float64(theirs))
            if wrong is not None:
                return wrong
        return None
    generator = np.random.default_rng((program.seed, 1))
    directions = [generator.normal(size=array.shape) for array in given]
    shapes = [value.shape for value in program.compute(given)]
    moved = partial(_moved_cost, program, given, directions, shapes)
    # fourth order: what is left is the rounding of the costs
    step = 1e-3
    measured = (8 * (moved(step) - moved(-step)) - moved(2 * step) + moved(-2 * step)) / (12 * step)
    terms = [gradient * d for gradient, d in zip(gradients, directions, strict=True)]
    slope = float(sum(term.sum() for term in terms))
    magnitude = max(1.0, float(sum(np.abs(term).sum() for term in terms)))
    if abs(slope - measured) <= SLOPE_TOLERANCE[program.dtype] * magnitude:
        return None
    return f"the slope is {slope}, by finite differences {measured}"


def _moved_cost(
    program: Program,
    given: list[np.ndarray],
    directions: list[np.ndarray],
    shapes: list[tuple[int, ...]],
    by: float,
) -> float:
    values = program.compute([a + by * d for a, d in zip(given, directions, strict=True)])
    if [value.shape for value in values] != shapes:
        raise NotComparable("a loop stops elsewhere nearby")
    return program.cost(values)
