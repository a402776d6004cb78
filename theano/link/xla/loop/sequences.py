"""Sequences of a loop: which row of which array a step reads.

A sequence that is a slice of another array (``h[:-1][::-1]``, as backward loops have them) is read
in that array's own rows: nothing is reversed or copied before the loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.tensor.subtensor import Subtensor

from theano.link.xla.context import is_traced
from theano.pytensor_internals.operations.tensor import indices_from_subtensor
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Sequence:
    """Rows ``first, first + stride, ...`` of an array.

    Attributes
    ----------
    array
        What is indexed along its first dimension.
    first, stride
        The row of the first step, which may be traced, and from each step to the next.
    length
        How many rows there are.
    """

    array: Any
    first: Any
    stride: int
    length: int

    @classmethod
    def of(cls, array: Any) -> Sequence:
        """All rows of an array."""
        return cls(array, 0, 1, array.shape[0])

    def sliced(self, rows: slice) -> Sequence:
        """Return some of the rows."""
        taken = range(self.length)[rows]
        return Sequence(
            self.array,
            self.first + taken.start * self.stride,
            self.stride * taken.step,
            len(taken),
        )

    def read(self, step: Any) -> Any:
        """Return the row of a step."""
        from jax import lax

        position = step if self.stride == 1 else step * self.stride
        if is_traced(self.first) or self.first:
            position = position + self.first
        return lax.dynamic_index_in_dim(
            self.array, position, keepdims=False, allow_negative_indices=False
        )


def sequence_of(variable: Variable, known: Mapping[Variable, Any]) -> Sequence | None:
    """Return a variable whose value is known as rows of the array that it is a slice of.

    None if it is no slice, or one of what is not available.
    """
    node = variable.owner
    if node is None or not isinstance(node.op, Subtensor):
        return None
    base, *given = node.inputs
    values = [known.get(x, getattr(x, "data", None)) for x in given]
    if base not in known or any(value is None or is_traced(value) for value in values):
        return None
    indices = indices_from_subtensor(values, node.op.idx_list)
    if len(indices) != 1 or not isinstance(indices[0], slice):
        return None
    whole = sequence_of(base, known) or Sequence.of(known[base])
    rows = indices[0]
    return whole.sliced(slice(*(None if n is None else int(n) for n in _parts(rows))))


def _parts(rows: slice) -> tuple[Any, Any, Any]:
    return rows.start, rows.stop, rows.step
