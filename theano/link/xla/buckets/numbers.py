"""Numbers that are made from lengths: what they are for each combination of lengths in a bucket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.type import TensorType

from theano.link.xla.buckets.padding import CannotBucket
from theano.link.xla.interpret import performed
from theano.support.data_classes import dataclass


@dataclass(frozen=True, eq=False)
class Varying:
    """A number, or a short vector, that differs between the lengths of a bucket.

    Attributes
    ----------
    each
        Its value for each combination of lengths, along the first dimension; the last is that of
        the greatest lengths, which the arrays of the program have.
    """

    each: np.ndarray

    @property
    def last(self) -> np.ndarray:
        """The value for the greatest lengths."""
        return self.each[-1]


def number(each: np.ndarray) -> Any:
    """Return a `Varying`, or the number itself where it is the same for all lengths."""
    return each[0] if (each == each[0]).all() else Varying(each)


def each_of(value: Any, cases: int) -> np.ndarray:
    """Return the value for each combination of lengths."""
    if isinstance(value, Varying):
        return value.each
    return np.broadcast_to(np.asarray(value), (cases, *np.shape(value)))


def numbers_of(node: Apply, inputs: Sequence[Any], cases: int) -> list[Any]:
    """Return what a node makes of numbers, for each combination of lengths."""
    if isinstance(node.op, Elemwise) and node.outputs[0].type.ndim == 0:
        vectors = [
            TensorType(v.type.dtype, (None,))() for v in node.inputs
        ]  # all cases in one operation
        given = [each_of(x, cases) for x in inputs]
        return [number(x) for x in performed(node.op.make_node(*vectors), given)]
    results = [
        performed(node, [x.each[case] if isinstance(x, Varying) else x for x in inputs])
        for case in range(cases)
    ]
    found = []
    for variable, values in zip(node.outputs, zip(*results, strict=True), strict=True):
        if len({np.shape(value) for value in values}) > 1:
            raise CannotBucket("its result has another length for another length of the loop")
        if not isinstance(variable.type, TensorType | ScalarType):
            raise CannotBucket(f"it makes a value of type {variable.type} of lengths")
        found.append(number(np.stack([np.asarray(value) for value in values])))
    return found
