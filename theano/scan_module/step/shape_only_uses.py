"""Uses of a value that need only its shape, replaced by its shape.

The gradient of a sum fills an array of the summand's shape; the summand's values do not matter.
Left alone, such a use would make the gradient of a loop save or compute a value for its shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Second
from pytensor.tensor.basic import constant, stack
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.shape import Shape, Shape_i

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import in_order, order_of
from theano.pytensor_internals.graphs.shapes import length_along
from theano.rewriting.filled_arrays import allocated
from theano.rewriting.lazy_shapes import LazyShapeFeature
from theano.scan_module.loop.arguments import Invariant, Loop
from theano.scan_module.loop.step_copy import copied

# of a value that enters a step
Axis = tuple[Variable, int]
Rule = Callable[[Apply, tuple[Variable, ...]], Variable]


def _fill(node: Apply, shape: tuple[Variable, ...]) -> Variable:
    known = zip(shape, node.outputs[0].type.shape, strict=True)
    return allocated(node.inputs[1], *(n if size is None else size for n, size in known))


def _shape(node: Apply, shape: tuple[Variable, ...]) -> Variable:
    return stack([known_tensor(length).astype("int64") for length in shape])


def _shape_i(node: Apply, shape: tuple[Variable, ...]) -> Variable:
    return known_tensor(shape[node.op.i]).astype("int64")


def _rule_for(node: Apply) -> Rule | None:
    """Return how to compute a node from the shape of its first input alone, if that is enough."""
    if is_a(node.op, Elemwise):
        fills = is_a(node.op.scalar_op, Second)
        same_rank = fills and node.inputs[0].type.ndim == node.outputs[0].type.ndim
        # alloc needs the second operand's shape to divide the first's; a broadcast first does not
        broadcast = fills and any(
            length == 1 and other != 1
            for length, other in zip(
                node.inputs[0].type.shape, node.inputs[1].type.shape, strict=True
            )
        )
        return _fill if same_rank and not broadcast else None
    if is_a(node.op, Shape) and node.inputs[0].type.ndim > 0:
        return _shape
    if is_a(node.op, Shape_i):
        return _shape_i
    return None


def replace_shape_only_uses(graph: FunctionGraph) -> bool:
    """Rewrite each use of a computed value's shape in terms of the shapes of the graph's inputs.

    Returns whether anything changed.
    """
    dropped = _drop_fills(graph)
    uses = _uses(graph)
    if not uses:
        return dropped
    shapes = LazyShapeFeature()
    graph.attach_feature(shapes)
    changed = dropped
    # a shape may be expressed by the shape of another computed value, so until none is left
    while uses:
        progress = False
        for node, rule in uses:
            shape = shapes.lengths_of(node.inputs[0])
            if shape is None or node not in graph.apply_nodes or _asks_for_itself(node, shape):
                continue
            old = node.outputs[0]
            new = old.type.filter_variable(rule(node, tuple(shape)))
            graph.replace(old, new, reason="shape_only_use")
            changed = progress = True
        uses = _uses(graph) if progress else []
    return changed


def _drop_fills(graph: FunctionGraph) -> bool:
    """Let elementwise work read what is filled in where its other operands are as large.

    As an array of a computed size it would hide from rewrites what is multiplied: that an
    exponential times the reciprocal of a sum of exponentials is a softmax, for instance.
    """
    changed = False
    for node in in_order(graph):
        if _rule_for(node) is not _fill:
            continue
        result, filled = node.outputs[0], node.inputs[1]
        for client, position in list(graph.clients[result]):
            if not is_a(client.op, Elemwise) or client not in graph.apply_nodes:
                continue
            if not _are_as_large(client, position, result):
                continue
            operands = [*client.inputs]
            operands[position] = filled
            made = client.op.make_node(*operands)
            if all(a.type == b.type for a, b in zip(made.outputs, client.outputs, strict=True)):
                pairs = list(zip(client.outputs, made.outputs, strict=True))
                graph.replace_all(pairs, reason="fill_dropped")
                changed = True
    return changed


def _are_as_large(client: Apply, position: int, result: Variable) -> bool:
    """Return whether another operand has each dimension along which a fill repeats numbers."""
    filled = result.owner.inputs[1]  # type: ignore[union-attr]
    others = [v for k, v in enumerate(client.inputs) if k != position and v is not result]
    return all(
        has == wanted or any(not other.type.broadcastable[d] for other in others)
        for d, (has, wanted) in enumerate(
            zip(filled.type.broadcastable, result.type.broadcastable, strict=True)
        )
    )


def _uses(graph: FunctionGraph) -> list[tuple[Apply, Rule]]:
    """Return the nodes that read only the shape of a computed value."""
    return [
        (node, rule)
        for node in in_order(graph)
        if (rule := _rule_for(node)) is not None and node.inputs[0].owner is not None
    ]


def _asks_for_itself(node: Apply, shape: tuple[Variable, ...]) -> bool:
    """Return whether the shape that was inferred is nothing but the shape asked for."""
    return any(
        length.owner is not None
        and is_a(length.owner.op, Shape_i)
        and length.owner.inputs[0] is node.inputs[0]
        for length in shape
    )


def with_shapes_from_outside(loop: Loop) -> Loop:
    """Return the loop with shapes of what enters its step passed to it as invariants.

    A step that only needs the length of a row of a sequence need not read the sequence, and a
    reader of the step sees at once that the length is the same in every step. Loops of equal steps
    are given the lengths by the same variables.
    """
    outputs = loop.inner_outputs
    asking = loop.once("asks for lengths", lambda: _asking(loop.inner_inputs, outputs))
    if not asking:
        return loop
    outside = _lengths_outside(loop, _axes_asked_for(asking))
    kinds = tuple(length.type for length in outside.values())
    places, edited_outputs = loop.once(
        ("is given lengths", kinds),
        lambda: _given_lengths(outputs, asking, {axis: v.type() for axis, v in outside.items()}),
    )
    edited = loop.with_inner_outputs(edited_outputs)
    given = (Invariant(outside[axis], places[axis]) for axis in outside)
    return replace(edited, invariants=(*edited.invariants, *given))


def _asking(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> list[Apply]:
    """Return the nodes of a step that ask for the shape of what enters it."""
    entering = set(inputs)
    return [
        node
        for node in order_of(outputs, entering)
        if (is_a(node.op, Shape_i) and node.inputs[0] in entering)
        or (is_a(node.op, Shape) and node.inputs[0] in entering and node.inputs[0].type.ndim)
    ]


def _axes_asked_for(asking: Iterable[Apply]) -> list[Axis]:
    """Return the axes whose lengths are asked for and are not known."""
    axes: dict[Axis, None] = {}
    for node in asking:
        value = node.inputs[0]
        of_node = [node.op.i] if is_a(node.op, Shape_i) else range(value.type.ndim)
        axes |= {(value, axis): None for axis in of_node if value.type.shape[axis] is None}
    return list(axes)


def _lengths_outside(loop: Loop, axes: Iterable[Axis]) -> dict[Axis, Variable]:
    """Return the lengths outside of what enters a step."""
    rows = {entry.inner: entry.outer for entry in loop.sequences}
    rows |= {tap.inner: state.outer for state in loop.states for tap in state.reads}
    whole = {entry.inner: entry.outer for entry in loop.invariants}
    whole |= {entry.inner_input: entry.outer for entry in loop.untraced}
    # the first axis of what has rows is that of the steps
    outer: dict[Variable, tuple[Variable, int]]
    outer = {inner: (of, 1) for inner, of in rows.items()}
    outer |= {inner: (of, 0) for inner, of in whole.items()}
    return {
        (inner, axis): length_along(outer[inner][0], axis + outer[inner][1]) for inner, axis in axes
    }


def _given_lengths(
    outputs: Iterable[Variable], asking: Iterable[Apply], places: dict[Axis, Variable]
) -> tuple[dict[Axis, Variable], list[Variable]]:
    """Return what a step computes where it reads lengths that are not known from these places."""

    def length(value: Variable, axis: int) -> Variable:
        known = value.type.shape[axis]
        return places[value, axis] if known is None else constant(known, dtype="int64")

    replacements: dict[Variable, Variable] = {}
    for node in asking:
        [value], [old] = node.inputs, node.outputs
        if is_a(node.op, Shape_i):
            replacements[old] = length(value, node.op.i)
        else:
            shape = stack([length(value, axis) for axis in range(value.type.ndim)])
            replacements[old] = old.type.filter_variable(shape)
    return places, copied(outputs, replacements)
