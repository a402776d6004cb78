"""Declaring the shape of a tensor, which is checked when the function runs."""

from collections.abc import Callable
from typing import Any

import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.raise_op import Assert
from pytensor.tensor.shape import SpecifyShape as _PyTensorSpecifyShape

from theano.gof.stand_in import StandIn


class WrongShapeError(AssertionError, ValueError):
    """A value has another shape than was declared, or than the operations on it need.

    What a program declares is an AssertionError in Theano 1.0. PyTensor's rewrites declare shapes
    too, in place of operations that raised ValueError.
    """


def specify_shape(x: Any, shape: object) -> Variable:
    """Declare that `x` has the shape.

    Parameters
    ----------
    x : tensor
    shape : sequence or symbolic vector
        The lengths; None in a sequence leaves a dimension open.

    Returns
    -------
    Variable

    Raises
    ------
    AssertionError
        There are more or fewer lengths than dimensions; when the function runs: `x` has
        another shape.
    TypeError
        The lengths are not integers.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> theano.compile.specify_shape(T.matrix(), (2, None)).type.shape
    (2, None)
    """
    x = pt.as_tensor_variable(x)
    if isinstance(shape, Variable) and shape.type.ndim == 1:
        expected = f"specify_shape: expected {x.type.ndim} lengths for {x.type}"
        vector = pt.as_tensor_variable(shape)
        checked: Any = Assert(expected)(vector, pt.eq(vector.shape[0], x.type.ndim))
        lengths = [checked[axis] for axis in range(x.type.ndim)]
    else:
        lengths = list(shape) if isinstance(shape, list | tuple) else [shape]
    if len(lengths) != x.type.ndim:
        raise AssertionError(
            f"specify_shape: expected {x.type.ndim} lengths for {x.type}, got {len(lengths)}"
        )
    return pt.specify_shape(x, lengths)


class SpecifyShape(metaclass=StandIn, made=_PyTensorSpecifyShape):
    """The operator of `specify_shape`: ``SpecifyShape()(x, shape)``."""

    @staticmethod
    def make() -> Callable[[Any, Any], Variable]:
        return specify_shape
