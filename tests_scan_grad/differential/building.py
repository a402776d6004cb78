"""A Theano program of a description, and its compiled function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from tests_scan_grad.differential.operations import OPERATIONS
from tests_scan_grad.differential.programs import Loop, Program, Read, Value


@dataclass
class Built:
    """Symbols of a program.

    Attributes
    ----------
    inputs
        Every input by name.
    reads, cost
        What is read, and the sum of the floating reads.
    """

    inputs: dict[str, Any]
    reads: list[Any]
    cost: Any


def build(program: Program, values: Mapping[str, np.ndarray]) -> Built:
    """Write a program with Theano.

    Parameters
    ----------
    program
        The program.
    values
        The inputs' arrays, whose shapes are told if the program is static.
    """
    rank_one = {name: _broadcast_axes(program, name, array) for name, array in values.items()}
    inputs = {
        name: T.TensorType(
            str(array.dtype),
            shape=[
                length if program.static or axis in rank_one[name] else None
                for axis, length in enumerate(array.shape)
            ],
        )(name)
        for name, array in values.items()
    }
    steps = T.lscalar("steps") if program.loop.given_steps == "variable" else None
    outputs = write_loop(program.loop, inputs, inputs, steps)
    reads = [_read(outputs[read.output], read) for read in program.reads]
    cost = T.constant(np.float64(0))
    for position, read in enumerate(reads):
        if read.dtype.startswith("float"):
            cost = cost + _cost_of(read, position)
    if steps is not None:
        inputs = inputs | {"steps": steps}
    return Built(inputs, reads, cost)


def _broadcast_axes(program: Program, name: str, array: np.ndarray) -> set[int]:
    """The axes of an input that are of length 1 whatever the data."""
    value = _value_of(program, name)
    before = array.ndim - len(value.shape)
    return {before + axis for axis, length in enumerate(value.shape) if length == 1}


def _value_of(program: Program, name: str) -> Value:
    for entry in program.loop.sequences:
        if entry.name == name:
            return entry.element
    for state in program.loop.states:
        if state.name == name:
            return state.value
    return program.invariants[name]


def _cost_of(read, position: int):
    flat = T.cast(read, "float64").flatten()
    places = T.arange(flat.shape[0])
    return (T.sin(flat) * T.cos(places + position)).sum()


def _read(output, read: Read):
    return output[read.index] if read.index is not None else output[slice(*read.bounds)]


def write_loop(loop: Loop, given: Mapping[str, Any], outer: Mapping[str, Any], steps=None) -> list:
    """The outputs of a loop, as ``theano.scan`` returns them; its invariants are arguments."""

    def step(*arguments):
        names = [f"{entry.name}[{tap}]" for entry in loop.sequences for tap in entry.taps]
        names += [f"{state.name}[{tap}]" for state in loop.states for tap in state.taps]
        values = dict(zip([*names, *loop.invariants], arguments, strict=True))
        for instruction in loop.instructions:
            values[instruction.result] = _write(instruction, values)
        results = [values[state.update] for state in loop.states]
        results += [values[name] for name in loop.traces]
        if loop.until is None:
            return results
        name, bound = loop.until
        return results, theano.scan_module.until(values[name].sum() > bound)

    sequences = [
        given[entry.name]
        if entry.taps == (0,)
        else {"input": given[entry.name], "taps": [*entry.taps]}
        for entry in loop.sequences
    ]
    states = [
        given[state.name]
        if state.taps == (-1,)
        else {"initial": given[state.name], "taps": [*state.taps]}
        for state in loop.states
    ]
    n_steps = {"no": None, "constant": loop.steps, "variable": steps}[loop.given_steps]
    outputs, _ = theano.scan(
        step,
        sequences=sequences,
        outputs_info=[*states, *(None for _ in loop.traces)],
        non_sequences=[outer[name] for name in loop.invariants],
        n_steps=n_steps,
        go_backwards=loop.go_backwards,
        truncate_gradient=loop.truncate,
        return_list=True,
    )
    return outputs


def _write(instruction, values: Mapping[str, Any]):
    operands = [values[name] for name in instruction.operands]
    if instruction.inner is None:
        return OPERATIONS[instruction.operation].build(*operands)
    inner = instruction.inner
    given = {inner.states[0].name: operands[0]}
    given |= {inner.sequences[0].name: operands[1]} if inner.sequences else {}
    return write_loop(inner, given, values)[0][-1]
