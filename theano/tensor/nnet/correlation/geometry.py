"""Geometry of a correlation's windows: padding, extents, and how many there are.

A dimension of an image of some `length` is padded by a `border`, a number of zeros before it and
one after it. A filter of some `size` whose neighbours are a `dilation` apart has an `extent`; it is
put at a `count` of places, which are a `stride` apart.

Sizes are integers, symbolic scalars, or anything else that has their arithmetic. What is given by
the user as ``border_mode``, ``subsample`` and ``filter_dilation`` is checked here.
"""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

# One of the names below, or the zeros before and after each dimension.
BorderMode = str | tuple[tuple[int, int], ...]

# name -> the zeros on each side, for a filter of some extent
NAMED_BORDERS = {
    "valid": lambda extent: 0,
    "full": lambda extent: extent - 1,
    "half": lambda extent: extent // 2,
}


def checked_border_mode(border_mode: object, rank: int, operation: str) -> BorderMode:
    """Return a border mode as a name, or as a pair of integers for each dimension.

    Parameters
    ----------
    border_mode : {'valid', 'full', 'half'}, int, or tuple of int and pairs of int
    rank : int
        How many dimensions are padded.
    operation : str
        Whose it is, for the message.

    Raises
    ------
    ValueError
        It is none of these.
    """
    if isinstance(border_mode, str) and border_mode in NAMED_BORDERS:
        return border_mode
    modes = (border_mode,) * rank if isinstance(border_mode, Integral) else border_mode
    if isinstance(modes, tuple) and len(modes) == rank:
        borders = [_checked_border(mode) for mode in modes]
        if None not in borders:
            return tuple(borders)  # type: ignore[arg-type]
    raise ValueError(
        f"{operation}: invalid border_mode {border_mode!r}: expected one of "
        f"{sorted(NAMED_BORDERS)}, an integer, or a tuple of {rank} integers or pairs of integers, "
        "none of them negative"
    )


def _checked_border(mode: object) -> tuple[int, int] | None:
    sides = mode if isinstance(mode, tuple) else (mode, mode)
    if len(sides) != 2 or not all(isinstance(n, Integral) and int(n) >= 0 for n in sides):
        return None
    return int(sides[0]), int(sides[1])


def checked_steps(steps: object, rank: int, name: str, operation: str) -> tuple[int, ...]:
    """Return the distances `steps`, one for each of `rank` dimensions.

    Raises
    ------
    ValueError
        There are more or less of them, or one is not a positive integer.
    """
    given = tuple(steps) if isinstance(steps, Sequence) else (steps,)
    if len(given) != rank or not all(isinstance(n, Integral) and int(n) > 0 for n in given):
        raise ValueError(
            f"{operation}: invalid {name} {steps!r}: expected {rank} positive integers"
        )
    return tuple(int(n) for n in given)


def extent(size: Any, dilation: int) -> Any:
    """Return the length that a filter of `size` elements covers."""
    return size if dilation == 1 else (size - 1) * dilation + 1


def borders(border_mode: BorderMode, extents: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return the zeros before and after each dimension, for a filter of these extents."""
    if isinstance(border_mode, str):
        sides = [NAMED_BORDERS[border_mode](covered) for covered in extents]
        return [(side, side) for side in sides]
    return list(border_mode)


def window_count(length: object, covered: object, border: tuple[Any, Any], stride: int) -> Any:
    """Return how many windows of extent `covered` there are in a dimension; at most 0 if none fits."""
    places = _plus(_plus(length, border[0]), border[1]) - covered
    return (places if stride == 1 else places // stride) + 1


def image_length(count: Any, covered: object, border: tuple[Any, Any], stride: int) -> Any:
    """Return the smallest length of an image in which there are `count` windows."""
    places = count - 1 if stride == 1 else (count - 1) * stride
    return _minus(_minus(places + covered, border[0]), border[1])


def filter_size(
    length: object, count: Any, border_mode: BorderMode, axis: int, dilation: int
) -> Any:
    """Return the largest size of filters that are put at `count` places, each next to the one before.

    With the border mode ``half`` there is no telling.
    """
    if border_mode == "full":
        further = count - length
    else:
        if isinstance(border_mode, str) and border_mode != "valid":
            raise ValueError(f"filter_size: several sizes have the border_mode {border_mode!r}")
        before, after = (0, 0) if isinstance(border_mode, str) else border_mode[axis]
        further = _plus(_plus(length, before), after) - count
    return (further if dilation == 1 else further // dilation) + 1


# Symbolic sums are left out where they change nothing.
def _plus(size: object, number: Any) -> Any:
    return size if isinstance(number, int) and number == 0 else size + number


def _minus(size: object, number: Any) -> Any:
    return size if isinstance(number, int) and number == 0 else size - number
