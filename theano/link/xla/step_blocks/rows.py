"""The rows of arrays that a step reads, through the operations that keep rows apart.

Each operation has a `Rule`: the rows of its operands that rows of its result are made from, the rows
of its result that are made from rows of an operand, and what changes in its parameters when it is
given the rows of some steps instead of all.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from theano.link.xla.step_blocks.equations import Equation, Value
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Rows:
    """Step ``t`` has `size` elements of an axis, from ``(first + stride * t) * size`` on.

    Attributes
    ----------
    stride
        1, or -1 where the last step's come first.
    """

    axis: int
    size: int = 1
    first: int = 0
    stride: int = 1

    def cover(self, shape: tuple[int, ...], steps: int) -> bool:
        """Return whether the steps have all elements of an array."""
        first = 0 if self.stride == 1 else steps - 1
        return shape[self.axis] == steps * self.size and self.first == first

    def at(self, axis: int, size: int | None = None) -> Rows:
        """Return the same along another axis."""
        return Rows(axis, self.size if size is None else size, self.first, self.stride)


class RowsCombined(Exception):
    """An operation makes a row of several steps' rows."""


def _require(holds: bool) -> None:
    if not holds:
        raise RowsCombined


def _same_params(equation: Equation, rows: Rows, count: int) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Rule:
    """The facts about an operation.

    Attributes
    ----------
    operands
        Of the rows of its result: those of each operand, None for one that is read whole.
    result
        Of the position and the rows of an operand: those of the result; None where it adds up rows.
    params
        Of the rows of its result and a number of steps: the parameters that change.
    moves
        Whether it computes nothing, but only shows its operand in another way.
    is_for_steps
        Whether it is done as fast for one step's rows at a time as for all.
    """

    operands: Callable[[Equation, Rows], list[Rows | None]]
    result: Callable[[Equation, int, Rows], Rows | None]
    params: Callable[[Equation, Rows, int], dict[str, Any]] = _same_params
    moves: bool = False
    is_for_steps: bool = True


def _shape(equation: Equation) -> tuple[int, ...]:
    return equation.outputs[0].shape


def _resized(sizes: Any, rows: Rows, count: int) -> tuple[int, ...]:
    changed = list(sizes)
    changed[rows.axis] = count * rows.size
    return tuple(changed)


# ---- element by element ----


def _of_elements(equation: Equation, rows: Rows) -> list[Rows | None]:
    return [rows if x.shape == _shape(equation) else None for x in equation.inputs]


def _to_elements(equation: Equation, k: int, rows: Rows) -> Rows:
    _require(equation.inputs[k].shape == _shape(equation))
    return rows


# ---- shapes ----


def _through_shape(before: Value, after: Value, rows: Rows) -> Rows:
    """Return the rows of a value whose elements are another's, in the same order."""
    _require(before.shape[rows.axis] % rows.size == 0)
    count, outer = before.shape[rows.axis] // rows.size, prod(before.shape[: rows.axis])
    for axis, length in enumerate(after.shape):
        if prod(after.shape[:axis]) == outer and length >= count and length % count == 0:
            return rows.at(axis, length // count)
    raise RowsCombined


def _of_reshaped(equation: Equation, rows: Rows) -> list[Rows | None]:
    _require(equation.params["dimensions"] is None)
    return [_through_shape(equation.outputs[0], equation.inputs[0], rows)]


def _to_reshaped(equation: Equation, k: int, rows: Rows) -> Rows:
    _require(equation.params["dimensions"] is None)
    return _through_shape(equation.inputs[0], equation.outputs[0], rows)


def _reshaped(equation: Equation, rows: Rows, count: int) -> dict[str, Any]:
    return {"new_sizes": _resized(equation.params["new_sizes"], rows, count)}


def _of_broadcast(equation: Equation, rows: Rows) -> list[Rows | None]:
    axes = tuple(equation.params["broadcast_dimensions"])
    _require(len(equation.inputs) == 1)
    if rows.axis not in axes:
        return [None]
    axis = axes.index(rows.axis)
    kept = equation.inputs[0].shape[axis] == _shape(equation)[rows.axis]
    return [rows.at(axis) if kept else None]


def _to_broadcast(equation: Equation, k: int, rows: Rows) -> Rows:
    axis = equation.params["broadcast_dimensions"][rows.axis]
    _require(k == 0 and equation.inputs[0].shape[rows.axis] == _shape(equation)[axis])
    return rows.at(axis)


def _broadcast(equation: Equation, rows: Rows, count: int) -> dict[str, Any]:
    return {"shape": _resized(equation.params["shape"], rows, count)}


def _of_transposed(equation: Equation, rows: Rows) -> list[Rows | None]:
    return [rows.at(equation.params["permutation"][rows.axis])]


def _to_transposed(equation: Equation, k: int, rows: Rows) -> Rows:
    return rows.at(tuple(equation.params["permutation"]).index(rows.axis))


def _left(equation: Equation, dropped: str) -> list[int]:
    """Return the axes of the operand that the result has, in order."""
    gone = equation.params[dropped]
    return [axis for axis in range(len(equation.inputs[0].shape)) if axis not in gone]


def _of_squeezed(equation: Equation, rows: Rows) -> list[Rows | None]:
    return [rows.at(_left(equation, "dimensions")[rows.axis])]


def _to_squeezed(equation: Equation, k: int, rows: Rows) -> Rows:
    left = _left(equation, "dimensions")
    _require(rows.axis in left)
    return rows.at(left.index(rows.axis))


def _turned(equation: Equation, rows: Rows) -> Rows:
    if rows.axis not in equation.params["dimensions"]:
        return rows
    _require(rows.size == 1)
    last = _shape(equation)[rows.axis] - 1
    return Rows(rows.axis, 1, last - rows.first, -rows.stride)


def _of_slice(equation: Equation, rows: Rows) -> list[Rows | None]:
    start, strides = equation.params["start_indices"][rows.axis], equation.params["strides"]
    _require((strides is None or strides[rows.axis] == 1) and start % rows.size == 0)
    return [Rows(rows.axis, rows.size, rows.first + start // rows.size, rows.stride)]


def _to_slice(equation: Equation, k: int, rows: Rows) -> Rows:
    start, strides = equation.params["start_indices"][rows.axis], equation.params["strides"]
    _require((strides is None or strides[rows.axis] == 1) and start % rows.size == 0)
    return Rows(rows.axis, rows.size, rows.first - start // rows.size, rows.stride)


def _sliced(equation: Equation, rows: Rows, count: int) -> dict[str, Any]:
    starts = list(equation.params["start_indices"])
    starts[rows.axis] = 0
    limits = _resized(equation.params["limit_indices"], rows, count)
    return {"start_indices": tuple(starts), "limit_indices": limits}


# ---- sums and products ----


def _of_reduced(equation: Equation, rows: Rows) -> list[Rows | None]:
    axis = _left(equation, "axes")[rows.axis]
    return [rows.at(axis) for _ in equation.inputs]


def _to_reduced(equation: Equation, k: int, rows: Rows) -> Rows | None:
    if rows.axis in equation.params["axes"]:
        _require(equation.name == "reduce_sum")
        return None
    return rows.at(_left(equation, "axes").index(rows.axis))


def _free_axes(equation: Equation, k: int) -> list[int]:
    contracted, batch = equation.params["dimension_numbers"]
    gone = (*contracted[k], *batch[k])
    return [axis for axis in range(len(equation.inputs[k].shape)) if axis not in gone]


def _of_product(equation: Equation, rows: Rows) -> list[Rows | None]:
    _, batch = equation.params["dimension_numbers"]
    axis, free = rows.axis, _free_axes(equation, 0)
    if axis < len(batch[0]):
        return [rows.at(batch[0][axis]), rows.at(batch[1][axis])]
    axis -= len(batch[0])
    if axis < len(free):
        return [rows.at(free[axis]), None]
    return [None, rows.at(_free_axes(equation, 1)[axis - len(free)])]


def _to_product(equation: Equation, k: int, rows: Rows) -> Rows | None:
    contracted, batch = equation.params["dimension_numbers"]
    if rows.axis in contracted[k]:
        return None
    if rows.axis in batch[k]:
        return rows.at(tuple(batch[k]).index(rows.axis))
    before = len(batch[0]) + (len(_free_axes(equation, 0)) if k else 0)
    return rows.at(before + _free_axes(equation, k).index(rows.axis))


def _of_scattered(equation: Equation, rows: Rows) -> list[Rows | None]:
    raise RowsCombined


def _to_scattered(equation: Equation, k: int, rows: Rows) -> None:
    """Require rows, or their positions, that are added to those of the first operand."""
    numbers = equation.params["dimension_numbers"]
    _require(k > 0 and rows.axis == 0 and len(equation.inputs[1].shape) == 2)
    _require(0 not in numbers.update_window_dims)


def operands_of_sum(equation: Equation, k: int, rows: Rows) -> list[Rows | None]:
    """Return the rows of each operand of what adds up rows, from those of one."""
    if equation.name == ADDS_TO_ROWS:
        return [None, rows, rows]
    if equation.name != "dot_general":
        return [rows]
    contracted, _ = equation.params["dimension_numbers"]
    other = rows.at(contracted[1 - k][tuple(contracted[k]).index(rows.axis)])
    return [rows, other] if k == 0 else [other, rows]


# ---- joined ----


def _of_joined(equation: Equation, rows: Rows) -> list[Rows | None]:
    _require(equation.params["dimension"] != rows.axis)
    return [rows for _ in equation.inputs]


def _to_joined(equation: Equation, k: int, rows: Rows) -> Rows:
    _require(equation.params["dimension"] != rows.axis)
    return rows


_ELEMENTWISE = (
    "abs acos acosh add and asin asinh atan atan2 atanh cbrt ceil clamp convert_element_type copy cos "
    "cosh digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge gt integer_pow is_finite le lgamma "
    "log log1p logistic lt max min mul ne neg nextafter not or pow rem round rsqrt select_n sign sin "
    "sinh sqrt square sub tan tanh xor"
).split()

# To its first operand, which a block replaces by what the blocks before have made from it
ADDS_TO_ROWS = "scatter-add"

RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE, Rule(_of_elements, _to_elements)),
    **dict.fromkeys(
        ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or"),
        Rule(_of_reduced, _to_reduced),
    ),
    "dot_general": Rule(_of_product, _to_product, is_for_steps=False),
    ADDS_TO_ROWS: Rule(_of_scattered, _to_scattered),
    "concatenate": Rule(_of_joined, _to_joined),
    "reshape": Rule(_of_reshaped, _to_reshaped, _reshaped, moves=True),
    "broadcast_in_dim": Rule(_of_broadcast, _to_broadcast, _broadcast, moves=True),
    "transpose": Rule(_of_transposed, _to_transposed, moves=True),
    "squeeze": Rule(_of_squeezed, _to_squeezed, moves=True),
    "rev": Rule(
        lambda equation, rows: [_turned(equation, rows)],
        lambda equation, k, rows: _turned(equation, rows),
        moves=True,
    ),
    "slice": Rule(_of_slice, _to_slice, _sliced, moves=True),
}


def rule_of(equation: Equation) -> Rule | None:
    """Return what is known of an operation, or None if it may mix rows."""
    return RULES.get(equation.name)


def moves(equation: Equation) -> bool:
    """Return whether an operation computes nothing, but only shows its operand in another way."""
    rule = rule_of(equation)
    return rule is not None and rule.moves
