"""A program run step by step in NumPy, with derivatives along given directions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tests_scan_grad.differential import dual
from tests_scan_grad.differential.dual import Dual
from tests_scan_grad.differential.operation import Trace
from tests_scan_grad.differential.operations import OPERATIONS
from tests_scan_grad.differential.programs import Loop, Program, Read

Environment = Mapping[str, Dual]


class NotReadable(Exception):
    """The loop stopped before the element that is read."""


@dataclass(frozen=True)
class Interpretation:
    """Results of interpreting a program.

    Attributes
    ----------
    reads
        The values read of the loop's outputs.
    cost
        A sum of the floating ones.
    trace
        What was noted on the way.
    """

    reads: list[Dual]
    cost: Dual
    trace: Trace


def interpret(program: Program, inputs: Environment) -> Interpretation:
    """Run a program.

    Parameters
    ----------
    program
        The program.
    inputs
        Sequences, initial values (``name`` of a state) and invariants.
    """
    trace = Trace()
    outputs = run_loop(program.loop, inputs, inputs, trace)
    reads = [_read(outputs[read.output], read) for read in program.reads]
    cost = dual.constant(np.zeros(()), "float64")
    for position, value in enumerate(reads):
        if value.is_floating:
            cost = dual.add(cost, _cost_of(value, position))
    trace.result(cost)
    return Interpretation(reads, cost, trace)


def weights_of(size: int, position: int) -> np.ndarray:
    """Return the weights of a read's elements in the cost."""
    return np.cos(np.arange(size) + position)


def _cost_of(value: Dual, position: int) -> Dual:
    wide = dual.cast(value, "float64")
    x = wide.value
    bent = dual.unary(wide, np.sin(x), np.cos(x), -np.sin(x))
    weights = weights_of(x.size, position).reshape(x.shape).astype(np.longdouble)
    return dual.linear(lambda part: (weights * part).sum(), bent)


def _read(output: Dual, read: Read) -> Dual:
    length = output.shape[0]
    if read.index is not None:
        if not -length <= read.index < length:
            raise NotReadable
        return dual.linear(lambda part: part[read.index], output)
    return dual.linear(lambda part: part[slice(*read.bounds)], output)


def run_loop(loop: Loop, given: Environment, outer: Environment, trace: Trace) -> list[Dual]:
    """The outputs of a loop: its states, then its traces, stacked along a new first axis.

    Parameters
    ----------
    loop
        The loop.
    given
        Its sequences and initial values by name.
    outer
        Its invariants by name.
    trace
        Where branches and magnitudes are noted.
    """
    invariants = {name: outer[name] for name in loop.invariants}
    past = {state.name: _initial_rows(given[state.name], state.taps) for state in loop.states}
    results: list[list[Dual]] = [[] for _ in (*loop.states, *loop.traces)]
    for t in range(loop.steps):
        values = dict(invariants)
        for entry in loop.sequences:
            array = given[entry.name]
            for tap in entry.taps:
                place = _place(array.shape[0], t, tap, entry.taps, loop)
                values[f"{entry.name}[{tap}]"] = _row(array, place)
        for state in loop.states:
            for tap in state.taps:
                values[f"{state.name}[{tap}]"] = past[state.name][tap]
        for instruction in loop.instructions:
            values[instruction.result] = _execute(instruction, values, trace)
        new = [values[state.update] for state in loop.states]
        new += [values[name] for name in loop.traces]
        if loop.truncate != -1 and t < loop.steps - loop.truncate:
            new = [dual.without_derivatives(value) for value in new]
        for column, value in zip(results, new, strict=True):
            column.append(value)
        for state, value in zip(loop.states, new, strict=False):
            past[state.name].append(value)
        if loop.until is not None:
            name, bound = loop.until
            excess = values[name].value.sum() - bound
            trace.branch(np.asarray(excess))
            if excess > 0:
                break
    shapes = _row_shapes(loop, given)
    return [
        _stacked(column, dtype, shape)
        for column, (dtype, shape) in zip(results, shapes, strict=True)
    ]


def _place(length: int, t: int, tap: int, taps: tuple[int, ...], loop: Loop) -> int:
    """The row of a sequence that a step reads at a tap."""
    first, last = min(0, *taps), max(0, *taps)
    return length - 1 - t - (last - tap) if loop.go_backwards else t + tap - first


def _row(array: Dual, place: int) -> Dual:
    return dual.linear(lambda part: part[place], array)


def _initial_rows(initial: Dual, taps: tuple[int, ...]) -> list[Dual]:
    if taps == (-1,):
        return [initial]
    return [_row(initial, k) for k in range(initial.shape[0])]


def _execute(instruction, values: Environment, trace: Trace) -> Dual:
    operands = [values[name] for name in instruction.operands]
    if instruction.inner is not None:
        inner = instruction.inner
        # the first operand is what the loop begins with, the second what it goes through
        given = {inner.states[0].name: operands[0]}
        given |= {inner.sequences[0].name: operands[1]} if inner.sequences else {}
        result = run_loop(inner, given, values, trace)[0]
        result = _row(result, -1)
    else:
        result = OPERATIONS[instruction.operation].run(trace, *operands)
    trace.result(result)
    return result


def _row_shapes(loop: Loop, given: Environment) -> list[tuple[np.dtype, tuple[int, ...]]]:
    """The dtype and shape of each output's rows, for loops without steps."""
    known = {}
    for state in loop.states:
        known[state.name] = (np.dtype(state.value.dtype), state.value.shape)
    for instruction in loop.instructions:
        value = instruction.value
        known[instruction.result] = (np.dtype(value.dtype), value.shape)
    return [known[state.name] for state in loop.states] + [known[name] for name in loop.traces]


def _stacked(rows: list[Dual], dtype: np.dtype, shape: tuple[int, ...]) -> Dual:
    if not rows:
        return dual.constant(np.zeros((0, *shape)), dtype)
    parts = zip(*(row.parts for row in rows), strict=True)
    return Dual(dtype, tuple(np.stack(part) for part in parts))
