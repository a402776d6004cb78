"""Build a described loop with a given ``scan``, and make the numbers that it runs on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.compile.sharedvalue import shared
from pytensor.graph.basic import Variable
from pytensor.scan.utils import until

import theano.tensor as T
from tests_scan_grad.generated.generated_loops import LoopDescription, Sequence, State
from tests_scan_grad.generated.step_operations import INVARIANTS, KINDS, OPERATIONS, SPECIAL

INTEGERS_BELOW = {"index": 3, "indices": 3, "mask": 2, "count": 2}


@dataclass(frozen=True, eq=False)
class BuiltLoop:
    """A loop as a graph.

    Attributes
    ----------
    inputs
        The variables that a function takes, by name.
    wrt
        The floating-point variables that gradients are asked for, by name.
    outputs
        What the loop returned.
    cost
        A scalar that depends on the outputs as the description says.
    updates
        New values of the generator, if the loop draws.
    generator
        The shared random generator, or None.
    """

    inputs: dict[str, Variable]
    wrt: dict[str, Variable]
    outputs: list[Variable]
    cost: Variable
    updates: dict[Variable, Variable]
    generator: Variable | None


def numbers(loop: LoopDescription) -> dict[str, np.ndarray]:
    """Values of all inputs of a loop, by name."""
    generator = np.random.default_rng(loop.seed)
    values = {}
    for name, (kind, rows) in _inputs(loop).items():
        shape, dtype = KINDS[kind]
        shape = tuple(loop.batch if length == "batch" else length for length in shape)
        shape = shape if rows is None else (rows, *shape)
        if kind in INTEGERS_BELOW:
            value = generator.integers(0, INTEGERS_BELOW[kind], shape)
        else:
            value = 0.7 * generator.normal(size=shape)
        values[name] = np.asarray(value, dtype=dtype)
    return values


def _inputs(loop: LoopDescription) -> dict[str, tuple[str, int | None]]:
    """Name of each input -> its kind, and the length of a leading axis if it has one."""
    surplus = 0 if loop.n_steps == "sequences" else loop.surplus
    inputs: dict[str, tuple[str, int | None]] = {}
    for k, sequence in enumerate(loop.sequences):
        rows = loop.length + surplus + max(0, *sequence.taps) - min(0, *sequence.taps)
        inputs[f"x{k}"] = (sequence.kind, rows)
    for k, state in enumerate(loop.states):
        inputs[f"s{k}"] = (state.kind, None if state.taps == (-1,) else -min(state.taps))
    for name in loop.invariants():
        inputs[name] = (INVARIANTS[name], None)
    return inputs


def build(loop: LoopDescription, scan: Callable, mode: Any, length: int | None = None) -> BuiltLoop:
    """Build a loop.

    Parameters
    ----------
    loop
        What to build.
    scan
        ``theano.scan`` or a function like it.
    mode
        What compiles the step.
    length
        The number of steps, given as an int in place of what the description says.
    """
    return _Builder(loop, scan, mode, length).build()


class _Builder:
    def __init__(self, loop: LoopDescription, scan: Callable, mode: Any, length: int | None):
        self.loop = loop
        self.scan = scan
        self.mode = mode
        self.length = length
        self.inputs: dict[str, Variable] = {}
        self.variables: dict[str, Variable] = {}
        values = numbers(loop)
        for name, value in values.items():
            static = value.shape if loop.static else (None,) * value.ndim
            if loop.captured == "shared" and name in INVARIANTS:
                variable = shared(value, name=name, shape=static)
            else:
                variable = pt.tensor(name, dtype=value.dtype, shape=static)
                self.inputs[name] = variable
            self.variables[name] = variable
        self.generator = (
            shared(np.random.default_rng(loop.seed), name="generator") if loop.draws else None
        )

    def build(self) -> BuiltLoop:
        loop = self.loop
        invariants = [self.variables[name] for name in loop.invariants()]
        outputs, updates = self.scan(
            self.step,
            sequences=[self.sequence(k, entry) for k, entry in enumerate(loop.sequences)],
            outputs_info=[self.initial(k, state) for k, state in enumerate(loop.states)]
            + [None] * len(loop.traces),
            non_sequences=invariants if loop.captured == "arguments" else [],
            n_steps=self.n_steps(),
            truncate_gradient=loop.truncate_gradient,
            go_backwards=loop.go_backwards,
            mode=self.mode,
        )
        outputs = outputs if isinstance(outputs, list) else [outputs]
        return BuiltLoop(
            inputs=self.inputs,
            wrt={n: v for n, v in self.variables.items() if v.type.dtype.startswith("float")},
            outputs=outputs,
            cost=sum(map(_read, outputs, loop.reads), pt.constant(0.0)),
            updates=dict(updates),
            generator=self.generator,
        )

    def sequence(self, position: int, entry: Sequence) -> Any:
        variable = self.variables[f"x{position}"]
        return variable if entry.taps == (0,) else {"input": variable, "taps": list(entry.taps)}

    def initial(self, position: int, state: State) -> Any:
        variable = self.variables[f"s{position}"]
        if state.taps == (-1,):
            return variable
        return {"initial": variable, "taps": list(state.taps)}

    def n_steps(self) -> Any:
        if self.length is not None:
            return self.length
        if self.loop.n_steps == "symbolic":
            self.inputs["n"] = T.lscalar("n")
            return self.inputs["n"]
        return self.loop.length if self.loop.n_steps == "constant" else None

    def step(self, *arguments: Variable) -> Any:
        """One step, as ``scan`` calls it."""
        given = iter(arguments)
        values = {name: self.variables[name] for name in self.loop.invariants()}
        for letter, entries in (("x", self.loop.sequences), ("s", self.loop.states)):
            for k, entry in enumerate(entries):
                values.update({f"{letter}{k}[{tap}]": next(given) for tap in entry.taps})
        values.update(zip(self.loop.invariants(), given, strict=False))
        self.drawn_from = self.generator
        # what accumulates is not bounded, the other operations see it bounded
        bounded = dict(values)
        for k, state in enumerate(self.loop.states):
            if state.update in ("accumulate", "linear"):
                bounded.update({n: T.tanh(values[n]) for n in values if n.startswith(f"s{k}[")})
        for k, instruction in enumerate(self.loop.instructions):
            operands = [bounded[name] for name in instruction.operands]
            bounded[f"v{k}"] = self.apply(instruction.operation, *operands)
        for k, state in enumerate(self.loop.states):
            bounded[f"next s{k}"] = _next(
                state, values[f"s{k}[{state.newest}]"], bounded[state.source]
            )
        outputs = [bounded[f"next s{k}"] for k in range(len(self.loop.states))]
        outputs += [bounded[name] for name in self.loop.traces]
        updates = {} if self.generator is None else {self.generator: self.drawn_from}
        if self.loop.until is None:
            return outputs, updates
        name, bound = self.loop.until
        return outputs, updates, until(abs(bounded[name]).sum() > bound)

    def apply(self, operation: str, *operands: Variable) -> Variable:
        if operation in SPECIAL:
            return getattr(self, operation.replace(" ", "_"))(*operands)
        return OPERATIONS[operation].apply(*operands)

    def nested_loop(self, a: Variable, weights: Variable) -> Variable:
        states, _ = self.scan(
            lambda h: T.tanh(h.dot(weights)), outputs_info=[a], n_steps=2, mode=self.mode
        )
        return _only(states)[-1]

    def nested_loop_over_rows(self, a: Variable, rows: Variable) -> Variable:
        states, _ = self.scan(
            lambda row, h, a: 0.5 * h + a * row,
            sequences=[rows],
            outputs_info=[T.zeros_like(a)],
            non_sequences=[a],
            n_steps=3,
            mode=self.mode,
        )
        return _only(states)[-1]

    def nested_loop_with_until(self, a: Variable, weights: Variable) -> Variable:
        def step(h, weights):
            following = T.tanh(h.dot(weights)) + 0.1
            return following, until(following.sum() > 0.5)

        states, _ = self.scan(
            step, outputs_info=[a], non_sequences=[weights], n_steps=4, mode=self.mode
        )
        return _only(states)[-1]

    def draw(self, a: Variable) -> Variable:
        self.drawn_from, noise = pt.random.normal(
            size=a.shape, rng=self.drawn_from, return_next_rng=True
        )
        return a * noise

    def draw_a_mask(self, a: Variable) -> Variable:
        self.drawn_from, kept = pt.random.bernoulli(
            0.5, size=a.shape, rng=self.drawn_from, return_next_rng=True
        )
        return a * kept


def _only(outputs: Any) -> Variable:
    return outputs[0] if isinstance(outputs, list) else outputs


def _next(state: State, newest: Variable, source: Variable) -> Variable:
    match state.update:
        case "squash":
            return T.tanh(source)
        case "linear":
            return 0.5 * newest + 0.5 * source
        case "accumulate":
            return newest + source
        case "keep":
            return newest
        case "count":
            return newest + 1
    raise ValueError(f"no such update of a state: {state.update!r}")


def _read(output: Variable, how: str) -> Variable:
    """Return the term of the cost that reads an output."""
    if how == "none" or not output.type.dtype.startswith("float"):
        return pt.constant(0.0)
    part = {
        "all": lambda: output,
        "last": lambda: output[-1],
        "last of rest": lambda: output[1:][-1],
        "strided": lambda: output[::2],
    }[how]()
    return (part * T.cos(part)).sum()
