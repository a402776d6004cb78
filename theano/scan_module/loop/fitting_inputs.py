"""Sequences and invariants of a loop whose types say more than those of their places in the step.

Rewrites outside of a loop may find out that a dimension has length 1, and a cotangent or tangent of
a sequence may have a static length. PyTensor's ``make_node`` takes no such value for a place whose type
does not say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.tensor.type import TensorType

from theano.compile.rebroadcast import unbroadcast
from theano.scan_module.loop.state_types import loose_axes


def with_fitting_inputs(op: Any, inputs: Sequence[Variable]) -> list[Variable]:
    """Return the inputs of a node of a loop, whose sequences and invariants say no more than the step's.

    Parameters
    ----------
    op : Scan
        The loop.
    inputs
        What its node is to be made with: [n_steps | sequences | states | counts | invariants].
    """
    rows = op.inner_seqs(op.inner_inputs)
    places = op.inner_non_seqs(op.inner_inputs)
    sequences_end, invariants_start = 1 + len(rows), len(inputs) - len(places)
    return [
        inputs[0],
        *map(_less_static, rows, inputs[1:sequences_end]),
        *inputs[sequences_end:invariants_start],
        *map(_less_static, places, inputs[invariants_start:]),
    ]


def _less_static(place: Variable, value: Variable) -> Variable:
    """Return a sequence or an invariant without the static lengths of 1 that its place in the step lacks.

    What has the wrong number of dimensions stays, for PyTensor to refuse it.
    """
    types = place.type, getattr(value, "type", None)
    if not all(isinstance(kind, TensorType) for kind in types):
        return value
    # a sequence has one dimension more, of which nothing is asked
    if value.type.ndim - place.type.ndim not in (0, 1):
        return value
    axes = loose_axes(value, place)
    return unbroadcast(value, *axes) if axes else value
