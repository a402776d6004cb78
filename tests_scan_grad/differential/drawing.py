"""A random program of a seed, and arrays for its inputs."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from tests_scan_grad.differential.operation import broadcast, promoted
from tests_scan_grad.differential.operations import OPERATIONS
from tests_scan_grad.differential.programs import (
    Instruction,
    Loop,
    Program,
    Read,
    Sequence,
    State,
    Value,
)

FLOATS, INTEGERS = ("float64", "float32"), ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
OPTIMIZERS = ("sgd", "momentum", "rmsprop", "adam", "adagrad")
# how many operations are tried, of which the values available may fit none
TRIES = 12


class Drawing:
    """The choices of one program.

    Parameters
    ----------
    seed
        Decides everything.
    """

    def __init__(self, seed: int):
        self.seed = seed
        self.random = np.random.default_rng(seed)
        self.count = 0

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def one(self, choices, weights=None):
        choices = list(choices)
        if weights is not None:
            weights = np.asarray(weights, float) / np.sum(weights)
        return choices[int(self.random.choice(len(choices), p=weights))]

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def dtype(self, floating: float = 0.7) -> str:
        if self.chance(floating):
            return self.one(FLOATS, (3, 1))
        return self.one((*INTEGERS, *UNSIGNED, "bool"), (3, 1, 2, 2, 1, 1, 1, 1, 2))

    def program(self) -> Program:
        """The program."""
        invariants = {
            self.name("w"): Value(
                self.one(("square", "square", "vector", "scalar", "matrix", "column", "row")),
                self.dtype(0.85),
            )
            for _ in range(self.one((1, 2, 3)))
        }
        loop = self.loop(invariants)
        floats = [name for name, value in invariants.items() if value.is_floating]
        optimizer = self.one(OPTIMIZERS) if floats and self.chance(0.08) else None
        if optimizer is not None:
            loop = replace(loop, truncate=-1)
        return Program(
            self.seed,
            loop,
            invariants,
            tuple(self.reads(loop)),
            self.chance(0.3),
            optimizer,
        )

    def loop(self, invariants: dict[str, Value]) -> Loop:
        sequences = tuple(
            Sequence(
                self.name("x"),
                Value(self.one(("scalar", "vector", "vector", "matrix", "matrix")), self.dtype()),
                self.one(((0,), (0,), (0,), (-1, 0), (0, 2), (1,), (-2, 0, 1))),
            )
            for _ in range(self.one((0, 1, 1, 2, 2)))
        )
        states = [
            State(
                self.name("s"),
                Value(self.one(("scalar", "vector", "matrix", "square")), self.dtype(0.75)),
                self.one(((-1,), (-1,), (-1,), (-1,), (-2,), (-1, -2), (-3, -1))),
                "",
            )
            for _ in range(self.one((0, 1, 1, 1, 2, 3) if sequences else (1, 1, 2)))
        ]
        values = dict(invariants)
        for entry in sequences:
            values |= {f"{entry.name}[{tap}]": entry.element for tap in entry.taps}
        for state in states:
            values |= {f"{state.name}[{tap}]": state.value for tap in state.taps}
        instructions: list[Instruction] = []
        for _ in range(self.one((1, 2, 3, 4, 5, 7))):
            self.instruction(values, instructions, nested=self.chance(0.05))
        states = [self.update(state, values, instructions) for state in states]
        results = [entry.result for entry in instructions]
        traces = [self.one(results) for _ in range(self.one((0, 1, 1, 2))) if results]
        if not states and not traces:
            self.add("add", [next(iter(values))] * 2, values, instructions)
            traces = [instructions[-1].result] if instructions else []
        steps = self.one(range(13), (1, 2, 3, 4, 4, 4, 3, 2, 2, 1, 1, 1, 1))
        until = None
        if states and self.chance(0.12):
            floating = [name for name in results if values[name].is_floating]
            until = (self.one(floating), self.one((0.0, 0.5, 2.0))) if floating else None
        return Loop(
            steps=steps,
            given_steps=self.one(("no", "no", "constant", "variable"))
            if sequences
            else self.one(("constant", "variable")),
            sequences=sequences,
            states=tuple(states),
            invariants=tuple(invariants),
            instructions=tuple(instructions),
            traces=tuple(traces),
            until=until,
            go_backwards=self.chance(0.2),
            truncate=self.one((1, 2, 5)) if until is None and self.chance(0.1) else -1,
        )

    def instruction(self, values, instructions, nested=False) -> None:
        """One more instruction, if operands for it are found."""
        if nested and self.nested(values, instructions):
            return
        operations = list(OPERATIONS)
        weights = [OPERATIONS[name].weight for name in operations]
        # later values more often, so that programs are deep
        recent = dict(zip(values, range(1, len(values) + 1), strict=True))
        for _ in range(TRIES):
            name = self.one(operations, weights)
            fitting = [
                operands
                for operands in itertools.product(values, repeat=OPERATIONS[name].arity)
                if OPERATIONS[name].typed(*(values[operand] for operand in operands)) is not None
            ]
            if fitting:
                chances = [np.prod([recent[operand] for operand in some]) for some in fitting]
                self.add(name, list(self.one(fitting, chances)), values, instructions)
                return

    def add(self, operation: str, operands: list[str], values, instructions) -> bool:
        value = OPERATIONS[operation].typed(*(values[name] for name in operands))
        if value is None:
            return False
        result = self.name("v")
        instructions.append(Instruction(result, operation, tuple(operands), value))
        values[result] = value
        return True

    def nested(self, values, instructions) -> bool:
        """A loop over the rows of a matrix, or of a few steps, that carries a vector or a scalar."""
        begins = [n for n, v in values.items() if v.kind in ("vector", "scalar") and v.is_floating]
        rows = [n for n, v in values.items() if v.kind == "matrix" and v.dtype == "float64"]
        if not begins:
            return False
        start = self.one(begins)
        through = self.one(rows) if rows and values[start].kind == "vector" else None
        shared = [
            name
            for name, value in values.items()
            if value.kind in ("square", "vector", "scalar") and value.is_floating
        ]
        shared = list(dict.fromkeys(self.one(shared) for _ in range(2)))
        inside = {name: values[name] for name in shared}
        state = State(self.name("s"), values[start], (-1,), "")
        sequences = ()
        if through is not None:
            sequences = (Sequence(self.name("x"), Value("vector", "float64"), (0,)),)
            inside[f"{sequences[0].name}[0]"] = sequences[0].element
        inside[f"{state.name}[-1]"] = state.value
        inner: list[Instruction] = []
        for _ in range(self.one((1, 2, 3))):
            self.instruction(inside, inner)
        state = self.update(state, inside, inner)
        loop = Loop(
            steps=2 if sequences else self.one((1, 3)),
            given_steps="no" if sequences else "constant",
            sequences=sequences,
            states=(state,),
            invariants=tuple(shared),
            instructions=tuple(inner),
            traces=(),
            go_backwards=bool(sequences) and self.chance(0.3),
        )
        result = self.name("v")
        operands = (start, through) if through is not None else (start,)
        instructions.append(Instruction(result, "loop", operands, values[start], loop))
        values[result] = values[start]
        return True

    def update(self, state: State, values, instructions) -> State:
        """The state with what it becomes: a sum in some written form, or something bounded."""
        if self.chance(0.5) and self.accumulate(state, values, instructions):
            return replace(state, update=instructions[-1].result)
        previous = f"{state.name}[{state.taps[0]}]"
        fitting = [
            name
            for name, value in values.items()
            if broadcast(value, state.value) == state.value.kind
            and (value.is_floating or not state.value.is_floating or value.dtype != "bool")
            and not (value.is_floating and not state.value.is_floating)
        ]
        source = self.one(fitting)
        if state.value.dtype == "bool":
            same = [n for n in fitting if values[n].dtype == "bool"]
            self.add("or", [previous, self.one(same)], values, instructions)
            return replace(state, update=instructions[-1].result)
        if values[source].dtype != state.value.dtype:
            self.add(f"cast to {state.value.dtype}", [source], values, instructions)
            source = instructions[-1].result
        self.add(self.one(("add", "subtract")), [source, previous], values, instructions)
        if state.value.is_floating:
            self.add("tanh", [instructions[-1].result], values, instructions)
        return replace(state, update=instructions[-1].result)

    def accumulate(self, state: State, values, instructions) -> bool:
        """``s + x``, ``s - (x - y)``, ``(s + x) - y`` and so on, of terms that fit the state."""
        if state.value.dtype == "bool":
            return False
        total = f"{state.name}[-1]"
        if -1 not in state.taps:
            return False
        terms = [
            name
            for name, value in values.items()
            if name != total
            and promoted(value, state.value) == state.value.dtype
            and broadcast(value, state.value) == state.value.kind
        ]
        if not terms:
            return False
        form = self.one(
            ("total + x", "x + total", "total - x", "total + (x op y)", "total op x op y")
        )
        first, second = self.one(terms), self.one(terms)
        sign = self.one(("add", "subtract"))
        steps = {
            "total + x": [("add", total, first)],
            "x + total": [("add", first, total)],
            "total - x": [("subtract", total, first)],
            "total + (x op y)": [(sign, first, second), (self.one(("add", "subtract")), total, "")],
            "total op x op y": [(sign, total, first), (self.one(("add", "subtract")), "", second)],
        }[form]
        for operation, left, right in steps:
            last = instructions[-1].result if instructions else ""
            if not self.add(operation, [left or last, right or last], values, instructions):
                return False
        return instructions[-1].value == state.value

    def reads(self, loop: Loop) -> list[Read]:
        """Draw the reads of each output; some outputs have none."""
        found = []
        for output in range(len(loop.states) + len(loop.traces)):
            for _ in range(self.one((0, 1, 1, 1, 2))):
                found.append(self.read(output, loop))
        return found or [Read(0, None, (None, None, None))]

    def read(self, output: int, loop: Loop) -> Read:
        possible = loop.steps if loop.until is None else 1 if loop.steps else 0
        kind = self.one(("last", "last", "all", "index", "slice"))
        if possible and kind == "last":
            return Read(output, -1, (None, None, None))
        if possible and kind == "index":
            return Read(output, int(self.random.integers(-possible, possible)), (None, None, None))
        if kind == "slice":
            bound = [None, *range(-loop.steps - 1, loop.steps + 2)]
            step = self.one((None, 1, 2, -1, -2))
            return Read(output, None, (self.one(bound), self.one(bound), step))
        return Read(output, None, (None, None, None))


def draw(seed: int) -> tuple[Program, dict[str, np.ndarray]]:
    """The program of a seed, and the arrays of its inputs by name."""
    program = Drawing(seed).program()
    random = np.random.default_rng((seed, 1))
    loop, values = program.loop, {}
    surplus = int(random.integers(0, 3)) if loop.given_steps != "no" else 0
    for entry in loop.sequences:
        reach = max(0, *entry.taps) - min(0, *entry.taps)
        # PyTensor counts the rows of a backward sequence from its end
        length = loop.steps + reach + (0 if loop.go_backwards else surplus)
        values[entry.name] = _array(random, (length, *entry.element.shape), entry.element.dtype)
    for state in loop.states:
        rows = () if state.taps == (-1,) else (-min(state.taps),)
        values[state.name] = _array(random, (*rows, *state.value.shape), state.value.dtype)
    for name, value in program.invariants.items():
        values[name] = _array(random, value.shape, value.dtype)
    return program, values


def _array(random: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    if dtype == "bool":
        return np.asarray(random.random(shape) < 0.5)
    if dtype.startswith("float"):
        return np.asarray(random.normal(size=shape), dtype)
    low = 0 if dtype.startswith("u") else -100
    return np.asarray(random.integers(low, 127, size=shape), dtype)
