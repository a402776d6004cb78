"""Invariants of a loop whose types say more than those of their places in the step.

Rewrites outside of a loop may find out that a dimension has length 1. PyTensor's ``make_node`` takes
no such value for a place whose type does not say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.tensor.type import TensorType

from theano.compile.rebroadcast import unbroadcast


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
    return [*inputs[:others], *_fitting(places, inputs[others:])]


def _fitting(places: Iterable[Variable], invariants: Iterable[Variable]) -> list[Variable]:
    return [_told_less(*pair) for pair in zip(places, invariants, strict=True)]


def _told_less(place: Variable, invariant: Variable) -> Variable:
    """An invariant without the lengths of 1 that its place in the step is not told."""
    types = place.type, getattr(invariant, "type", None)
    if not all(isinstance(kind, TensorType) for kind in types):
        return invariant
    flags = [kind.broadcastable for kind in types]  # type: ignore[union-attr]
    if len(flags[0]) != len(flags[1]):
        return invariant
    axes = [axis for axis, (inner, outer) in enumerate(zip(*flags, strict=True)) if outer > inner]
    return unbroadcast(invariant, *axes) if axes else invariant
