"""Lengths as expressions of a function's arguments, in simple terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytensor
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.raise_op import Assert
from pytensor.scalar.basic import EQ, GE, GT, LE, LT, Maximum, Minimum, Switch
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar, constant, stack
from pytensor.tensor.shape import Shape, Shape_i

from theano.pytensor_internals.functions.compiling import unrewritten
from theano.rewriting.arranged import canonicalize
from theano.rewriting.lazy_shapes import LazyShapeFeature
from theano.rewriting.merging import Merge

# A number, an expression of the arguments of the function, or None if neither can be had.
Length = int | Variable | None


def of_inputs_alone(length: Variable) -> Variable:
    """Return the same length, where it reads shapes of computed values, in terms of those of inputs."""
    graph = FunctionGraph(outputs=[length], clone=True, copy_inputs=False)
    _replace(graph, _length_of_computed(graph))
    return graph.outputs[0]


def without_checks(length: Variable) -> Variable:
    """Return a length without the checks that operands agree."""
    while length.owner is not None and isinstance(
        length.owner.op, Assert | ScalarFromTensor | TensorFromScalar
    ):
        length = length.owner.inputs[0]
    return length


def with_shapes(
    lengths: Sequence[Variable], shapes: Mapping[Variable, tuple[int, ...]]
) -> list[Variable]:
    """Return the same lengths, where shapes of variables that they read are known."""
    known = {
        v: v.type.filter_variable(constant(shapes[v.owner.inputs[0]][v.owner.op.i], dtype="int64"))
        for v in ancestors(lengths)
        if v.owner is not None and isinstance(v.owner.op, Shape_i) and v.owner.inputs[0] in shapes
    }
    return list(clone_replace(list(lengths), replace=known)) if known else list(lengths)


def simplified(lengths: Sequence[Variable]) -> list[Length]:
    """Return the same lengths in simple terms, provided that shapes of operands agree and slices lie within.

    One after the other: a sum that two of them share would be a term of each.
    """
    return [_simplified(length) for length in lengths]


def _simplified(length: Variable) -> Length:
    graph = FunctionGraph(outputs=[length], clone=True, copy_inputs=False)
    _replace(graph, _without_assert)
    _replace(graph, _length_of_computed(graph))
    canonicalize(graph)
    _replace(graph, _within)
    canonicalize(graph)
    Merge().rewrite(graph)
    _replace(graph, _one_of_equals)
    return as_number(without_checks(graph.outputs[0]))


def _replace(graph: FunctionGraph, simpler: Callable[[Apply], Variable | None]) -> None:
    for node in graph.toposort():
        new = simpler(node) if node in graph.apply_nodes else None
        if new is not None:
            old = node.outputs[0]
            graph.replace(old, old.type.filter_variable(new), reason="simplified")


def _without_assert(node: Apply) -> Variable | None:
    return node.inputs[0] if isinstance(node.op, Assert) else None


def _length_of_computed(graph: FunctionGraph) -> Callable[[Apply], Variable | None]:
    """Return what puts the shapes of computed values in terms of those of the arguments."""
    shapes = LazyShapeFeature()
    graph.attach_feature(shapes)

    def length(node: Apply) -> Variable | None:
        if not isinstance(node.op, Shape | Shape_i) or node.inputs[0].owner is None:
            return None
        known = shapes.lengths_of(node.inputs[0])
        if known is None:
            return None
        return known[node.op.i] if isinstance(node.op, Shape_i) else stack(list(known))

    return length


def _within(node: Apply) -> Variable | None:
    """Return the constant, where the smaller of it and a length is taken: slices lie within.

    Where a length is asked whether it is -1, as by reshapes, it is not.
    """
    kind = getattr(node.op, "scalar_op", None)
    if isinstance(kind, Switch):
        condition, first, second = node.inputs
        comparison = getattr(getattr(condition.owner, "op", None), "scalar_op", None)
        if isinstance(comparison, EQ) and second in condition.owner.inputs:
            return None if isinstance(second, Constant) else second
        if not isinstance(comparison, LT | LE | GT | GE):
            return None
        if set(condition.owner.inputs) != {first, second}:
            return None
        smaller_first = isinstance(comparison, LT | LE)
        if (condition.owner.inputs[0] is first) != smaller_first:
            return None
    elif not isinstance(kind, Minimum):
        return None
    constants = [v for v in node.inputs[-2:] if isinstance(v, Constant) and v.data > 0]
    return constants[0] if len(constants) == 1 else None


def _one_of_equals(node: Apply) -> Variable | None:
    kind = getattr(node.op, "scalar_op", node.op)
    equal = isinstance(kind, Maximum | Minimum) and len(set(node.inputs)) == 1
    return node.inputs[0] if equal else None


def as_number(length: Variable) -> int | Variable:
    return int(length.data) if isinstance(length, Constant) else length


def evaluated(
    lengths: Sequence[Variable], inputs: Sequence[Variable], values: Sequence[Any]
) -> list[int]:
    """Evaluate lengths for given values of the inputs of their graph."""
    if not lengths:
        return []
    fresh = [variable.type() for variable in inputs]
    evaluate = pytensor.function(
        fresh,
        clone_replace(list(lengths), replace=dict(zip(inputs, fresh, strict=True))),
        mode=unrewritten("py"),
        on_unused_input="ignore",
        profile=False,
        accept_inplace=True,
    )
    # the graph may hold operations that overwrite their inputs, of which lengths are computed
    read = {v for v in ancestors(lengths) if v.owner is None}
    copies = [
        np.copy(value) if v in read and isinstance(value, np.ndarray) else value
        for v, value in zip(inputs, values, strict=True)
    ]
    return [int(number) for number in evaluate(*copies)]
