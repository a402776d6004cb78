"""Operators that any type may use: PyTensor's, under Theano's names."""

from pytensor.compile.ops import (
    DeepCopyOp,
    FromFunctionOp,
    ViewOp,
    deep_copy_op,
    register_deep_copy_op_c_code,
    register_view_op_c_code,
    view_op,
)
from pytensor.compile.ops import wrap_py as as_op
from pytensor.tensor.shape import Shape, Shape_i, SpecifyShape, shape, shape_i, specify_shape

__all__ = [
    "DeepCopyOp",
    "FromFunctionOp",
    "Shape",
    "Shape_i",
    "SpecifyShape",
    "ViewOp",
    "as_op",
    "deep_copy_op",
    "register_deep_copy_op_c_code",
    "register_view_op_c_code",
    "shape",
    "shape_i",
    "specify_shape",
    "view_op",
]
