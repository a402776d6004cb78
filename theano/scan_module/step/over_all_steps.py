"""How an operation on the values of one step is done on the stacked values of all steps.

Each rule gives the values of all steps of a node's result, or None where it does not hold.
"""

from __future__ import annotations

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Variable

from theano.pytensor_base.operations.tensor import get_idx_list
from theano.scan_module.step.gathers import is_gather

# For each argument whether it varies; its stacked values if it does, else its invariant value.
Arguments = list[tuple[bool, Variable]]


def elementwise(node: Apply, arguments: Arguments) -> Variable:
    stacked = [
        value if varies else value.dimshuffle("x", *range(value.type.ndim))
        for varies, value in arguments
    ]
    return node.op(*stacked)


def transposed(node: Apply, arguments: Arguments) -> Variable:
    order = ["x" if axis == "x" else axis + 1 for axis in node.op.new_order]
    return arguments[0][1].dimshuffle(0, *order)


def reduced(node: Apply, arguments: Arguments) -> Variable:
    axes = range(node.inputs[0].type.ndim) if node.op.axis is None else node.op.axis
    return node.op.clone(axis=tuple(axis + 1 for axis in axes))(arguments[0][1])


def product(node: Apply, arguments: Arguments) -> Variable:
    (left_varies, left), (right_varies, right) = arguments
    if left_varies and right_varies:
        return pt.matmul(left, right)
    if left_varies:
        rows = left.reshape((left.shape[0] * left.shape[1], left.shape[2]))
        return pt.dot(rows, right).reshape((left.shape[0], left.shape[1], right.shape[1]))
    # left.dot(right[t]) is (right[t].T.dot(left.T)).T
    columns = right.dimshuffle(0, 2, 1)
    rows = columns.reshape((columns.shape[0] * columns.shape[1], columns.shape[2]))
    product = pt.dot(rows, left.T)
    return product.reshape((columns.shape[0], columns.shape[1], left.shape[0])).dimshuffle(0, 2, 1)


def steps_as_images(values: Variable) -> Variable:
    """Stacked batches of images as one batch: (steps, B, C, ...) becomes (steps * B, C, ...)."""
    lengths = [values.shape[k] for k in range(2, values.type.ndim)]
    return values.reshape((values.shape[0] * values.shape[1], *lengths))


def filtered(node: Apply, arguments: Arguments) -> Variable | None:
    # steps become part of the batch, where they have the same filters
    batch = {"forward": 0, "inputs": 1}.get(node.op.direction)
    if [k for k, (varies, _) in enumerate(arguments) if varies] != [batch]:
        return None
    values = [value for _, value in arguments]
    steps = [values[batch].shape[k] for k in range(2)]
    values[batch] = steps_as_images(values[batch])
    result = node.op.of_any_batch().applied(*values[:2], values[2:])
    rest = [result.shape[k] for k in range(1, result.type.ndim)]
    return result.reshape((*steps, *rest))


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
    return op(*(value for _, value in arguments))
