"""The base of Theano's operators on the rows of a matrix, which are PyTensor graphs.

The engines see through them.
"""

import inspect
from typing import Any

import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.functions.compiling import NODE_BY_NODE
from theano.pytensor_internals.graphs.shapes import shape_rule, shapes_by_base
from theano.pytensor_internals.operations.tensor import TensorSymbolicOp


def as_matrix_of_floats(c: Any, function: str) -> TensorVariable:
    """Make `c` a matrix, of one row if it is a vector; ValueError for anything else."""
    c = pt.as_tensor_variable(c)
    if c.ndim not in (1, 2) or not c.dtype.startswith("float"):
        raise ValueError(
            f"{function}: expected a vector or a matrix of floats, got {c.type}; of more dimensions, "
            "give x.reshape((-1, x.shape[-1])), and reshape the result"
        )
    return pt.shape_padleft(c) if c.ndim == 1 else c


class RowOperator(TensorSymbolicOp):
    """An operator on the rows of matrices, defined by a graph.

    Two of the same class and properties are equal, for whatever types they are applied to.
    """

    # No row of a result depends on another row of an operand.
    each_row_alone = True
    # Results are as large as the shapes of the operands say, whatever is in the operands.
    sized_by_operands = True
    # It is applied along its `axis`, and to all other dimensions alone.
    works_along_axis = False
    # for each result the operand that has its shape, and how many dimensions of it; where it
    # is not given, PyTensor works out shapes from the graph
    shapes_like: tuple[tuple[int, int], ...] = ()

    def __init__(self, input_types: object = None, **kwargs: object):
        super().__init__(input_types, **{**NODE_BY_NODE, **kwargs})

    def __call__(self, *inputs: object, **kwargs: object) -> Any:
        names = list(inspect.signature(self.build_inner_graph).parameters)[len(inputs) :]
        by_name = [kwargs.pop(name) for name in names if name in kwargs]
        return super().__call__(*inputs, *by_name, **kwargs)

    def _identity(self) -> tuple:
        return type(self), *(getattr(self, name) for name in getattr(self, "__props__", ()))

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        # PyTensor gives a class with properties a comparison of the graphs.
        for method in ("__eq__", "__hash__", "__str__"):
            setattr(cls, method, getattr(RowOperator, method))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowOperator) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __str__(self) -> str:
        return type(self).__name__

    @shape_rule
    def infer_shape(self, node, shapes):
        """Return the shapes of the results, from those of the operands."""
        if not self.shapes_like:
            return shapes_by_base(super(), node, shapes)
        return [shapes[operand][:ndim] for operand, ndim in self.shapes_like]
