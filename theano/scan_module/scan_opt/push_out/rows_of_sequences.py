"""The rows of a loop's sequences, read outside the loop, with the loop's complaints about them.

A loop refuses a sequence with fewer rows than it has steps, and a negative number of steps. What
is computed outside in its place refuses them, too, unless they cannot occur: where ``n_steps`` is
not given, it is the length of the shortest sequence.
"""

from __future__ import annotations

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import ScalarMinimum
from pytensor.tensor.basic import Alloc, ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape, Shape, Shape_i
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.pytensor_internals.operations.tensor import get_idx_list
from theano.scan_module.loop.arguments import Loop, Sequence
from theano.scan_module.loop.constant_index import constant_index
from theano.scan_module.loop.roles import Roles, steps_given_to
from theano.scan_module.step.operation_kinds import kind_of


def all_rows(entry: Sequence, loop: Loop) -> TensorVariable:
    """Return a sequence of a loop as an array that has a row for each step, or raises a ValueError."""
    if has_rows(entry.outer, loop.n_steps):
        return entry.outer
    name = _name_of(entry.outer)
    message = (
        f"{loop.settings.name or 'scan'}: a sequence has fewer rows than the loop's number of steps"
        f"{name and f': {name}'}"
    )
    enough = pt.ge(entry.outer.shape[0], number_of_steps(loop))
    return known_tensor(CheckAndRaise(ValueError, message)(entry.outer, enough))


def _name_of(rows: Variable) -> str:
    """Return the name of the array that rows are read from; empty where none has one."""
    while rows.owner is not None and isinstance(rows.owner.op, Subtensor):
        rows = rows.owner.inputs[0]
    return rows.name or ""


def number_of_steps(loop: Loop) -> TensorVariable:
    """Return the number of steps of a loop, which raises an IndexError where it is negative."""
    steps = loop.n_steps
    if _is_length(steps) or (is_a(steps, Constant) and steps.data >= 0):
        return steps
    message = f"{loop.settings.name or 'scan'}: the number of steps is negative"
    return known_tensor(CheckAndRaise(IndexError, message)(steps, pt.ge(steps, 0)))


def has_rows(array: Variable, steps: Variable) -> bool:
    """Return whether an array is known to have at least as many rows as a loop has steps."""
    if is_a(steps, Constant) and array.type.shape[0] is not None:
        return bool(0 <= steps.data <= array.type.shape[0])
    if any(measured is array for measured in _lengths_not_below(steps)):
        return True
    node = array.owner
    if node is None:
        return False
    for op_class, rule in _RULES:
        if isinstance(node.op, op_class):
            return rule(node, steps)
    return kind_of(node.op).rows_of_first and has_rows(node.inputs[0], steps)


def _of_elementwise(node: Apply, steps: Variable) -> bool:
    return any(
        not argument.type.broadcastable[0] and has_rows(argument, steps)
        for argument in node.inputs
        if argument.type.ndim
    )


def _of_transposed(node: Apply, steps: Variable) -> bool:
    order = node.op.new_order
    return bool(order) and order[0] == 0 and has_rows(node.inputs[0], steps)


def _of_allocated(node: Apply, steps: Variable) -> bool:
    return _is_at_least(node.inputs[1], steps)


def _of_reshaped(node: Apply, steps: Variable) -> bool:
    lengths = node.inputs[1].owner
    return lengths is not None and bool(lengths.inputs) and _is_at_least(lengths.inputs[0], steps)


def _of_read(node: Apply, steps: Variable) -> bool:
    """Of a part of an array: reversed, cut to a number of steps, or the rows of a loop's state."""
    first = get_idx_list(node.inputs, node.op.idx_list)[0]
    if not isinstance(first, slice):
        return False
    known = constant_index(node.op.idx_list[:1], [node.inputs[0], *node.inputs[1:]])
    if not isinstance(known, slice):
        if first.stop is None or first.start is not None or first.step is not None:
            return False
        return _is_at_least(first.stop, steps) and has_rows(node.inputs[0], steps)
    if known.start is None and known.stop is None and known.step in (1, -1, None):
        return has_rows(node.inputs[0], steps)
    return _of_state(node.inputs[0], known, steps)


def _of_state(buffer: Variable, part: slice, steps: Variable) -> bool:
    """Of the rows that the steps of a loop wrote, or those that they read, in either order."""
    left_out = _rows_left_out(part)
    if left_out is None or not _is_output_of_loop(buffer):
        return False
    node = buffer.owner
    assert node is not None and buffer.index is not None
    before = Roles.of(node.op).history(buffer.index)
    return left_out <= before and _is_at_least(steps_given_to(node), steps)


def _rows_left_out(part: slice) -> int | None:
    """Return how many rows a slice leaves out at both ends; None if that depends on how many there are."""
    if part.step in (1, None):
        start, stop = part.start or 0, part.stop or 0
        return start - stop if start >= 0 >= stop else None
    start, stop = -1 if part.start is None else part.start, -1 if part.stop is None else part.stop
    if part.step != -1 or start >= 0 or (stop < 0 and part.stop is not None):
        return None
    return -1 - start + stop + 1


def _of_loop(node: Apply, steps: Variable) -> bool:
    return not Roles.of(node.op).may_stop and _is_at_least(steps_given_to(node), steps)


def _is_output_of_loop(variable: Variable) -> bool:
    node = variable.owner
    return node is not None and is_a(node.op, PyTensorScan) and not Roles.of(node.op).may_stop


_RULES = (
    (Subtensor, _of_read),
    (DimShuffle, _of_transposed),
    (Elemwise, _of_elementwise),
    (Alloc, _of_allocated),
    (Reshape, _of_reshaped),
    (PyTensorScan, _of_loop),
)


def _is_at_least(number: Variable, steps: Variable) -> bool:
    """Return whether a number is known not to be less than the number of steps."""
    number, steps = _as_given(number), _as_given(steps)
    if is_a(number, Constant) and is_a(steps, Constant):
        return bool(number.data >= steps.data)
    if number is steps or number in _smaller_of(steps):
        return True
    measured = _measured(number)
    return measured is not None and has_rows(measured, steps)


def _lengths_not_below(steps: Variable) -> list[Variable]:
    """Arrays of which a number of steps is at most the length."""
    arrays = (_measured(number) for number in _smaller_of(_as_given(steps)))
    return [array for array in arrays if array is not None]


def _smaller_of(number: Variable) -> list[Variable]:
    """Return a number, and those of which it is the smallest."""
    found, pending = [], [number]
    while pending:
        value = _as_given(pending.pop())
        found.append(value)
        node = value.owner
        smallest = node is not None and is_a(node.op, Elemwise)
        if smallest and isinstance(node.op.scalar_op, ScalarMinimum):
            pending.extend(node.inputs)
    return found


def _is_length(number: Variable) -> bool:
    """Return whether a number is the length of an array, or the smallest of lengths."""
    node = _as_given(number).owner
    if node is not None and is_a(node.op, Elemwise):
        if isinstance(node.op.scalar_op, ScalarMinimum):
            return all(_is_length(a) or (is_a(a, Constant) and a.data >= 0) for a in node.inputs)
    return _measured(_as_given(number)) is not None


def _measured(number: Variable) -> Variable | None:
    """Return the array of which a number is the number of rows."""
    node = number.owner
    if node is None:
        return None
    if is_a(node.op, Shape_i):
        return node.inputs[0] if node.op.i == 0 else None
    shape = node.inputs[0].owner
    if is_a(node.op, Subtensor) and shape is not None and is_a(shape.op, Shape):
        return shape.inputs[0] if constant_index(node.op.idx_list, node.inputs) == 0 else None
    return None


def _as_given(number: Variable) -> Variable:
    """Return a number as a tensor has it, not as a scalar or by way of one."""
    while number.owner is not None and isinstance(
        number.owner.op, ScalarFromTensor | TensorFromScalar
    ):
        number = number.owner.inputs[0]
    return number
