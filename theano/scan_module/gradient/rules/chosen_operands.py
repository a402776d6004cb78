"""Gradients that go to the operand, or the element, that was chosen: found without last digits.

The gradient of a maximum goes to the operand that equals it. In a loop both sides of such a
comparison may be computed twice, in the forward loop and again in the backward loop, and rewritten
in two ways (``log(1 + x)``, ``log1p(x)``): then their last digits differ, and the gradient goes to
another operand, or to none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import ancestors
from pytensor.scalar.basic import EQ, LogicalComparison, Maximum, Minimum
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import ge, le
from pytensor.tensor.subtensor import Subtensor

from theano.pytensor_internals.graphs.kinds import is_a
from theano.scan_module.gradient.dependence import dependents
from theano.scan_module.step.operation_kinds import is_cheap

# How an operand compares with the other where it is chosen; not at all where one is nan.
_WHERE_CHOSEN: dict[type, Callable[[Variable, Variable], Variable]] = {Maximum: ge, Minimum: le}


def compare_operands(graph: FunctionGraph) -> bool:
    """Return whether an operand is the greatest or least: asked of the operands, not of the result.

    ``eq(maximum(x, y), x)`` becomes ``ge(x, y)``. Returns whether anything changed.
    """
    changed = False
    for node in graph.toposort():
        found = _operands_compared(node)
        if found is not None:
            old = node.outputs[0]
            graph.replace(old, old.type.filter_variable(found), reason="compare_operands")
            changed = True
    return changed


def _operands_compared(node: Apply) -> Variable | None:
    if not _has_scalar_operation(node, EQ):
        return None
    for chosen, operand in (node.inputs, node.inputs[::-1]):
        choice = chosen.owner
        if choice is None or not is_a(choice.op, Elemwise) or operand not in choice.inputs:
            continue
        compare = _WHERE_CHOSEN.get(type(choice.op.scalar_op))
        if compare is not None:
            position = choice.inputs.index(operand)
            return compare(operand, choice.inputs[1 - position])
    return None


def choices(region: Iterable[Variable], kept: Collection[Variable]) -> set[Variable]:
    """Comparisons of a value with what was selected from it, such as its greatest element.

    Where the value is computed again, what was selected before need not be among its elements: such
    a comparison is made once, and saved.

    Parameters
    ----------
    region
        Values of the forward step that may be saved or computed again.
    kept
        Values that are read as the forward step left them.
    """
    return {
        variable
        for variable in region
        if variable.owner is not None
        and _has_scalar_operation(variable.owner, LogicalComparison)
        and any(
            not _stays(whole, kept) and _is_selected(part, whole)
            for whole, part in (variable.owner.inputs, variable.owner.inputs[::-1])
        )
    }


def _has_scalar_operation(node: Apply, scalar_operation: type) -> bool:
    return is_a(node.op, Elemwise) and isinstance(node.op.scalar_op, scalar_operation)


def _stays(variable: Variable, kept: Collection[Variable]) -> bool:
    """Return whether a value is never computed again but read, perhaps in parts or transposed."""
    while variable not in kept and not is_a(variable, Constant):
        if variable.owner is None or not is_cheap(variable.owner):
            return True
        if not isinstance(variable.owner.op, DimShuffle | Subtensor):
            return False
        variable = variable.owner.inputs[0]
    return True


def _is_selected(part: Variable, whole: Variable) -> bool:
    """Return whether one value follows from another by more than operations element by element."""
    source = _viewed(whole)
    following = dependents([source], ancestors([part], blockers=[source]))
    return any(
        variable is not source and not isinstance(variable.owner.op, Elemwise | DimShuffle)
        for variable in following
    )


def _viewed(variable: Variable) -> Variable:
    """Return what a value with dimensions moved or added was before."""
    while variable.owner is not None and is_a(variable.owner.op, DimShuffle):
        variable = variable.owner.inputs[0]
    return variable
