"""Invariants of a loop: what the step reads and does not change.

A large matrix that is the transpose of another is transposed where the step reads it: a product
takes a factor in either order, while an array that a loop is given would first be written in the
other one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.basic import Join
from pytensor.tensor.elemwise import DimShuffle

from theano.link.xla.context import is_traced
from theano.pytensor_internals.operations.axes import axis_apart
from theano.support.data_classes import dataclass

# Elements from which on XLA's products on CPU are no slower with a transposed factor (measured).
LARGE = 900_000


@dataclass(frozen=True)
class Turned:
    """The transpose of a matrix, taken again wherever it is read."""

    matrix: Any

    def read(self) -> Any:
        return self.matrix.T


def invariants_of(
    variables: Sequence[Variable], values: Sequence[Any], known: Mapping[Variable, Any]
) -> list[Any]:
    """Return the values, with a `Turned` in place of a transpose that is large."""
    return [_turned(v, x, known) or x for v, x in zip(variables, values, strict=True)]


def _turned(variable: Variable, value: Any, known: Mapping[Variable, Any]) -> Turned | None:
    if not is_traced(value) or value.ndim != 2 or prod(value.shape) < LARGE:
        return None
    matrix = _transposed(variable, known)
    return None if matrix is None else Turned(matrix)


def _transposed(variable: Variable, known: Mapping[Variable, Any]) -> Any:
    """Return the transpose of a variable's value, if it is available without turning anything."""
    import jax.numpy as jnp

    node = variable.owner
    if node is None:
        return None
    if _is_transposition(node):
        return known.get(node.inputs[0])
    if isinstance(node.op, Join):
        axis, parts = axis_apart(node, node.inputs)
        axis = axis.data if isinstance(axis, Constant) else axis
        matrices = [_transposed(part, known) for part in parts]
        if not isinstance(axis, Variable) and all(matrix is not None for matrix in matrices):
            return jnp.concatenate(matrices, axis=1 - int(axis) % 2)
    return None


def _is_transposition(node: Apply) -> bool:
    return isinstance(node.op, DimShuffle) and node.op.new_order == (1, 0)


def read(value: object) -> Any:
    """Return the value of an invariant as the step sees it."""
    return value.read() if isinstance(value, Turned) else value
