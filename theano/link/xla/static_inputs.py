"""Values that must be known before a program is traced: lengths, shapes, numbers of steps.

A lowering says which inputs of a node must be concrete. Such an input is one of

* concrete while tracing: made from constants and of shapes, which tracing knows;
* static: made, by operations on numbers and short vectors, of the function's inputs and of their
  shapes. It is computed in NumPy before each call, and the program is specialised by its value,
  not by the inputs' values: ``lengths.max()`` has one program for each maximum;
* neither: then it is computed by an earlier part of the function, and the graph is cut.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.type import TensorType, discrete_dtypes
from pytensor.tensor.type_other import NoneTypeT, SliceType

from theano.link.xla.lowering.table import concrete_inputs, why_not

SHAPES = (Shape, Shape_i)


class StaticValues:
    """Decides, for the nodes of a graph, which variables must be known and how they are.

    Parameters
    ----------
    inputs
        The function's inputs.
    refused
        Nodes that are not traced, whatever the table says.

    Attributes
    ----------
    static
        The variables that are computed before each call.
    """

    def __init__(self, inputs: Collection[Variable], refused: Collection[Apply] = ()):
        self.inputs, self.refused = set(inputs), refused
        self.static: set[Variable] = set()
        self._in_trace: dict[Variable, bool] = {}
        self._before_call: dict[Variable, bool] = {}

    def unknown_inputs(self, node: Apply) -> set[Variable]:
        """Return inputs that must be known for tracing the node and that only running it shows.

        The others are noted in `static` where they need be.
        """
        wanted = [node.inputs[position] for position in concrete_inputs(node)]
        return {variable for variable in wanted if not self._made_known(variable)}

    def _made_known(self, variable: Variable) -> bool:
        if self.is_known_in_trace(variable):
            return True
        if self._is_known_before_call(variable):
            self.static.add(variable)
            return True
        node = variable.owner
        if node is None or not _is_small(variable) or not self._is_traced(node):
            return False
        if isinstance(node.op, SHAPES):
            return True
        return all([self._made_known(x) for x in node.inputs])

    def _is_traced(self, node: Apply) -> bool:
        return node not in self.refused and why_not(node) is None

    def is_known_in_trace(self, variable: Variable) -> bool:
        """Return whether constants and shapes are all that it is made from."""
        if isinstance(variable, Constant):
            return True
        node = variable.owner
        if node is None:
            return False
        if variable not in self._in_trace:
            self._in_trace[variable] = self._is_traced(node) and (
                isinstance(node.op, SHAPES) or all(self.is_known_in_trace(x) for x in node.inputs)
            )
        return self._in_trace[variable]

    def _is_known_before_call(self, variable: Variable) -> bool:
        """Return whether NumPy can compute it from the function's inputs at little cost."""
        if isinstance(variable, Constant):
            return True
        node = variable.owner
        if node is None:
            return variable in self.inputs and _is_small(variable)
        if variable not in self._before_call:
            shape_of_input = isinstance(node.op, SHAPES) and node.inputs[0] in self.inputs
            self._before_call[variable] = shape_of_input or (
                _is_small(variable)
                and self._is_traced(node)
                and all(self._is_known_before_call(x) for x in node.inputs)
            )
        return self._before_call[variable]


def _is_small(variable: Variable) -> bool:
    """Return whether it is a number, a slice or the like, or a vector of integers."""
    kind: Any = variable.type
    if isinstance(kind, TensorType):
        return kind.ndim == 0 or (kind.ndim == 1 and kind.dtype in discrete_dtypes)
    return isinstance(kind, ScalarType | NoneTypeT | SliceType)
