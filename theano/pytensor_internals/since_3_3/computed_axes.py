"""Joining and splitting along an axis that is computed, which PyTensor 3.3 has no operator for."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.configdefaults import config
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.scalar.basic import upcast
from pytensor.tensor.basic import as_tensor_variable, get_scalar_constant_value, stack, switch
from pytensor.tensor.exceptions import NotScalarConstantError
from pytensor.tensor.math import eq
from pytensor.tensor.shape import specify_broadcastable
from pytensor.tensor.type import TensorType, discrete_dtypes, integer_dtypes


def is_computed(axis: object) -> bool:
    """Return whether an axis is a number that only a call knows."""
    if not isinstance(axis, Variable):
        return False
    try:
        get_scalar_constant_value(axis)
    except NotScalarConstantError:
        return True
    return False


class JoinAlong(Op):
    """Joins tensors along a computed axis: ``JoinAlong()(axis, *tensors)``."""

    __props__ = ()

    def make_node(self, axis, *tensors):
        axis = _checked_axis(self, axis)
        tensors = [as_tensor_variable(x) for x in tensors]
        dimensions = {x.type.ndim for x in tensors}
        if len(dimensions) != 1 or 0 in dimensions:
            raise TypeError(
                f"{self}: expected tensors of one number of dimensions, and no numbers, "
                f"got {[x.type for x in tensors]}"
            )
        joined = TensorType(upcast(*[x.dtype for x in tensors]), (None,) * dimensions.pop())
        return Apply(self, [axis, *tensors], [joined()])

    def perform(self, node, inputs, output_storage):
        axis, *tensors = inputs
        dtype = node.outputs[0].type.dtype
        output_storage[0][0] = np.concatenate(tensors, int(axis), dtype=dtype)

    def infer_shape(self, node, input_shapes):
        _, first, *others = input_shapes
        sums = [sum((shape[d] for shape in others), first[d]) for d in range(len(first))]
        return [_with_length(first, node.inputs[0], sums)]

    def connection_pattern(self, node):
        return [[False]] + [[True]] * (len(node.inputs) - 1)

    def pullback(self, inputs, outputs, cotangents):
        axis, *tensors = inputs
        if outputs[0].type.dtype in discrete_dtypes:
            return [disconnected_type(), *(x.zeros_like(dtype=config.floatX) for x in tensors)]
        lengths = stack([x.shape[axis] for x in tensors])
        parts = SplitAlong(len(tensors))(cotangents[0], axis, lengths, return_list=True)
        return [disconnected_type(), *map(_broadcastable_as, parts, tensors)]

    def pushforward(self, inputs, outputs, tangents):
        axis, *tensors = inputs
        if all(isinstance(tangent.type, DisconnectedType) for tangent in tangents[1:]):
            return [disconnected_type()]
        return [self(axis, *map(_connected, tangents[1:], tensors))]


class SplitAlong(Op):
    """Splits a tensor along a computed axis: ``SplitAlong(2)(tensor, axis, lengths)``.

    Parameters
    ----------
    len_splits : int
        How many parts there are.
    """

    __props__ = ("len_splits",)

    def __init__(self, len_splits: int):
        self.len_splits = int(len_splits)
        self.view_map = {part: [0] for part in range(self.len_splits)}

    def make_node(self, tensor, axis, lengths):
        tensor, lengths = as_tensor_variable(tensor), as_tensor_variable(lengths)
        axis = _checked_axis(self, axis)
        if lengths.type.ndim != 1 or lengths.type.dtype not in integer_dtypes:
            raise TypeError(f"{self}: expected lengths as a vector of integers, got {lengths.type}")
        part = TensorType(tensor.dtype, (None,) * tensor.type.ndim)
        return Apply(self, [tensor, axis, lengths], [part() for _ in range(self.len_splits)])

    def perform(self, node, inputs, output_storage):
        tensor, axis, lengths = inputs
        length = np.shape(tensor)[int(axis)]
        if len(lengths) != self.len_splits or min(lengths, default=0) < 0 or sum(lengths) != length:
            raise ValueError(
                f"{self}: expected {self.len_splits} lengths, none below 0, that add up to "
                f"{length}, got {lengths.tolist()}"
            )
        parts = np.split(tensor, np.cumsum(lengths)[:-1], int(axis))
        for storage, part in zip(output_storage, parts, strict=True):
            storage[0] = part

    def infer_shape(self, node, input_shapes):
        _, axis, lengths = node.inputs
        whole = input_shapes[0]
        parts = range(self.len_splits)
        return [_with_length(whole, axis, [lengths[part]] * len(whole)) for part in parts]

    def connection_pattern(self, node):
        return [[True] * self.len_splits, [False] * self.len_splits, [False] * self.len_splits]

    def pullback(self, inputs, outputs, cotangents):
        tensor, axis, _ = inputs
        joined = JoinAlong()(axis, *map(_connected, cotangents, outputs))
        return [_broadcastable_as(joined, tensor), disconnected_type(), disconnected_type()]

    def pushforward(self, inputs, outputs, tangents):
        if isinstance(tangents[0].type, DisconnectedType):
            return [disconnected_type() for _ in outputs]
        return self(tangents[0], *inputs[1:], return_list=True)


def _checked_axis(operator: Op, axis: Any) -> Variable:
    axis = as_tensor_variable(axis)
    if axis.type.dtype not in integer_dtypes or axis.type.ndim:
        raise TypeError(f"{operator}: the axis must be an integer, got {axis.type}")
    return axis


def _with_length(shape: Any, axis: Any, along: list) -> tuple:
    """Return a shape whose length along an axis is, by dimension, one of others."""
    ndim = len(shape)
    return tuple(switch(eq(axis % ndim, d), along[d], shape[d]) for d in range(ndim))


def _connected(value: Any, like: Any) -> Any:
    """Return a derivative as numbers, also where there is none."""
    return like.zeros_like() if isinstance(value.type, DisconnectedType) else value


def _broadcastable_as(x: object, like: Any) -> Any:
    """Return a tensor whose type says of as many lengths that they are 1."""
    return specify_broadcastable(x, *(d for d, one in enumerate(like.type.broadcastable) if one))
