"""Nodes of a graph, lowered one after the other: of a loop's step, or of a segment."""

from __future__ import annotations

from collections.abc import Callable

from pytensor.graph.basic import Apply, Constant, Variable

from theano.link.native.ir.ir import CannotLower, Value
from theano.link.native.lowering.operations.elementwise import constant_value
from theano.link.native.lowering.registry import lowering_of
from theano.link.native.lowering.step import Step


class Nodes:
    """The lowering of nodes in order, with the value of each variable in the intermediate form.

    Parameters
    ----------
    given
        Makes the value of a variable that no node computes.
    """

    def __init__(self, step: Step, given: Callable[[Variable], Value]):
        self.step, self._given = step, given
        self.values: dict[Variable, Value] = step.values

    def value(self, variable: Variable) -> Value:
        """Return the value of a variable whose node was lowered, a constant, or what is given."""
        if variable not in self.values:
            if isinstance(variable, Constant):
                self.values[variable] = constant_value(self.step, variable)
            else:
                self.values[variable] = self._given(variable)
        return self.values[variable]

    def lower(self, node: Apply) -> None:
        """Append the statements of a node."""
        self.step.node = node
        operands = [self.value(variable) for variable in node.inputs]
        results = lowering_of(node.op)(self.step, node, operands)
        _check_types(self.step, node, results)
        self.values.update(zip(node.outputs, results, strict=True))


def _check_types(step: Step, node: Apply, results: list[Value]) -> None:
    """Hold the results of a lowering against the types of the graph."""
    for variable, value in zip(node.outputs, results, strict=True):
        ndim = getattr(variable.type, "ndim", 0)
        if value.ndim != ndim or value.dtype != variable.type.dtype:
            raise CannotLower(
                f"{node.op} as {value.dtype} with {value.ndim} dimensions instead of "
                f"{variable.type}"
            )
        for d, size in enumerate(getattr(variable.type, "shape", ())):
            if size is not None:
                if size < 0:
                    # as PyTensor's Split has it of a length that its own code refuses
                    raise CannotLower(f"{node.op} with a negative size")
                step.sizes.equal(value.shape[d], size, f"a static size of {node.op}")
