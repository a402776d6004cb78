"""PyTensor's shapes of a graph, which it works out when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.basic import Split, cast, constant
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.rewriting.shape import ShapeFeature
from pytensor.tensor.shape import Reshape, Shape
from pytensor.tensor.subtensor import Subtensor, get_idx_list

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.reshaped_lengths import shape_of_reshape
from theano.pytensor_internals.graphs.slice_lengths import shape_of_slices, sum_of_lengths, terms_of
from theano.pytensor_internals.graphs.split_lengths import shapes_of_split
from theano.pytensor_internals.graphs.untraced import untraced


class ShapesWhenAsked(ShapeFeature):
    """PyTensor's shapes of a graph, without comparing the lengths of element-wise operands.

    They have one shape, or computing fails and says so. PyTensor compares their lengths once more
    where only the shape is asked for. A length that is read from a shape, as in a loop's buffer,
    is the length that is known of it.
    """

    def lengths_of(self, variable: Variable) -> tuple[Variable, ...] | None:
        """Return the lengths of a variable along its axes; None where it is no array."""
        return self.shape_tuple(variable)

    def _get_node_shapes(self, node: Apply, recursive: bool = True) -> Any:
        if recursive and node in self._cache and not self._stale:
            return self._cache[node]
        # no line of the user's made what computes a shape
        with untraced:
            return super()._get_node_shapes(node, recursive)

    def _flush_stale(self) -> None:
        """Forget the shapes that were worked out from those of nodes with other inputs now.

        PyTensor looks at all that is computed from them. Here it ends where no shape is known, so
        that nothing was worked out from it, nor from numbers, which may be lengths.
        """
        waiting, self._stale = list(self._stale), set()
        seen = set(waiting)
        while waiting:
            node = waiting.pop()
            was_known = self._cache.pop(node, None) is not None
            read = [out for out in node.outputs if was_known or _may_be_length(out)]
            assert self.fgraph is not None
            clients = {client for out in read for client, _ in self.fgraph.clients.get(out, ())}
            waiting.extend(clients - seen)
            seen |= clients

    def _compute_node_shapes(self, node: Apply, recursive: bool) -> Any:
        # the one place where an operator is asked
        length_of = self.get_shape if recursive else self._fresh_shape_i
        shape = None
        if is_a(node.op, Elemwise):
            shape = _of_elementwise(node, length_of)
        elif is_a(node.op, Subtensor):
            shape = shape_of_slices(node, length_of)
        elif is_a(node.op, Reshape):
            shape = shape_of_reshape(node, length_of, lambda length: self._read(length, node))
        elif isinstance(node.op, Split):
            parts = shapes_of_split(node, length_of, lambda length: self._read(length, node))
            if parts is not None:
                return tuple(parts)
        if shape is not None:
            return (shape,) * len(node.outputs)
        shapes = super()._compute_node_shapes(node, recursive)
        if not recursive:
            return shapes
        return tuple(
            None if shape is None else tuple(self._known(length, node) for length in shape)
            for shape in shapes
        )

    def _coerce_shape_element(self, element: object, node: Apply) -> Any:
        # PyTensor subtracts a start that is a uint64 from an int64, which gives a float64
        if isinstance(element, Variable) and getattr(element.type, "dtype", None) == "float64":
            element = cast(element, "int64")
        return super()._coerce_shape_element(element, node)

    def _known(self, length: Variable, node: Apply) -> Variable:
        terms = terms_of(length)
        known = [self._read(term, node) for term in terms]
        same = all(one is other for one, other in zip(terms, known, strict=True))
        return length if same else sum_of_lengths(known)

    def _read(self, length: Variable, node: Apply) -> Variable:
        """Return what is known of a length that is read from a shape, other than one of the node's own."""
        read = _read_from_shape(length)
        if read is None or read[0].owner is node:
            return length
        return self.get_shape(*read)


class _WithGivenShapes(ShapesWhenAsked):
    """Shapes of what is computed from variables whose shapes are given."""

    def __init__(self, given: dict[Variable, Sequence[Variable]]):
        super().__init__()
        self._given = given

    def get_shape(self, var: Variable, idx: int) -> Variable:
        """Return the length of a variable along an axis."""
        given = self._given.get(var)
        known: Variable = super().get_shape(var, idx) if given is None else given[idx]
        return known


def infer_shape(
    outs: Sequence[Variable],
    inputs: Sequence[Variable],
    input_shapes: Sequence[Sequence[Variable] | None],
) -> list[tuple[Variable, ...] | None]:
    """Return the shapes of variables, as expressions of the shapes of what they are computed from."""
    pairs = zip(inputs, input_shapes, strict=True)
    shapes = _WithGivenShapes({v: shape for v, shape in pairs if shape is not None})
    return [shapes.lengths_of(variable) for variable in outs]


def _of_elementwise(
    node: Apply, length_of: Callable[[Variable, int], Variable]
) -> tuple[Variable, ...] | None:
    """Return the shape of element-wise work; None where its operands have different lengths."""
    shape: list[Variable] = []
    for axis in range(node.outputs[0].type.ndim):
        stretched = [v for v in node.inputs if v.type.shape[axis] != 1]
        lengths = [length_of(variable, axis) for variable in stretched]
        constants = {int(v.data) for v in lengths if is_a(v, Constant)} - {1}
        if len(constants) > 1:
            return None
        others = [length for length in lengths if not is_a(length, Constant)]
        if constants or not others:
            shape.append(constant(max(constants, default=1), dtype="int64"))
        else:
            shape.append(others[0])
    return tuple(shape)


def _may_be_length(variable: Variable) -> bool:
    """Return whether it is an integer, or a list of such."""
    kind: Any = variable.type
    return getattr(kind, "ndim", 0) <= 1 and str(getattr(kind, "dtype", "")).startswith(
        ("int", "uint")
    )


def _read_from_shape(length: Variable) -> tuple[Variable, int] | None:
    """Whose length it is, and along which axis, where it is written ``x.shape[i]``."""
    node = length.owner
    if node is None or not is_a(node.op, Subtensor):
        return None
    shape = node.inputs[0].owner
    if shape is None or not is_a(shape.op, Shape):
        return None
    (axis,) = get_idx_list(node.inputs, node.op.idx_list)
    if not is_a(axis, Constant):
        return None
    [array] = shape.inputs
    return array, int(axis.data) % array.type.ndim
