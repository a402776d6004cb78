"""Random samples of a loop's step, drawn before the loop.

A generator's state is not a value of XLA, so that a loop that draws from one would run on the host
as a whole. Where what is drawn does not depend on the loop's states, the samples of all steps are a
their own loop, in the same order, and the rest reads them as a sequence, on the device.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors, graph_inputs, toposort
from pytensor.tensor.type import TensorType

from theano.link.xla.windows import TAG
from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.graph import ReplaceValidate
from theano.pytensor_internals.graphs.rewriting import GraphRewriter, copy_stack_trace
from theano.pytensor_internals.graphs.scan import Scan
from theano.rewriting.database import register_for_tags
from theano.scan_module.loop.arguments import (
    Loop,
    Sequence,
    Trace,
    Untraced,
    fresh_like,
    unpack,
)
from theano.scan_module.step.fixed_shapes import values_of_fixed_shape
from theano.scan_module.step.shape_only_uses import with_shapes_from_outside
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Samples:
    """The random samples of a step.

    Attributes
    ----------
    generators
        The states of the loop that are generators.
    values
        What is drawn from them in a step, in the order of drawing.
    """

    generators: tuple[Untraced, ...]
    values: tuple[Variable, ...]


def samples_of(loop: Loop) -> Samples | None:
    """Return the samples of a step that can be made before the loop, or None."""
    generators = tuple(c for c in loop.untraced if _is_generator(c.inner_input))
    if not generators or loop.condition is not None:
        return None
    ends = [c.inner_output for c in generators]
    states = {tap.inner for state in loop.states for tap in state.reads}
    states |= {c.inner_input for c in loop.untraced if c not in generators}
    if not states.isdisjoint(_read(ends)):
        return None
    values = tuple(
        output
        for node in toposort(ends)
        if any(_is_generator(x) for x in node.inputs)
        for output in node.outputs
        if isinstance(output.type, TensorType)
    )
    return Samples(generators, values)


def _is_generator(variable: Variable) -> bool:
    # PyTensor has one type for them, Theano another; a loop carries nothing else but tensors
    return not isinstance(variable.type, TensorType)


def _read(values: Iterable[Variable]) -> set[Variable]:
    """Return what enters the step and the values are made from."""
    return {x for x in graph_inputs(values) if not isinstance(x, Constant)}


def _have_fixed_shapes(loop: Loop, samples: Samples) -> bool:
    fixed = values_of_fixed_shape(loop, samples.values)
    same = {entry.inner for entry in loop.invariants}
    same |= {entry.inner_input for entry in samples.generators}
    return all(value in fixed or same.issuperset(_read([value])) for value in samples.values)


def sampled_before(node: Apply, op_class: type[Scan]) -> dict[Variable, Variable] | None:
    """Return what takes the place of a loop's outputs, or None where the samples must stay in it."""
    loop = with_shapes_from_outside(unpack(node))
    samples = samples_of(loop)
    if samples is None or not _have_fixed_shapes(loop, samples):
        return None
    first = _sampling_loop(loop, samples).build(op_class)
    sampled = {trace.inner: first.outputs[trace] for trace in first.loop.traces}
    rest = _rest(loop, samples, sampled)
    if any(c.inner_input in set(ancestors(rest.inner_outputs)) for c in samples.generators):
        return None
    return {**first.replacements(), **rest.build(op_class).replacements()}


def _sampling_loop(loop: Loop, samples: Samples) -> Loop:
    """Return the loop that draws and does nothing else."""
    used = _read([c.inner_output for c in samples.generators])
    settings = replace(loop.settings, name=f"draws of {loop.settings.name or 'scan'}")
    return Loop(
        n_steps=loop.n_steps,
        sequences=tuple(entry for entry in loop.sequences if entry.inner in used),
        traces=tuple(Trace(loop.n_steps, value) for value in samples.values),
        untraced=samples.generators,
        invariants=tuple(entry for entry in loop.invariants if entry.inner in used),
        settings=settings,
    )


def _rest(loop: Loop, samples: Samples, sampled: dict[Variable, Variable]) -> Loop:
    """Return the loop without its generators, which reads what was drawn."""
    rows = {value: fresh_like(value) for value in samples.values}
    left = replace(
        loop, untraced=tuple(entry for entry in loop.untraced if entry not in samples.generators)
    )
    left = left.with_inner_outputs(clone_replace(left.inner_outputs, replace=rows))
    sequences = tuple(Sequence(known_tensor(sampled[value]), row) for value, row in rows.items())
    return replace(left, sequences=(*left.sequences, *sequences))


class SamplesBeforeLoops(GraphRewriter):
    """Has loops that sample random numbers read them as sequences."""

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        fgraph.attach_feature(ReplaceValidate())

    def apply(self, fgraph: FunctionGraph) -> None:
        """Split the loops of the function's graph."""
        for node in fgraph.toposort():
            if not isinstance(node.op, Scan):
                continue
            replacements: dict[Any, Any] | None = sampled_before(node, type(node.op))
            if replacements is None:
                continue
            for old, new in replacements.items():
                copy_stack_trace(old, new)
            fgraph.replace_all(list(replacements.items()), reason="draws_before_loops")


# after PyTensor's rewrites of loops, which would make one loop of the two
register_for_tags("draws_before_loops", SamplesBeforeLoops(), TAG, position=1.65)
