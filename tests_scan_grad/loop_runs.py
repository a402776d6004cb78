"""Run a built loop in a mode, and compare two runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytensor
from pytensor.compile.mode import Mode as PyTensorMode
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.link.vm import VMLinker

import theano
import theano.tensor as T
from tests_scan_grad.generated.built_loops import BuiltLoop, build, numbers
from tests_scan_grad.generated.generated_loops import LoopDescription, describe
from theano.compile.mode import OPT_FAST_RUN, Mode

RELATIVE_TOLERANCE = {"float64": 1e-9, "float32": 1e-5}
# PyTensor 3.0.7's own, that give wrong results or graphs that fail
WRONG_REWRITES = {
    "local_AdvancedIncSubtensor_to_AdvancedIncSubtensor1": "its result refuses an increment of "
    "one row, as in the gradient of an embedding with a batch of one",
}
pytensor_scan = partial(pytensor.scan, return_updates=True)


def python_linker() -> VMLinker:
    """A linker that runs no compiled code."""
    return VMLinker(use_cloop=False, c_thunks=False)


def unrewritten_mode() -> PyTensorMode:
    """PyTensor's Python linker on the graph as it was built."""
    return PyTensorMode(python_linker(), None)


def rewritten_mode() -> Mode:
    """All rewrites of Theano's default mode, without compiled code."""
    return Mode(python_linker(), OPT_FAST_RUN).excluding(*WRONG_REWRITES)


@dataclass(frozen=True, eq=False)
class Run:
    """Results of a compiled loop; ``generator`` is the state of its generator afterwards."""

    cost: np.ndarray
    outputs: list[np.ndarray]
    gradients: list[np.ndarray]
    second_gradients: list[np.ndarray]
    generator: dict | None

    def results(self) -> list[np.ndarray]:
        return [self.cost, *self.outputs, *self.gradients, *self.second_gradients]


class CompiledLoop:
    """A function of the cost, the outputs and as many gradients as ``order`` says."""

    def __init__(
        self,
        loop: LoopDescription,
        scan: Callable,
        mode: Any,
        order: int = 1,
        length: int | None = None,
    ):
        self.loop = loop
        self.built: BuiltLoop = build(loop, scan, mode, length)
        wrt = list(self.built.wrt.values())
        first = self._gradients(self.built.cost, wrt) if order > 0 else []
        slope = sum((T.sin(gradient).sum() for gradient in first), T.constant(0.0))
        second = self._gradients(slope, wrt) if order > 1 else []
        self.counts = (1, len(self.built.outputs), len(first), len(second))
        self.function = theano.function(
            list(self.built.inputs.values()),
            [self.built.cost, *self.built.outputs, *first, *second],
            updates=self.built.updates,
            mode=mode,
            on_unused_input="ignore",
        )

    @staticmethod
    def _gradients(cost, wrt) -> list:
        return theano.grad(cost, wrt, disconnected_inputs="ignore")

    def __call__(self, **moved: np.ndarray) -> Run:
        """Run on the loop's numbers, of which some may be replaced by name."""
        values = numbers(self.loop) | {"n": np.int64(self.loop.length)} | moved
        generator = self.built.generator
        if generator is not None:
            generator.set_value(np.random.default_rng(self.loop.seed))
        results = self.function(*(values[name] for name in self.built.inputs))
        groups = np.split(np.arange(len(results)), np.cumsum(self.counts)[:-1])
        cost, outputs, first, second = ([results[k] for k in group] for group in groups)
        state = None if generator is None else generator.get_value().bit_generator.state["state"]
        return Run(cost[0], outputs, first, second, state)


def difference(actual: Run, expected: Run) -> str | None:
    """Return how two runs differ beyond rounding, or None."""
    pairs = zip(actual.results(), expected.results(), strict=True)
    for position, (ours, theirs) in enumerate(pairs):
        if ours.shape != theirs.shape:
            return f"result {position} has shape {ours.shape}, expected {theirs.shape}"
        if ours.dtype != theirs.dtype:
            return f"result {position} is {ours.dtype}, expected {theirs.dtype}"
        if not ours.size:
            continue
        bound = RELATIVE_TOLERANCE.get(str(ours.dtype), 0) * max(1.0, np.abs(theirs).max())
        # written so that a NaN counts as a difference
        if not np.abs(ours - theirs).max() <= bound:
            return f"result {position} is {ours}, expected {theirs}"
    if actual.generator != expected.generator:
        return "the random generator was left in another state"
    return None


def slope_difference(compiled: CompiledLoop, run: Run) -> str | None:
    """Return how the gradients differ from finite differences along one direction, or None."""
    step = 1e-6
    generator = np.random.default_rng(run.outputs[0].size)
    expected, magnitude = 0.0, abs(run.cost)
    values = numbers(compiled.loop)
    ahead, behind = {}, {}
    for name, gradient in zip(compiled.built.wrt, run.gradients, strict=True):
        if name not in compiled.built.inputs or gradient.dtype != np.float64:
            continue
        direction = np.asarray(generator.normal(size=gradient.shape))
        expected += (gradient * direction).sum()
        magnitude += np.abs(gradient * direction).sum()
        ahead[name] = values[name] + step * direction
        behind[name] = values[name] - step * direction
    measured = (compiled(**ahead).cost - compiled(**behind).cost) / (2 * step)
    if abs(measured - expected) <= 1e-5 * max(1.0, magnitude):
        return None
    return f"the slope is {expected}, by finite differences {measured}"


def check_against_python(loop: LoopDescription, mode: PyTensorMode) -> None:
    """Assert that a loop and its gradients are those of PyTensor's Python linker, errors too."""
    with theano.change_flags({"scan.save": loop.save}):
        ours = CompiledLoop(loop, theano.scan, mode)
        python = CompiledLoop(loop, theano.scan, rewritten_mode())
    actual, expected = _result(ours), _result(python)
    if isinstance(expected, IndexError):
        assert isinstance(actual, IndexError)
        return
    wrong = difference(actual, expected)
    assert wrong is None, f"{wrong}, in\n{describe(loop)}"


def _result(compiled: CompiledLoop) -> Run | IndexError:
    try:
        return compiled()
    except IndexError as error:
        # an until stopped the loop before the step that the cost reads
        return error


# The forward loops are made one and nothing else is done: what the gradient itself builds.
ONLY_UNIFIED = Mode(python_linker(), RewriteDatabaseQuery(include=["unify_forward_loops"]))
