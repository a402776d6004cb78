"""Invariants of a loop whose types say more than those of their places in the step.

Rewrites outside of a loop may find out that a dimension has length 1. PyTensor's ``make_node`` takes
no such value for a place whose type does not say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.tensor.type import TensorType

from theano.compile.rebroadcast import unbroadcast
from theano.scan_module.loop.state_types import loose_axes


def with_fitting_invariants(op: Any, inputs: Sequence[Variable]) -> list[Variable]:
    """The inputs of a node of a loop, whose invariants say no more than the step's.

    Parameters
    ----------
    op : Scan
        The loop.
    inputs
        What its node is to be made with: [n_steps | sequences | states | counts | invariants].
    """
    places = op.inner_non_seqs(op.inner_inputs)
    others = len(inputs) - len(places)
    invariants = map(_told_less, places, inputs[others:])
    return [*inputs[:others], *invariants]


def _told_less(place: Variable, invariant: Variable) -> Variable:
    """An invariant without the lengths of 1 that its place in the step is not told."""
    types = place.type, getattr(invariant, "type", None)
    if not all(isinstance(kind, TensorType) for kind in types) or place.ndim != invariant.ndim:
        return invariant
    axes = loose_axes(invariant, place)
    return unbroadcast(invariant, *axes) if axes else invariant
