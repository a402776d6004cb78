"""A graph computed for several values of a variable at once: each value has one dimension more, the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pytensor import tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.ops import ViewOp
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import io_toposort
from pytensor.scalar.basic import ScalarOp
from pytensor.tensor.basic import (
    Alloc,
    Join,
    MakeVector,
    ScalarFromTensor,
    Split,
    TensorFromScalar,
)
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import Dot
from pytensor.tensor.shape import Reshape, Shape, Shape_i
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from theano.compile.rebroadcast import Rebroadcast
from theano.pytensor_internals.graphs.annotations import known_tensor, matmul, only_result
from theano.pytensor_internals.graphs.graph import with_more_dimensions
from theano.pytensor_internals.operations.axes import axis_apart, join, split
from theano.pytensor_internals.operations.tensor import (
    AdvancedIncSubtensor1,
    AdvancedSubtensor1,
    IfElse,
    indices_from_subtensor,
)
from theano.rewriting.filled_arrays import allocated
from theano.rewriting.lengths import lengths_of, static_length
from theano.scan_module.batched_loops import batched
from theano.scan_module.loop.step_copy import copied
from theano.scan_module.step.operation_kinds import kind_of


def in_batch(
    outputs: Sequence[Variable], values: Mapping[Variable, Variable], length: object
) -> list[Variable] | None:
    """Return what is computed for each of several values of some variables.

    Parameters
    ----------
    outputs
        Tensors that are computed for one value.
    values
        For each variable all values of it, stacked along the first dimension.
    length
        How many they are.

    Returns
    -------
    list of Variable or None
        The outputs for all values, stacked in the same way; None if an operation has no form for that.
    """
    batch = _Batch(values, length)
    for node in io_toposort([*values], outputs):
        if any(v in batch.new for v in node.inputs) and not batch.add(node):
            return None
    return [batch.filled(variable) for variable in outputs]


class _Batch:
    """The variables of a graph that depend on those which have several values.

    Attributes
    ----------
    new
        For each variable, all of its values, or what takes its place: what is the same for all,
        such as a shape, has no dimension more.
    length
        How many values there are.
    """

    def __init__(self, values: Mapping[Variable, Variable], length: object):
        self.new, self.length = dict(values), length
        self._varying = set(values)

    def varies(self, variable: Variable) -> bool:
        """Return whether a variable has several values."""
        return variable in self._varying

    def given(self, variable: Variable) -> TensorVariable:
        """Return all values of a variable, or the one that it has."""
        return known_tensor(self.new.get(variable, variable))

    def filled(self, variable: Variable) -> TensorVariable:
        """Return a value for each, also of a variable that has only one."""
        value = self.given(variable)
        return value if self.varies(variable) else allocated(value, self.length, *lengths_of(value))

    def add(self, node: Apply) -> bool:
        """Compute a node for all values; return whether it has a form for that."""
        if not any(map(self.varies, node.inputs)):
            results = node.clone_with_new_inputs([*map(self.given, node.inputs)]).outputs
            self.new.update(zip(node.outputs, results, strict=True))
            return True
        found = _form_of(node)(node, self)
        if found is None:
            return False
        for old, new in zip(node.outputs, found, strict=True):
            if not _is_stacked(new, old):
                # a shape is the same for all values
                if new.type.ndim != old.type.ndim or not isinstance(node.op, Shape | Shape_i):
                    return False
            else:
                self._varying.add(old)
            self.new[old] = new
        return True


def _is_stacked(new: Variable, old: Variable) -> bool:
    is_tensor = isinstance(new.type, TensorType)
    return is_tensor and new.type.ndim == old.type.ndim + 1 and new.type.dtype == old.type.dtype


def _form_of(node: Apply) -> _Form:
    for op_class in type(node.op).__mro__:
        if op_class in _FORMS:
            return _FORMS[op_class]
    return _of_others


def _of_others(node: Apply, batch: _Batch) -> Sequence[Variable] | None:
    """Use the form that an operation has for all steps of a loop, or PyTensor's."""
    rule = kind_of(node.op).over_all_steps
    if rule is not None:
        result = rule(node, [(batch.varies(v), batch.given(v)) for v in node.inputs])
        return None if result is None else [result]
    try:
        found = with_more_dimensions(node.op, node, *map(batch.given, node.inputs))
    except NotImplementedError:
        return None
    outputs = found.outputs if isinstance(found, Apply) else found
    made = outputs[0].owner
    # what PyTensor runs for one value after the other in Python is no batch, but for loops
    return batched(made) if made is not None and isinstance(made.op, Blockwise) else outputs


def _applied(node: Apply, batch: _Batch) -> Sequence[Variable]:
    return node.op.make_node(*map(batch.given, node.inputs)).outputs


def _shape(node: Apply, batch: _Batch) -> Sequence[Variable]:
    return [pt.shape(batch.given(node.inputs[0]))[1:]]


def _length(node: Apply, batch: _Batch) -> Sequence[Variable]:
    return [only_result(Shape_i(node.op.i + 1)(batch.given(node.inputs[0])))]


def _product(node: Apply, batch: _Batch) -> Sequence[Variable]:
    left, right = map(batch.given, node.inputs)
    left_rank, right_rank = (variable.type.ndim for variable in node.inputs)
    if not batch.varies(node.inputs[1]):
        return [_times(left, right)]
    if not batch.varies(node.inputs[0]):
        # left.dot(right) is (right.T.dot(left.T)).T
        product = _times(right if right_rank == 1 else right.dimshuffle(0, 2, 1), left.T)
        return [product if product.type.ndim < 3 else product.dimshuffle(0, 2, 1)]
    rows = left if left_rank == 2 else left.dimshuffle(0, "x", 1)
    columns = right if right_rank == 2 else right.dimshuffle(0, 1, "x")
    product = matmul(rows, columns)
    kept = [axis for axis, rank in ((1, left_rank), (2, right_rank)) if rank == 2]
    return [product.dimshuffle(0, *kept) if len(kept) == 2 else _without(product, kept)]


def _without(product: TensorVariable, kept: Sequence[int]) -> Variable:
    """Return a stack of products without the dimensions that vectors lack."""
    return product[tuple(slice(None) if axis in (0, *kept) else 0 for axis in range(3))]


def _times(stack: TensorVariable, right: TensorVariable) -> TensorVariable:
    """Multiply vectors or matrices of a stack by what is the same for all, as one product."""
    if stack.type.ndim == 2:
        return pt.dot(stack, right)
    count, rows, columns = lengths_of(stack)
    product = pt.dot(stack.reshape((count * rows, columns)), right)
    return product.reshape((count, rows, *lengths_of(right)[1:]))


def _reshaped(node: Apply, batch: _Batch) -> Sequence[Variable] | None:
    array, shape = map(batch.given, node.inputs)
    if batch.varies(node.inputs[1]):
        return None
    ndim = node.op.ndim
    return [array.reshape((array.shape[0], *(shape[k] for k in range(ndim))), ndim=ndim + 1)]


def _alloc(node: Apply, batch: _Batch) -> Sequence[Variable] | None:
    value, *lengths = node.inputs
    if any(map(batch.varies, lengths)):
        return None
    missing = len(lengths) - value.type.ndim
    array = batch.given(value)
    ranked = array.dimshuffle(0, *["x"] * missing, *range(1, array.type.ndim))
    return [allocated(ranked, batch.length, *map(batch.given, lengths))]


def _axis_and_others(node: Apply) -> tuple[int | None, list[Variable]]:
    """Return the axis of a join or a split of a batch, if it is static, and what else is given."""
    axis, others = axis_apart(node, node.inputs)
    known = static_length(axis)
    return None if known is None else known % node.outputs[0].type.ndim + 1, others  # type: ignore[attr-defined]


def _joined(node: Apply, batch: _Batch) -> Sequence[Variable] | None:
    axis, arrays = _axis_and_others(node)
    return None if axis is None else [join(axis, *map(batch.filled, arrays))]


def _split(node: Apply, batch: _Batch) -> Sequence[Variable] | None:
    axis, (array, lengths) = _axis_and_others(node)
    if axis is None or batch.varies(lengths):
        return None
    parts = batch.given(array), batch.given(lengths)
    return split(*parts, n_splits=len(node.outputs), axis=axis)


def _vector(node: Apply, batch: _Batch) -> Sequence[Variable]:
    return [pt.stack([*map(batch.filled, node.inputs)], axis=1).astype(node.outputs[0].type.dtype)]


def _chosen(node: Apply, batch: _Batch) -> Sequence[Variable] | None:
    condition, *values = node.inputs
    if batch.varies(condition):
        return None
    return node.op.make_node(batch.given(condition), *map(batch.filled, values)).outputs


def _of_numbers(node: Apply, batch: _Batch) -> Sequence[Variable]:
    numbers = [
        batch.given(v) if batch.varies(v) else pt.tensor_from_scalar(batch.given(v))
        for v in node.inputs
    ]
    return Elemwise(node.op).make_node(*numbers).outputs


def _as_it_is(node: Apply, batch: _Batch) -> Sequence[Variable]:
    return [batch.given(node.inputs[0])]


def _rebroadcast(node: Apply, batch: _Batch) -> Sequence[Variable]:
    axes = ((axis + 1, is_one) for axis, is_one in node.op.axis.items())
    return [only_result(Rebroadcast(*axes)(batch.given(node.inputs[0])))]


def _graph(node: Apply, batch: _Batch) -> Sequence[Variable] | None:
    """Write an operation that is a graph out, unless it has derivatives of its own."""
    op = node.op
    if op.pullback_overrides is not None or op.pushforward_overrides is not None:
        return None
    fixed = {
        inner: batch.given(outer)
        for inner, outer in zip(op.inner_inputs, node.inputs, strict=True)
        if not batch.varies(outer)
    }
    inner = {
        v: v.type() for v, outer in zip(op.inner_inputs, node.inputs, strict=True) if v not in fixed
    }
    outputs = copied(op.inner_outputs, {**fixed, **inner})
    values = {
        inner[v]: batch.given(outer)
        for v, outer in zip(op.inner_inputs, node.inputs, strict=True)
        if v in inner
    }
    return in_batch(outputs, values, batch.length)


# ---- parts of arrays ----


def _place(node: Apply, first: int, batch: _Batch) -> tuple | None:
    """Return the index of a part of each value; None where it differs, or dimensions change places."""
    indices = node.inputs[first:]
    if any(map(batch.varies, indices)):
        return None
    given = [*map(batch.given, indices)]
    op = node.op
    if isinstance(op, AdvancedSubtensor1 | AdvancedIncSubtensor1):
        return (slice(None), *given)
    if isinstance(op, AdvancedSubtensor | AdvancedIncSubtensor) and op.non_consecutive_adv_indexing(
        node
    ):
        # the dimensions of the index come before that of the batch
        return None
    return (slice(None), *indices_from_subtensor(given, op.idx_list))


def _part(node: Apply, batch: _Batch) -> Sequence[Variable] | None:
    place = _place(node, 1, batch)
    return None if place is None else [batch.given(node.inputs[0])[place]]


def _changed_part(node: Apply, batch: _Batch) -> Sequence[Variable] | None:
    place = _place(node, 2, batch)
    if place is None:
        return None
    array, value, *_ = node.inputs
    part = batch.filled(array)[place]
    new = batch.given(value)
    if batch.varies(value):
        missing = part.type.ndim - new.type.ndim
        new = new.dimshuffle(0, *["x"] * missing, *range(1, new.type.ndim))
    options = {"ignore_duplicates": True} if getattr(node.op, "ignore_duplicates", False) else {}
    return [pt.inc_subtensor(part, new, set_instead_of_inc=node.op.set_instead_of_inc, **options)]


_Form = Callable[[Apply, _Batch], Sequence[Variable] | None]
_FORMS: dict[type, _Form] = {
    AdvancedIncSubtensor: _changed_part,
    AdvancedIncSubtensor1: _changed_part,
    AdvancedSubtensor: _part,
    AdvancedSubtensor1: _part,
    Alloc: _alloc,
    Blockwise: _applied,
    Dot: _product,
    Elemwise: _applied,
    IfElse: _chosen,
    IncSubtensor: _changed_part,
    Join: _joined,
    Split: _split,
    MakeVector: _vector,
    OpFromGraph: _graph,
    Rebroadcast: _rebroadcast,
    Reshape: _reshaped,
    ScalarFromTensor: _as_it_is,
    ScalarOp: _of_numbers,
    Shape: _shape,
    Shape_i: _length,
    Subtensor: _part,
    TensorFromScalar: _as_it_is,
    ViewOp: _applied,
}
