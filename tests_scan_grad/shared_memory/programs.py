"""Random functions of a seed, which read and update the same shared variables."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from tests_scan_grad.shared_memory.rules import RULES, SHAPES, Rule

# how many rules are tried for a value, of which those available may fit none
TRIES = 50
HOW_PASSED = ("plain", "plain", "plain", "borrow", "mutable", "state")


@dataclass(frozen=True, eq=False)
class Value:
    """A shared variable or an input, which have no rule, or what a rule gives."""

    kind: str
    name: str
    rule: Rule | None = None
    operands: tuple[Value, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.operands))})" if self.rule else self.name


@dataclass(frozen=True)
class Passed:
    """An input, how it is passed (one of HOW_PASSED), and the next value of a state."""

    value: Value
    how: str
    following: Value | None = None

    def __str__(self) -> str:
        return f"{self.value.name} {self.how} {self.following or ''}".strip()


@dataclass(frozen=True)
class Described:
    """One function: outputs with whether they are borrowed, and updates of shared variables."""

    inputs: tuple[Passed, ...]
    outputs: tuple[tuple[Value, bool], ...]
    updates: tuple[tuple[Value, Value], ...]
    copied: str

    def __str__(self) -> str:
        lines = [f"inputs {', '.join(map(str, self.inputs))}; copied: {self.copied}"]
        lines += [f"  output{' borrowed' * borrowed} {value}" for value, borrowed in self.outputs]
        lines += [f"  {shared} becomes {value}" for shared, value in self.updates]
        return "\n".join(lines)


@dataclass(frozen=True)
class Program:
    shared: tuple[Value, ...]
    functions: tuple[Described, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.functions))


def draw(choose: random.Random) -> Program:
    shared = tuple(Value(choose.choice("mmmvvs"), f"S{k}") for k in range(choose.randint(1, 4)))
    functions = tuple(_function(choose, shared, k) for k in range(choose.randint(1, 2)))
    return Program(shared, functions)


def _function(choose: random.Random, shared: Sequence[Value], number: int) -> Described:
    inputs = [Value(choose.choice("mmvvs"), f"x{number}{k}") for k in range(choose.randint(0, 3))]
    values = [*shared, *inputs]
    for _ in range(choose.randint(2, 8)):
        values += _computed(choose, values)

    def of_kind(kind: str) -> Value:
        fitting = [value for value in values if value.kind == kind]
        return choose.choice(fitting[-4:] if choose.random() < 0.7 else fitting)

    passed = []
    for value in inputs:
        how = choose.choice(HOW_PASSED)
        passed.append(Passed(value, how, of_kind(value.kind) if how == "state" else None))
    # what must be passed comes first
    passed.sort(key=lambda entry: entry.how == "state")
    return Described(
        tuple(passed),
        tuple((choose.choice(values), choose.random() < 0.25) for _ in range(choose.randint(0, 4))),
        tuple((value, of_kind(value.kind)) for value in shared if choose.random() < 0.6),
        choose.choice(("no", "no", "no", "no", "own memory", "same memory")),
    )


def _computed(choose: random.Random, values: Sequence[Value]) -> list[Value]:
    """A new value, or none if no rule fits."""
    weights = [rule.weight for rule in RULES]
    for _ in range(TRIES):
        [rule] = choose.choices(RULES, weights)
        operands = []
        for kind in rule.takes:
            fitting = [value for value in values if value.kind == kind]
            if not fitting:
                break
            operands.append(choose.choice(fitting[-5:] if choose.random() < 0.5 else fitting))
        else:
            return [Value(rule.gives, rule.name, rule, tuple(operands))]
    return []


@dataclass
class Compiled:
    """A function, what it was made from, and the values of its states."""

    function: Any
    described: Described
    states: dict[Value, np.ndarray] = field(default_factory=dict)


class Compiler:
    """Compile the functions of a program.

    Parameters
    ----------
    shared
        The variables.
    mode
        Of `theano.function`.
    """

    def __init__(self, shared: dict[Value, Any], mode: Any):
        self.shared, self._mode = shared, mode

    def compiled(self, described: Described, states: dict[Value, np.ndarray]) -> list[Compiled]:
        """The function, and a copy if the description asks for one."""
        built: dict[Value, Any] = dict(self.shared)
        for entry in described.inputs:
            kind, name = entry.value.kind, entry.value.name
            built[entry.value] = T.TensorType("float64", shape=(None,) * len(SHAPES[kind]))(name)
        inputs = [self._input(entry, built, states) for entry in described.inputs]
        outputs = [
            theano.Out(_built(value, built), borrow=borrowed)
            for value, borrowed in described.outputs
        ]
        updates = [(self.shared[s], _built(value, built)) for s, value in described.updates]
        function = theano.function(
            inputs, outputs, updates=updates, mode=self._mode, on_unused_input="ignore"
        )
        found = [Compiled(function, described, dict(states))]
        if described.copied != "no":
            copied = function.copy(share_memory=described.copied == "same memory")
            found.append(Compiled(copied, described, dict(states)))
        return found

    def _input(self, entry: Passed, built: dict[Value, Any], states: dict[Value, np.ndarray]):
        variable = built[entry.value]
        if entry.following is not None:
            state = states[entry.value].copy()
            return theano.In(variable, value=state, update=_built(entry.following, built))
        return theano.In(variable, borrow=entry.how != "plain", mutable=entry.how == "mutable")


def _built(value: Value, built: dict[Value, Any]) -> Any:
    if value not in built:
        assert value.rule is not None
        built[value] = value.rule.build(*(_built(operand, built) for operand in value.operands))
    return built[value]


def computed(value: Value, known: dict[Value, np.ndarray]) -> np.ndarray:
    """A value by NumPy."""
    if value not in known:
        assert value.rule is not None
        known[value] = np.array(value.rule.run(*(computed(v, known) for v in value.operands)))
    return known[value]
