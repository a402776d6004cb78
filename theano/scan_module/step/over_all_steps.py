"""Operations on the values of one step, done on the stacked values of all steps.

Each rule gives the values of all steps of a node's result, or None where it does not hold.
"""

from __future__ import annotations

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import matmul, only_result
from theano.pytensor_internals.operations.tensor import get_idx_list
from theano.rewriting.lengths import lengths_of
from theano.scan_module.step.gathers import is_gather

# For each argument whether it varies; its stacked values if it does, else its invariant value.
Arguments = list[tuple[bool, TensorVariable]]


def elementwise(node: Apply, arguments: Arguments) -> Variable:
    stacked = [
        value if varies else value.dimshuffle("x", *range(value.type.ndim))
        for varies, value in arguments
    ]
    return only_result(node.op(*stacked))


def transposed(node: Apply, arguments: Arguments) -> Variable:
    order = ["x" if axis == "x" else axis + 1 for axis in node.op.new_order]
    return arguments[0][1].dimshuffle(0, *order)


def reduced(node: Apply, arguments: Arguments) -> Variable:
    axes = range(node.inputs[0].type.ndim) if node.op.axis is None else node.op.axis
    return only_result(node.op.clone(axis=tuple(axis + 1 for axis in axes))(arguments[0][1]))


def product(node: Apply, arguments: Arguments) -> Variable:
    (left_varies, left), (right_varies, right) = arguments
    if left_varies and right_varies:
        return matmul(left, right)
    if left_varies:
        return _rows_times(left, right)
    # left.dot(right[t]) is (right[t].T.dot(left.T)).T
    return _rows_times(right.dimshuffle(0, 2, 1), left.T).dimshuffle(0, 2, 1)


def _rows_times(values: TensorVariable, matrix: TensorVariable) -> TensorVariable:
    """Return the products of all steps' values with a matrix, as one product."""
    steps, rows, columns = lengths_of(values)
    stacked = pt.dot(values.reshape((steps * rows, columns)), matrix)
    return stacked.reshape((steps, rows, lengths_of(matrix)[1]))


def steps_as_rows(values: TensorVariable) -> TensorVariable:
    """Stacked arrays as one with the rows of all: (steps, B, ...) becomes (steps * B, ...)."""
    steps, rows, *rest = lengths_of(values)
    return values.reshape((steps * rows, *rest))


def filtered(node: Apply, arguments: Arguments) -> Variable | None:
    # steps become part of the batch, where they have the same filters
    batch = {"forward": 0, "inputs": 1}.get(node.op.direction)
    if batch is None or [k for k, (varies, _) in enumerate(arguments) if varies] != [batch]:
        return None
    values = [value for _, value in arguments]
    steps = lengths_of(values[batch])[:2]
    values[batch] = steps_as_rows(values[batch])
    result = node.op.of_any_batch().applied(*values[:2], values[2:])
    return result.reshape((*steps, *lengths_of(result)[1:]))


def gathered(node: Apply, arguments: Arguments) -> Variable | None:
    if not is_gather(node):
        return None
    (source_varies, source), (_, indices) = arguments
    return None if source_varies else source[indices]


def sliced(node: Apply, arguments: Arguments) -> Variable | None:
    if not arguments[0][0] or any(varies for varies, _ in arguments[1:]):
        return None
    values = [value for _, value in arguments]
    index = get_idx_list(values, node.op.idx_list)
    return values[0][(slice(None), *index)]


def along_axis(node: Apply, arguments: Arguments) -> Variable | None:
    if not all(varies for varies, _ in arguments):
        return None
    axes = range(node.inputs[0].type.ndim) if node.op.axis is None else node.op.axis
    op = type(node.op)(axis=tuple(axis + 1 for axis in axes))
    return only_result(op(*(value for _, value in arguments)))
