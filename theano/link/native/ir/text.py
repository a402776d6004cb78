"""A lowered step as text that a person reads: a line for each statement, in order.

    map [sequence0_n0, state0_n1]  e4 = sigmoid(t1[:, 0:+n12]); e5 = mul(e4, state0_before1)  -> t5
    gemm  state0_before1, invariant0 -> t0

A view shows of each axis of its buffer where it begins and how many elements it has; ``:`` is all
of an axis. After ``->`` stand the buffers that are written, with the place where they lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from theano.link.native.ir.ir import Buffer, Compute, Scalar, Size, View
from theano.link.native.ir.partitions import Partition, Rectangle, Serial, Share, Sharing


def step_text(statements: Iterable[Any]) -> list[str]:
    """Return a line for each statement of a step."""
    return [statement_text(statement) for statement in statements]


def partition_text(statements: Sequence[Any], sharing: Sharing | Serial) -> list[str]:
    """Return the same with what of each statement a thread does, and where threads wait."""
    if isinstance(sharing, Serial):
        return [f"one thread: {sharing.reason}", *step_text(statements)]
    lines = []
    for position in range(len(statements) + 1):
        columns, rows = position in sharing.barriers, position in sharing.barriers_by_rows
        if columns or rows:
            both = sharing.rows is None or (columns and rows)
            lines.append("barrier" + ("" if both else " by columns" if columns else " by rows"))
        elif position in (sharing.barriers_by_both or ()):
            lines.append("barrier by both")
        if position < len(statements):
            partition = _partition_text(sharing.partitions[position])
            lines.append(f"{statement_text(statements[position])}  | {partition}")
    return lines


def _partition_text(partition: Partition) -> str:
    if not isinstance(partition, Share):
        return str(partition)
    unit = "elements" if partition.unit == "1" else f"panels of {partition.unit}"
    rows = ", or by rows" if isinstance(partition, Rectangle) else ""
    return f"{unit} of dimension {partition.dimension}, {partition.size}{rows}"


def statement_text(statement: Any) -> str:
    """Return a statement as a line: its kind, what it computes, and what it writes."""
    kind = type(statement).__name__.lower()
    body = getattr(statement, "body", None)
    if body is not None:
        reductions = [_reduction_text(*one) for one in getattr(statement, "reduced", ())]
        computes = "; ".join([*map(_compute_text, body), *reductions])
        line = f"{kind} {_shape_text(statement.shape)}  {computes}"
    else:
        line = f"{kind}  {', '.join(_fields_text(statement))}"
    materialized = [buffer_text(buffer) for buffer in _materialized(statement)]
    return f"{line}  -> {', '.join(materialized)}" if materialized else line


def _reduction_text(reduction: Any, summed: Compute) -> str:
    axes = ", ".join(map(str, reduction.axes))
    target = _value_text(reduction.target)
    return f"{target} = {reduction.operation}({summed.name} over {axes})"


def _materialized(statement: Any) -> list[Buffer]:
    return list(dict.fromkeys(statement.written()))


def _fields_text(statement: Any) -> Iterable[str]:
    for entry in fields(statement):
        value = getattr(statement, entry.name)
        if value is not None and value is not False:
            yield f"{entry.name}={_value_text(value)}"


def _value_text(value: object) -> str:
    if isinstance(value, View):
        return view_text(value)
    if isinstance(value, Scalar):
        return value.expression
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value_text, value))}]"
    if hasattr(value, "values_read"):
        return f"({statement_text(value)})"
    if isinstance(value, type):
        return value.__name__
    if is_dataclass(value) and hasattr(value, "name"):
        return str(value.name)
    return str(value)


def _compute_text(compute: Compute) -> str:
    operands = [
        one.name if isinstance(one, Compute) else _value_text(one) for one in compute.operands
    ]
    return f"{compute.name} = {compute.operation.name}({', '.join(operands)})"


def buffer_text(buffer: Buffer) -> str:
    """Return the name of a buffer, and where it lies if another one owns its memory."""
    if buffer.place is not None:
        return f"{buffer.name} in {view_text(buffer.place)}"
    if buffer.source is not None:
        return f"{buffer.name} = {view_text(buffer.source)}"
    return buffer.name


def view_text(view: View) -> str:
    """Return a view as an index of its buffer."""
    name = buffer_text(view.buffer) if view.buffer.source is not None else view.buffer.name
    if view.whole:
        return name
    indices = [str(start) for start in view.start]
    for dimension, axis in enumerate(view.axes):
        if axis is not None:
            indices[axis] = _range_text(view, dimension, axis)
    order = [axis for axis in view.axes if axis is not None]
    turned = f".axes{view.axes}" if None in view.axes or order != sorted(order) else ""
    return f"{name}[{', '.join(indices)}]{turned}"


def _range_text(view: View, dimension: int, axis: int) -> str:
    start, size, step = view.start[axis], view.shape[dimension], view.steps[dimension]
    if start == 0 and step == 1 and size == view.buffer.shape[axis]:
        return ":"
    return f"{start}:+{size}" + (f":{step}" if step != 1 else "")


def _shape_text(shape: tuple[Size, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"
