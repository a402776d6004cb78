"""A random loop of a seed: what enters its step, what the step computes, what is read of it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests_scan_grad.random_steps import (
    arranging_rules,
    elementwise_rules,
    nested_rules,
    product_rules,
)
from tests_scan_grad.random_steps.values import Applied, Chooser, Rule, Value
from tests_scan_grad.random_steps.ways import result_type

RULES: tuple[Rule, ...] = (
    *elementwise_rules.RULES,
    *arranging_rules.RULES,
    *product_rules.RULES,
    *nested_rules.RULES,
)
WHOLE = ("int64", "int8", "uint8", "int32", "bool")
LARGEST = 80
TRIES = 200
READS = ("all", "all", "last", "rest", "reversed", "first", "sum", "strided", "none")
UPDATES = ("squashed", "mean", "accumulated", "plain")
LAYOUTS = ("C", "C", "F", "reversed", "strided")


@dataclass(frozen=True)
class Taps:
    """A sequence or a state, and which of its rows the step reads."""

    value: Value
    taps: tuple[int, ...]

    def read(self, tap: int) -> Value:
        return Value(f"{self.value.name}[{tap}]", self.value.shape, self.value.dtype)


@dataclass(frozen=True)
class Instruction:
    """A value of the step, and how it is computed."""

    result: Value
    rule: str
    applied: Applied

    def __str__(self) -> str:
        operands = ", ".join(value.name for value in self.applied.operands)
        return f"{self.result} = {self.rule}({operands})"


@dataclass(frozen=True)
class Following:
    """A value of the step that becomes a state's next one, and the way in which it does."""

    source: Value
    update: str


@dataclass(frozen=True)
class Program:
    """One loop.

    Attributes
    ----------
    lengths_known
        Whether the types of the inputs say all lengths, none (False), or lengths of 1 (None).
    counted
        Whether the number of steps is given.
    """

    seed: int
    steps: int
    sequences: tuple[Taps, ...]
    states: tuple[Taps, ...]
    invariants: tuple[Value, ...]
    instructions: tuple[Instruction, ...]
    following: tuple[Following, ...]
    traces: tuple[Value, ...]
    reads: tuple[tuple[str, ...], ...]
    go_backwards: bool
    until: bool
    lengths_known: bool | None
    counted: bool
    captured: bool
    order: int
    save: str
    layout: str

    def __str__(self) -> str:
        lines = [
            f"seed {self.seed}: {self.steps} steps, backwards {self.go_backwards}, until {self.until},"
            f" lengths {self.lengths_known}, counted {self.counted}, captured {self.captured},"
            f" derivatives {self.order}, save {self.save}, layout {self.layout}"
        ]
        lines += [f"  {one.value} at {one.taps}" for one in (*self.sequences, *self.states)]
        lines += [f"  {value}" for value in self.invariants]
        lines += [f"  {instruction}" for instruction in self.instructions]
        lines += [
            f"  {state.value.name} becomes {next_.source.name}, {next_.update}"
            for state, next_ in zip(self.states, self.following, strict=True)
        ]
        lines += [
            f"  returned besides: {', '.join(v.name for v in self.traces)}; read {self.reads}"
        ]
        return "\n".join(lines)

    @property
    def is_exact(self) -> bool:
        """Return whether all floating-point values have double precision."""
        given = [one.value for one in (*self.sequences, *self.states)]
        values = [*given, *self.invariants, *(one.result for one in self.instructions)]
        return all(value.dtype != "float32" for value in values)


class _Drawing:
    """The choices of one program.

    Parameters
    ----------
    seed
        Decides everything.
    """

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self._lengths = [self.random.choice((2, 3, 3, 2, 4)) for _ in range(2)]
        if self.chance(0.06):
            self._lengths[0] = 1
        if self.chance(0.03):
            self._lengths[1] = 0
        self._floating = "float64" if self.chance(0.93) else "float32"

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def value(self, name: str) -> Value:
        dimensions = self.random.choice((0, 1, 1, 2, 2, 2, 3))
        shape = tuple(self.random.choice(self._lengths) for _ in range(dimensions))
        return Value(
            name, shape, self._floating if self.chance(0.72) else self.random.choice(WHOLE)
        )

    def taps(self, letter: str, least: int, most: int, choices: Any) -> tuple[Taps, ...]:
        return tuple(
            Taps(self.value(f"{letter}{k}"), self.random.choice(choices))
            for k in range(self.random.randint(least, most))
        )


def draw(seed: int) -> Program:
    drawing = _Drawing(seed)
    choose = drawing.random
    sequences = drawing.taps("x", 0, 3, ((0,), (0,), (0,), (-1, 0), (0, 1), (-2, 0, 1), (1,)))
    states = drawing.taps("h", 1, 3, ((-1,), (-1,), (-1,), (-2,), (-1, -2), (-1, -3), (-3,)))
    invariants = tuple(drawing.value(f"w{k}") for k in range(choose.randint(1, 4)))
    values = [one.read(tap) for one in (*sequences, *states) for tap in one.taps]
    values += invariants
    instructions = _instructions(Chooser(choose, values), choose.randint(2, 9))
    following = tuple(_following(choose, state, values) for state in states)
    traces = tuple(choose.choice(values) for _ in range(choose.randint(0, 3)))
    return Program(
        seed=seed,
        steps=choose.choice((1, 2, 3, 3, 4, 5, 6)),
        sequences=sequences,
        states=states,
        invariants=invariants,
        instructions=tuple(instructions),
        following=following,
        traces=traces,
        reads=tuple(
            tuple(choose.choice(READS) for _ in range(choose.randint(1, 2)))
            for _ in (*states, *traces)
        ),
        go_backwards=drawing.chance(0.2),
        until=drawing.chance(0.15),
        lengths_known=choose.choice((True, False, None)),
        counted=not sequences or drawing.chance(0.5),
        captured=drawing.chance(0.4),
        order=choose.choice((1, 1, 1, 2)),
        save=choose.choice(("auto", "auto", "all", "none")),
        layout=choose.choice(LAYOUTS),
    )


def _following(choose: random.Random, state: Taps, values: list[Value]) -> Following:
    fitting = [value for value in values if value.shape == state.value.shape]
    computed = [value for value in fitting if value.name.startswith("v")]
    return Following(choose.choice(computed or fitting), choose.choice(UPDATES))


def _instructions(chooser: Chooser, count: int) -> list[Instruction]:
    found: list[Instruction] = []
    weights = [rule.weight for rule in RULES]
    for _ in range(TRIES):
        if len(found) == count:
            break
        [rule] = chooser.random.choices(RULES, weights)
        applied = rule.draw(chooser)
        if applied is None or np.prod(applied.shape, dtype=int) > LARGEST:
            continue
        kind = result_type(applied)
        if len(applied.shape) > 4 or kind.dtype == "float16" or kind.dtype.startswith("complex"):
            continue
        result = Value(f"v{len(found)}", applied.shape, kind.dtype)
        chooser.values.append(result)
        found.append(Instruction(result, rule.name, applied))
    return found
