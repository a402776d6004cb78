"""Compare a loop by scan with the same written out, by Python and without rewrites."""

from __future__ import annotations

from typing import Any

import numpy as np

import theano
from tests_scan_grad.random_steps.building import Builder, Built, derivatives
from tests_scan_grad.random_steps.programs import Program, draw

TOLERANCE = {True: 1e-9, False: 3e-3}
TURNS = 2


def wrong(seed: int, mode: Any) -> str | None:
    """Return what is wrong with the loop of a seed, or None."""
    program = draw(seed)
    try:
        found = _wrong(program, mode)
    except Exception as error:  # whatever it raises, the program is a right one
        found = f"{type(error).__name__}: {str(error)[:1500]}"
    return None if found is None else f"{found}, in\n{program}"


def _wrong(program: Program, mode: Any) -> str | None:
    unrolled = Builder(program, _steps(program))
    built = unrolled.build()
    results = [*built.outputs, *built.reads]
    results += derivatives(built, unrolled.way, program.order, program.seed)
    expected = _compiled(built, results, theano.Mode("py", None))(*built.values.values())
    with theano.change_flags({"scan.save": program.save}):
        scanned = Builder(program)
        built = scanned.build()
        results = [*built.outputs, *built.reads]
        results += derivatives(built, scanned.way, program.order, program.seed)
    function = _compiled(built, results, mode)
    values = len(built.outputs) + len(built.reads)
    arguments = [_laid_out(array, program.layout) for array in built.values.values()]
    for turn in range(TURNS):
        found = function(*arguments)
        for k, (ours, right) in enumerate(zip(found, expected, strict=True)):
            # in which precision derivatives are computed depends on the way
            right = right if k < values else right.astype(ours.dtype)
            what = _difference(ours, right, TOLERANCE[program.is_exact])
            if what is not None:
                return f"result {k} of {len(found)} in call {turn}: {what}"
        for argument, before in zip(arguments, built.values.values(), strict=True):
            if not np.array_equal(argument, before):
                return f"call {turn} has changed an argument"
        for result in found:
            # the next call must not read what it returned
            result[...] = 0
    return None


def _steps(program: Program) -> int:
    """Return the number of steps that the loop runs."""
    if not program.until:
        return program.steps
    builder = Builder(program, program.steps)
    built = builder.build()
    function = _compiled(built, builder.stops, theano.Mode("py", None))
    stops = [bool(stop) for stop in function(*built.values.values())]
    return stops.index(True) + 1 if True in stops else program.steps


def _compiled(built: Built, results: list, mode: Any) -> Any:
    return theano.function([*built.inputs.values()], results, mode=mode, on_unused_input="ignore")


def _laid_out(array: np.ndarray, layout: str) -> np.ndarray:
    """A copy of an array in memory of another order."""
    if layout == "strided" and array.ndim:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    if layout == "reversed" and array.ndim:
        backwards = (slice(None, None, -1),) * array.ndim
        return array[backwards].copy()[backwards]
    return np.array(array, order="F" if layout == "F" else "C")


def _difference(ours: np.ndarray, right: np.ndarray, tolerance: float) -> str | None:
    if ours.shape != right.shape:
        return f"shape {ours.shape}, expected {right.shape}"
    if ours.dtype != right.dtype:
        return f"{ours.dtype}, expected {right.dtype}"
    if not ours.size:
        return None
    if ours.dtype.kind != "f":
        return None if np.array_equal(ours, right) else f"{ours}, expected {right}"
    finite = np.isfinite(right)
    if not np.array_equal(np.isfinite(ours), finite):
        return f"{ours}, expected {right}"
    scale = max(1.0, np.abs(right[finite]).max(initial=0))
    worst = np.abs(ours - right)[finite].max(initial=0)
    return f"{ours}, expected {right}" if worst > tolerance * scale else None
