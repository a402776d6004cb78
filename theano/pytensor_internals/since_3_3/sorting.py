"""Sorts along an axis that is an argument, which PyTensor 3.3 keeps in the operator."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.gradient import disconnected_type, grad_undefined
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.op import Op
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.sort import ArgSortOp, SortOp
from pytensor.tensor.type import TensorType

from theano.support.data_classes import dataclass


class _AlongComputedAxis(Op):
    """A sort along an axis that is computed."""

    __props__ = ("kind",)

    def __init__(self, kind: str):
        self.kind = kind

    def infer_shape(self, node, input_shapes):
        return [input_shapes[0]]

    def connection_pattern(self, node):
        return [[True], [False]]

    def pullback(self, inputs, outputs, cotangents):
        why = f"{self}: the axis is not a constant"
        return [grad_undefined(self, 0, inputs[0], why), disconnected_type()]


class SortAlong(_AlongComputedAxis):
    """The elements in ascending order."""

    def make_node(self, a, axis):
        a = as_tensor_variable(a)
        return Apply(self, [a, as_tensor_variable(axis)], [a.type()])

    def perform(self, node, inputs, output_storage):
        a, axis = inputs
        output_storage[0][0] = np.sort(a, int(axis), self.kind)


class ArgSortAlong(_AlongComputedAxis):
    """The positions of the elements in ascending order."""

    def make_node(self, a, axis):
        a = as_tensor_variable(a)
        return Apply(
            self, [a, as_tensor_variable(axis)], [TensorType("int64", shape=a.type.shape)()]
        )

    def perform(self, node, inputs, output_storage):
        a, axis = inputs
        output_storage[0][0] = np.asarray(np.argsort(a, int(axis), self.kind), "int64")


_COMPUTED: dict[type, type[_AlongComputedAxis]] = {SortOp: SortAlong, ArgSortOp: ArgSortAlong}


@dataclass(frozen=True)
class Sorting:
    """A sort of some kind, which is called with an array and an axis."""

    op_class: type
    kind: str

    def __call__(self, a: Any, axis: Any = -1) -> Any:
        a = as_tensor_variable(a)
        if isinstance(axis, Variable) and not isinstance(axis, Constant):
            return _COMPUTED[self.op_class](self.kind)(a, axis)
        at = int(axis.data if isinstance(axis, Constant) else axis)
        if not -a.ndim <= at < a.ndim:
            raise np.exceptions.AxisError(at, a.ndim)
        return self.op_class(self.kind, at % a.ndim)(a)


def sorting(op_class: type, kind: str) -> Sorting:
    """Return what sorts an array along an axis."""
    return Sorting(op_class, kind)
