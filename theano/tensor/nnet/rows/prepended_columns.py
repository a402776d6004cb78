"""Matrices with a column in front of them, as Theano's operators."""

import pytensor.tensor as pt

from theano.tensor.nnet.rows.row_operator import RowOperator

__all__ = [
    "Prepend_scalar_constant_to_each_row",
    "Prepend_scalar_to_each_row",
    "prepend_0_to_each_row",
    "prepend_1_to_each_row",
    "prepend_scalar_to_each_row",
]


class Prepend_scalar_to_each_row(RowOperator):
    """A matrix with a column in front of it that holds one number."""

    def build_inner_graph(self, val, mat):
        column = pt.full((mat.shape[0], 1), val, dtype=mat.dtype)
        return [pt.concatenate([column, mat], axis=1)]


class Prepend_scalar_constant_to_each_row(RowOperator):
    """A matrix with a column in front of it that holds a number known beforehand.

    Parameters
    ----------
    val : float
    """

    __props__ = ("val",)

    def __init__(self, val: float = 0, input_types: object = None, **kwargs: object):
        super().__init__(input_types, val=float(val), **kwargs)

    def build_inner_graph(self, mat):
        return Prepend_scalar_to_each_row().build_inner_graph(self.val, mat)


prepend_scalar_to_each_row = Prepend_scalar_to_each_row()
prepend_0_to_each_row = Prepend_scalar_constant_to_each_row(0.0)
prepend_1_to_each_row = Prepend_scalar_constant_to_each_row(1.0)
