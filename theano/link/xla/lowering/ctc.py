"""Costs of sequences of labels, connectionist temporal classification, by loops over the steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from theano.link.xla.lowering.table import lowers
from theano.support.data_classes import dataclass
from theano.tensor.nnet.ctc_operator import (
    LABELS_IN_RANGE,
    STEPS_IN_RANGE,
    ConnectionistTemporalClassification,
)


@dataclass(frozen=True)
class _Paths:
    """Labels with blanks between them and around, for all sequences.

    Attributes
    ----------
    states
        The class of each state, by sequence.
    count
        How many labels a sequence has.
    leaves_out
        Whether a path may come to a state from the one before the last.
    possible
        Whether the labels fit the steps.
    """

    states: Any
    count: Any
    leaves_out: Any
    possible: Any


def _paths(labels: Any, lengths: Any) -> _Paths:
    import jax.numpy as jnp

    # negative ones are left out, wherever they are
    order = jnp.argsort(labels < 0, axis=1, stable=True)
    labels = jnp.take_along_axis(labels, order, axis=1)
    count = jnp.sum(labels >= 0, axis=1)
    differs = labels[:, 1:] != labels[:, :-1]
    repeated = jnp.sum(~differs & (labels[:, 1:] >= 0), axis=1)
    possible = (lengths > 0) & (count + repeated <= lengths)
    room = 2 * labels.shape[1] + 1
    states = jnp.zeros((len(labels), room), labels.dtype).at[:, 1::2].set(jnp.maximum(labels, 0))
    leaves_out = jnp.zeros(states.shape, bool).at[:, 3::2].set(differs)
    return _Paths(states, count, leaves_out, possible)


@lowers(ConnectionistTemporalClassification)
def costs_of_sequences(op, node, inputs, context):
    """Return the costs, and the gradients where the operator has them."""
    import jax.numpy as jnp

    activations, labels, lengths = (jnp.asarray(value) for value in inputs)
    op.check_shapes(activations, labels, lengths)
    steps, _, classes = activations.shape
    if labels.size:
        context.require(jnp.all(labels < classes), ValueError(f"{LABELS_IN_RANGE}, {classes}"))
    in_range = jnp.all((lengths >= 0) & (lengths <= steps))
    context.require(in_range, ValueError(f"{STEPS_IN_RANGE}, {steps}"))
    if not steps:
        costs = jnp.zeros(lengths.shape, activations.dtype)
        return [costs, jnp.zeros(activations.shape, activations.dtype)][: len(node.outputs)]
    scores = activations.astype("float64")
    most = jnp.max(scores, axis=2, keepdims=True)
    scores = scores - (most + jnp.log(jnp.sum(jnp.exp(scores - most), axis=2, keepdims=True)))
    paths = _paths(labels, lengths)
    rows = jnp.broadcast_to(paths.states, (steps, *paths.states.shape))
    of_states = jnp.take_along_axis(scores, rows, axis=2)
    begins, last = _forward(paths, of_states, lengths)
    total = jnp.where(paths.possible, _at_end(paths, last), 0)
    costs = [jnp.where(paths.possible, -total, 0)]
    if op.compute_grad:
        ends = _backward(paths, of_states, lengths)
        in_states = jnp.exp(begins + ends - total[:, None])
        step, sequence = np.ogrid[:steps, : len(lengths)]
        index = (step[:, :, None], sequence[:, :, None], rows)
        slopes = jnp.exp(scores).at[index].add(-in_states)
        counts = (jnp.arange(steps)[:, None] < lengths) & paths.possible
        costs.append(jnp.where(counts[:, :, None], slopes, 0))
    return costs


def _added(a: Any, b: Any, c: Any) -> Any:
    """Return the logarithm of the sum of three exponentials."""
    import jax.numpy as jnp

    return jnp.logaddexp(jnp.logaddexp(a, b), c)


def _forward(paths: _Paths, of_states: Any, lengths: object) -> tuple[Any, Any]:
    """Of all steps, and of the last of each sequence: logarithms of beginnings of paths."""
    import jax.numpy as jnp
    from jax import lax

    state = np.arange(of_states.shape[2])
    first = jnp.where(state < 2, of_states[0], -jnp.inf)

    def step(before, given):
        t, now = given
        one, two = _shifted(before, 1), _shifted(before, 2)
        after = _added(before, one, jnp.where(paths.leaves_out, two, -jnp.inf)) + now
        kept = jnp.where((t < lengths)[:, None], after, before)
        return kept, kept

    times = jnp.arange(1, len(of_states))
    last, others = lax.scan(step, first, (times, of_states[1:]))
    return jnp.concatenate([first[None], others]), last


def _at_end(paths: _Paths, last: Any) -> Any:
    """Return the logarithm of the probability of paths that end in the last label or the blank after it."""
    import jax.numpy as jnp

    at = 2 * paths.count[:, None]
    blank = jnp.take_along_axis(last, at, axis=1)[:, 0]
    label = jnp.take_along_axis(last, jnp.maximum(at - 1, 0), axis=1)[:, 0]
    return jnp.logaddexp(blank, jnp.where(paths.count > 0, label, -jnp.inf))


def _backward(paths: _Paths, of_states: Any, lengths: object) -> Any:
    """Of all steps: logarithms of ends of paths, from the next step on."""
    import jax.numpy as jnp
    from jax import lax

    state, end = np.arange(of_states.shape[2]), 2 * paths.count[:, None]
    final = jnp.where((state == end) | (state == end - 1), 0.0, -jnp.inf)

    def step(after, given):
        t, now = given
        reached = after + now
        two = _shifted(jnp.where(paths.leaves_out, reached, -jnp.inf), -2)
        before = _added(reached, _shifted(reached, -1), two)
        kept = jnp.where((t < lengths)[:, None], before, after)
        return kept, kept

    times = jnp.arange(1, len(of_states))
    _, others = lax.scan(step, final, (times, of_states[1:]), reverse=True)
    return jnp.concatenate([others, final[None]])


def _shifted(states: Any, by: int) -> Any:
    """States moved on by so many, with no path where none is."""
    import jax.numpy as jnp

    around = [(0, 0), (max(by, 0), max(-by, 0))]
    padded = jnp.pad(states, around, constant_values=-jnp.inf)
    width = states.shape[1]
    return padded[:, :width] if by > 0 else padded[:, -by : width - by]
