"""Shapes, which tracing knows, and what only changes them."""

from __future__ import annotations

import numpy as np
from pytensor.compile.ops import DeepCopyOp, TypeCastingOp
from pytensor.tensor.shape import Shape, Shape_i

from theano.link.xla.lowering.table import lowers


@lowers(Shape)
def shape(op, node, inputs, context):
    """The lengths of all dimensions, concrete."""
    return np.array(np.shape(inputs[0]), dtype="int64")


@lowers(Shape_i)
def length(op, node, inputs, context):
    """The length of one dimension, concrete."""
    return np.asarray(np.shape(inputs[0])[op.i], dtype="int64")


@lowers(DeepCopyOp, TypeCastingOp)
def unchanged(op, node, inputs, context):
    """Traced values are never written to, so that none needs a copy."""
    return inputs[0]
