"""Uses of a value that need only its shape, replaced by its shape.

The gradient of a sum fills an array of the summand's shape; the summand's values do not matter.
Left alone, such a use would make the gradient of a loop save or compute a value for its shape.
"""

from __future__ import annotations

from collections.abc import Callable

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Second
from pytensor.tensor.basic import alloc, stack
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.rewriting.shape import ShapeFeature
from pytensor.tensor.shape import Shape, Shape_i


def _fill(node: Apply, shape: tuple[Variable, ...]) -> Variable:
    return alloc(node.inputs[1], *shape)


def _shape(node: Apply, shape: tuple[Variable, ...]) -> Variable:
    return stack([length.astype("int64") for length in shape])


def _shape_i(node: Apply, shape: tuple[Variable, ...]) -> Variable:
    return shape[node.op.i].astype("int64")


def _rule_for(node: Apply) -> Callable[[Apply, tuple[Variable, ...]], Variable] | None:
    """How to compute a node from the shape of its first input alone, if that is enough."""
    if isinstance(node.op, Elemwise):
        fills = isinstance(node.op.scalar_op, Second)
        same_rank = fills and node.inputs[0].type.ndim == node.outputs[0].type.ndim
        # alloc needs the second operand's shape to divide the first's; a broadcast first does not
        broadcast = fills and any(
            length == 1 and other != 1
            for length, other in zip(
                node.inputs[0].type.shape, node.inputs[1].type.shape, strict=True
            )
        )
        return _fill if same_rank and not broadcast else None
    if isinstance(node.op, Shape) and node.inputs[0].type.ndim > 0:
        return _shape
    if isinstance(node.op, Shape_i):
        return _shape_i
    return None


def replace_shape_only_uses(graph: FunctionGraph) -> bool:
    """Rewrite each use of a computed value's shape in terms of the shapes of the graph's inputs.

    Returns whether anything changed.
    """
    uses = [
        (node, rule)
        for node in graph.toposort()
        if (rule := _rule_for(node)) is not None and node.inputs[0].owner is not None
    ]
    if not uses:
        return False
    shapes = ShapeFeature()
    graph.attach_feature(shapes)
    changed = False
    for node, rule in uses:
        shape = shapes.shape_of.get(node.inputs[0])
        if shape is None or node not in graph.apply_nodes:
            continue
        old = node.outputs[0]
        new = old.type.filter_variable(rule(node, tuple(shape)))
        graph.replace(old, new, reason="shape_only_use")
        changed = True
    return changed
