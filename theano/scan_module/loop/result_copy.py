"""A copy that no rewrite takes away, for results of a step that are a place of a buffer.

PyTensor's loop updates buffers that are read and written at several places (mit-mot) in place.
A result of the step that is one of those places, or a view of one, would be cleared before the
step or overwritten before it is stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.compile.ops import DeepCopyOp
from pytensor.graph.basic import Apply, Variable

from theano.pytensor_internals.functions.compiling import alias_root
from theano.pytensor_internals.graphs.annotations import only_result


class ResultCopy(DeepCopyOp):
    """The same value in its own memory."""

    def pullback(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        cotangents: Sequence[Variable],
    ) -> list[Variable]:
        return [*cotangents]

    def pushforward(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        tangents: Sequence[Variable],
    ) -> list[Variable]:
        return [*tangents]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True]]


def apart_from(places: set[Variable], result: Variable) -> Variable:
    """Return a result of a step, copied if it is one of the places of buffers or a view of one."""
    return only_result(ResultCopy()(result)) if alias_root(result) in places else result


def without_copy(result: Variable) -> Variable:
    """Return what ``apart_from`` was given."""
    if result.owner is not None and isinstance(result.owner.op, ResultCopy):
        return result.owner.inputs[0]
    return result
