"""Comparison of Theano's results with those of interpreting a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from tests_scan_grad.differential import optimizers
from tests_scan_grad.differential.building import build
from tests_scan_grad.differential.drawing import draw
from tests_scan_grad.differential.dual import LONG, input_value
from tests_scan_grad.differential.interpreter import Interpretation, NotReadable, interpret
from tests_scan_grad.differential.operations import OPERATIONS
from tests_scan_grad.differential.programs import Loop, Program, describe

# relative to the greatest value or derivative on the way, by the narrowest floating dtype
TOLERANCE = {"float64": 1e-9, "float32": 2e-4}
# how far a value is from the place where a branch would be taken otherwise, at least
MARGIN = {"float64": 1e-7, "float32": 1e-3}
# the last digit, modulo 5, of seeds whose second derivatives and tangents are compared
SECOND_ORDER = (0, 1)
# what is greater is not compared
GREATEST = 1e8


@dataclass(frozen=True)
class Outcome:
    """Verdict on a program: "right", "skipped" with a reason, or "wrong" with a description."""

    verdict: str
    detail: str = ""


def check(seed: int, mode: Any) -> Outcome:
    """Draw a program, run it both ways, and compare values and derivatives."""
    program, values = draw(seed)
    random = np.random.default_rng((seed, 2))
    floats = [name for name, array in values.items() if array.dtype.kind == "f"]
    directions = [
        {name: random.normal(size=values[name].shape) for name in floats} for _ in range(2)
    ]
    narrow = _narrowest(program, values)
    try:
        with np.errstate(all="ignore"):
            expected = {
                name: _interpreted(program, values, {name: directions[0][name]}, directions[1])
                for name in floats
            } or {"": _interpreted(program, values, {}, {})}
    except NotReadable:
        return Outcome("skipped", "it reads what was never computed")
    first = next(iter(expected.values()))
    if any(not run.trace.magnitude < GREATEST for run in expected.values()):
        return Outcome("skipped", "its values are too great")
    if first.trace.margin < MARGIN[narrow]:
        return Outcome("skipped", "a branch is too close")
    try:
        if program.optimizer is not None:
            wrong = _trained_wrongly(program, values, mode, narrow)
        else:
            wrong = _wrong(program, values, directions, expected, mode, narrow)
    except Exception as error:  # whatever it raises, the program is a right one
        wrong = f"{type(error).__name__}: {str(error)[:1500]}"
    return Outcome("right") if wrong is None else Outcome("wrong", f"{wrong}\n{describe(program)}")


def _narrowest(program: Program, values: Mapping[str, np.ndarray]) -> str:
    dtypes = {str(array.dtype) for array in values.values()}
    dtypes |= {entry.value.dtype for entry in _instructions(program.loop)}
    return "float32" if "float32" in dtypes else "float64"


def _instructions(loop: Loop) -> list:
    nested = [e for entry in loop.instructions if entry.inner for e in _instructions(entry.inner)]
    return [*loop.instructions, *nested]


def _interpreted(program, values, first, second) -> Interpretation:
    inputs = {
        name: input_value(array, first.get(name), second.get(name))
        for name, array in values.items()
    }
    return interpret(program, inputs)


def _wrong(program, values, directions, expected, mode, narrow) -> str | None:
    """Return what differs from the interpretation, or None."""
    built = build(program, values)
    floats = [name for name in values if values[name].dtype.kind == "f"]
    wrt = [built.inputs[name] for name in floats]
    vectors = [T.constant(directions[1][name].astype(values[name].dtype)) for name in floats]
    results: list[Any] = [*built.reads, built.cost]
    gradients: list[Any] = []
    second: list[Any] = []
    tangents: list[Any] = []
    if wrt and any(read.dtype.startswith("float") for read in built.reads):
        gradients = theano.grad(built.cost, wrt, disconnected_inputs="ignore")
        if program.loop.truncate == -1 and program.seed % 5 in SECOND_ORDER:
            slope = sum(
                (T.cast(g * v, "float64").sum() for g, v in zip(gradients, vectors, strict=True)),
                T.constant(0.0),
            )
            second = theano.grad(slope, wrt, disconnected_inputs="ignore")
            moved = [built.cost, *(r for r in built.reads if r.dtype.startswith("float"))]
            tangents = theano.Rop(moved, wrt, vectors, disconnected_outputs="ignore")
    function = theano.function(
        list(built.inputs.values()),
        [*results, *gradients, *second, *tangents],
        mode=mode,
        on_unused_input="ignore",
    )
    given = [values[name] if name in values else program.loop.steps for name in built.inputs]
    found = function(*given)
    counts = np.cumsum([len(built.reads), 1, len(gradients), len(second)])
    reads, [cost], slopes, curvatures, along = np.split(np.arange(len(found)), counts)
    first = next(iter(expected.values()))
    tolerance = TOLERANCE[narrow]
    for place, reference in zip(reads, first.reads, strict=True):
        wrong = _difference(found[place], reference, tolerance * first.trace.magnitude)
        if wrong is not None:
            return f"read {place}: {wrong}"
    checks = [("cost", found[cost], first.cost.parts[0], first)]
    for kind, places, part in (("gradient", slopes, 1), ("second gradient", curvatures, 3)):
        for name, place in zip(floats, places, strict=False):
            run = expected[name]
            if found[place].shape != values[name].shape:
                return f"{kind} of {name} has shape {found[place].shape}"
            inner = (found[place].astype(LONG) * directions[0][name]).sum()
            checks.append((f"{kind} of {name}", inner, run.cost.parts[part], run))
    moving = [first.cost, *(read for read in first.reads if read.is_floating)]
    for place, reference in zip(along, moving, strict=False):
        if found[place].shape != reference.shape:
            return f"tangent has shape {found[place].shape}, expected {reference.shape}"
        checks.append(("tangent", found[place], reference.parts[2], first))
    for what, ours, theirs, run in checks:
        scale = max(1.0, run.trace.magnitude)
        if not np.all(np.abs(ours - theirs) <= tolerance * scale * _terms(program)):
            return f"{what} is {ours}, expected {theirs} (magnitude {scale:.3g})"
    return None


def _terms(program: Program) -> float:
    """About how many roundings of the greatest value a result may hold."""
    return 10.0 * (1 + program.loop.steps)


def _difference(ours, reference, tolerance: float) -> str | None:
    expected = reference.value
    if ours.dtype != reference.dtype:
        return f"{ours.dtype}, expected {reference.dtype}"
    if ours.shape != expected.shape:
        return f"of shape {ours.shape}, expected {expected.shape}"
    if reference.is_floating:
        same = np.all(np.abs(ours - expected) <= 10 * tolerance)
    else:
        same = np.array_equal(ours, expected)
    return None if same else f"{ours}, expected {expected}"


def _trained_wrongly(program, values, mode, narrow) -> str | None:
    """Return what differs after two steps of an optimizer, or None."""
    weights = [n for n, v in program.invariants.items() if v.is_floating]
    built = build(program, values)
    shared = {name: theano.shared(values[name], name=name) for name in weights}
    inputs = {name: symbol for name, symbol in built.inputs.items() if name not in weights}
    typed = {
        built.inputs[name]: built.inputs[name].type.filter_variable(shared[name])
        for name in weights
    }
    cost = theano.clone(built.cost, replace=typed)
    gradients = theano.grad(cost, [shared[n] for n in weights], disconnected_inputs="ignore")
    states, updates = [], []
    for name, gradient in zip(weights, gradients, strict=True):
        made, changed = optimizers.symbolic(program.optimizer, shared[name], gradient)
        states += made
        updates += changed
    function = theano.function(
        list(inputs.values()), cost, updates=updates, mode=mode, on_unused_input="ignore"
    )
    given = [values[name] if name in values else program.loop.steps for name in inputs]
    rule = {name: optimizers.Numerical(program.optimizer, values[name]) for name in weights}
    present = dict(values)
    for _ in range(2):
        found = function(*given)
        try:
            run, slopes, near = _all_slopes(program, present, weights)
        except NotReadable:
            return None
        if near < MARGIN[narrow] or not run.trace.magnitude < GREATEST:
            return None
        bound = TOLERANCE[narrow] * run.trace.magnitude * _terms(program) * 100
        if not abs(found - run.cost.value) <= bound:
            return f"cost is {found}, expected {run.cost.value}"
        for name in weights:
            present[name] = rule[name].step(present[name], slopes[name])
            ours = shared[name].get_value()
            if ours.dtype != values[name].dtype:
                return f"{name} is {ours.dtype} after an update"
            if not np.all(np.abs(ours - present[name]) <= bound + 1e-4 * (narrow == "float32")):
                return f"{name} is {ours}, expected {present[name]}"
    return None


def _all_slopes(program, values, weights):
    """The gradient of each weight, element by element."""
    still = _interpreted(program, values, {}, {})
    slopes, margin = {}, still.trace.margin
    for name in weights:
        slope = np.zeros(values[name].shape, LONG)
        for place in np.ndindex(slope.shape):
            direction = np.zeros(slope.shape)
            direction[place] = 1
            slope[place] = _interpreted(program, values, {name: direction}, {}).cost.parts[1]
        slopes[name] = slope
    return still, slopes, margin


def unused_operations(seeds: range) -> set[str]:
    """The operations that no program of these seeds has."""
    used: set[str] = set()
    for seed in seeds:
        used.update(entry.operation for entry in _instructions(draw(seed)[0].loop))
    return set(OPERATIONS) - used
