"""Rows of the batch in random samples, which each device makes whole.

Each device makes all samples and keeps those of its rows, so that they are those of one device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.shape import Reshape

from theano.link.xla.data_parallel.parts import ALL, CannotSplit, NeedsSum, Rows, Sizes
from theano.link.xla.data_parallel.rules import parts_of_results
from theano.sandbox.mrg_uniform import mrg_uniform


def rows_of_samples(
    node: Apply,
    sampled: Mapping[Variable, Rows | None],
    own: Sequence[Any],
    whole: Sequence[Any],
    rows: int,
) -> dict[Variable, Rows | None]:
    """Return, for the outputs of a node that are made from samples, the part that a device's rows are.

    Parameters
    ----------
    node : Apply
    sampled : mapping
        The same for its inputs.
    own, whole : sequence
        Values of its inputs; lengths as they are on a device, and without the split.
    rows : int
        How many rows a device has.
    """
    if isinstance(node.op, mrg_uniform | Reshape):
        # their second input is the shape
        return {node.outputs[-1]: _of_shape(np.asarray(own[1]), np.asarray(whole[1]), rows)}
    parts = [sampled.get(variable, ALL) for variable in node.inputs]
    unknown = dict.fromkeys(node.outputs)
    if None in parts:
        return unknown
    try:
        results = parts_of_results(node, parts, Sizes(None, None, rows))
    except (CannotSplit, NeedsSum):
        return unknown
    found = zip(node.outputs, results, strict=True)
    # what is summed over the rows has none
    return {variable: part for variable, part in found if isinstance(part, Rows)}


def _of_shape(own: np.ndarray, whole: np.ndarray, rows: int) -> Rows | None:
    (axes,) = np.nonzero(own != whole)
    return Rows(int(axes[0])) if len(axes) == 1 and own[axes[0]] == rows else None
