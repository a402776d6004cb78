"""The windows that an operator of pooling is given: checked, and made variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Constant, Variable
from pytensor.tensor.variable import TensorVariable

from theano.tensor.signal.pooling.geometry import Windows


class PaddingError(NotImplementedError, ValueError):
    """A padding that does not fit: Theano's operators of the host and of devices raised these."""


MODES = ("max", "sum", "average_inc_pad", "average_exc_pad")


def checked_mode(name: str, mode: str) -> str:
    """Return the mode of an operator; ValueError if there is none of this name."""
    # the greatest element is found in one order on every engine
    mode = "max" if mode == "max_deterministic" else mode
    if mode not in MODES:
        raise ValueError(f"{name}: expected a mode of {MODES}, got {mode!r}")
    return mode


def window_variables(
    name: str, ws: object, stride: object, pad: object, rank: int
) -> list[TensorVariable]:
    """Return the vectors of the windows' shape, their distance, and what is put around.

    Raises
    ------
    AssertionError
        What is not a vector.
    TypeError
        A vector of other numbers than whole ones.
    ValueError
        A vector whose length is known not to be `rank`.
    """
    stride = ws if stride is None else stride
    pad = (0,) * rank if pad is None else pad
    given = {"ws": ws, "stride": stride, "pad": pad}
    return [_vector(name, what, value, rank) for what, value in given.items()]


def check_padding(name: str, ws: object, pad: object, ignore_border: bool) -> None:
    """Refuse what is known not to fit.

    Raises
    ------
    PaddingError
        A padding with ``ignore_border=False``, or as large as a window.
    """
    if not isinstance(pad, tuple | list):
        return
    known = [_known(number) for number in pad]
    if any(number is not None and number != 0 for number in known) and not ignore_border:
        raise PaddingError(f"{name}: padding works only with ignore_border=True, got {pad}")
    if not isinstance(ws, tuple | list):
        return
    for number, size in zip(known, map(_known, ws), strict=False):
        if number is not None and size is not None and number >= size:
            raise PaddingError(f"{name}: padding must be smaller than the windows, {ws}, got {pad}")


def _known(number: Any) -> int | None:
    number = number.data if isinstance(number, Constant) else number
    return None if isinstance(number, Variable) else int(number)


def _vector(name: str, what: str, value: Any, rank: int) -> TensorVariable:
    vector = pt.as_tensor_variable(value)
    if vector.ndim != 1:
        raise AssertionError(f"{name}: {what} must be a vector of {rank} items, got {vector.type}")
    if vector.dtype not in pt.type.integer_dtypes:
        raise TypeError(f"{name}: {what} must be ints, got {vector.type}")
    if vector.type.shape[0] not in (None, rank):
        raise ValueError(
            f"{name}: {what} must be a vector of size {rank}, got {vector.type.shape[0]}"
        )
    return vector


def known_counts(
    name: str,
    x: TensorVariable,
    vectors: Sequence[TensorVariable],
    rank: int,
    *,
    ignore_border: bool,
    may_be_empty: bool,
) -> tuple[int | None, ...]:
    """Return how many windows there are along each dimension, None where a call decides.

    The options are those of `Windows.over`.
    """
    sizes, steps, pads = (known_items(vector) for vector in vectors)
    if sizes is None or steps is None or pads is None:
        return (None,) * rank
    counts: list[int | None] = []
    lengths = x.type.shape[x.ndim - rank :]
    for length, size, step, pad in zip(lengths, sizes, steps, pads, strict=True):
        if length is None:
            counts.append(None)
        else:
            windows = Windows.over(
                name,
                (length,),
                (size,),
                (step,),
                (pad,),
                ignore_border=ignore_border,
                may_be_empty=may_be_empty,
            )
            counts += windows.counts
    return tuple(counts)


def known_items(vector: Variable) -> list[int] | None:
    """Return the numbers of a constant vector."""
    return [int(item) for item in np.asarray(vector.data)] if isinstance(vector, Constant) else None


def items_of(vector: TensorVariable, rank: int) -> list[Any]:
    """Return each number of a vector of windows: an int where it is known, or a variable."""
    items = known_items(vector)
    return items if items is not None else [vector[axis].astype("int64") for axis in range(rank)]
