"""Operators that any type may use: PyTensor's, under Theano's names."""

from collections.abc import Callable, Sequence
from typing import Any

from pytensor.compile.ops import DeepCopyOp, ViewOp, deep_copy_op, view_op
from pytensor.tensor.shape import Shape, Shape_i, shape, shape_i

from theano.compile.rebroadcast import Rebroadcast
from theano.compile.specify_shape import SpecifyShape, specify_shape
from theano.gof.user_operations.results import with_results_checked
from theano.pytensor_internals.functions.compiling import FromFunctionOp as PyTensorFromFunctionOp
from theano.pytensor_internals.functions.compiling import (
    register_deep_copy_op_c_code,
    register_view_op_c_code,
    wrap_py,
)
from theano.pytensor_internals.graphs.shapes import shape_function

__all__ = [
    "DeepCopyOp",
    "FromFunctionOp",
    "Rebroadcast",
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


class FromFunctionOp(PyTensorFromFunctionOp):
    """An operator that calls a function of arrays."""

    def __init__(self, fn, itypes, otypes, infer_shape):
        super().__init__(
            fn, itypes, otypes, None if infer_shape is None else shape_function(infer_shape)
        )

    def make_py_thunk(self, node, storage_map, compute_map, no_recycling, debug=False):
        """Return what runs a node; what the function computes is looked at."""
        thunk = super().make_py_thunk(node, storage_map, compute_map, no_recycling, debug=debug)
        return with_results_checked(thunk, node)


def as_op(
    itypes: object, otypes: object, infer_shape: Callable[[Any, list], Sequence] | None = None
) -> Callable[[Callable], FromFunctionOp]:
    """Make an operator of a function of arrays.

    Parameters
    ----------
    itypes, otypes : Type or list of Type
        Types of the inputs and the outputs.
    infer_shape : callable, optional
        Returns the outputs' shapes, given the node and the inputs' shapes.

    Returns
    -------
    callable
        A decorator. The operator has no gradient; it can be pickled if it has the function's name.

    Raises
    ------
    TypeError
        When a type is none.

    Examples
    --------
    >>> import numpy as np
    >>> import theano
    >>> import theano.tensor as T
    >>> @theano.as_op(itypes=[T.dvector], otypes=[T.dscalar])
    ... def largest(x):
    ...     return np.asarray(x.max())
    >>> float(largest(T.constant([1.0, 3.0])).eval())
    3.0
    """
    wrap = wrap_py(itypes, otypes, infer_shape)

    def make_op(function: Callable) -> FromFunctionOp:
        plain = wrap(function)
        return FromFunctionOp(function, plain.itypes, plain.otypes, infer_shape)

    return make_op
