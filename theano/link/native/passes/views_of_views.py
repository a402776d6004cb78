"""Views of what is itself a view: where their elements lie in the memory behind both."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import Size, View
from theano.link.native.ir.sizes import Sizes


def composed(view: View, elements: View, sizes: Sizes) -> View:
    """Return the part of another view's elements that a view of a buffer of their shape shows.

    Parameters
    ----------
    view
        Of some buffer; where it begins is known before the statements.
    elements
        A view with as many dimensions as that buffer has axes, whose elements are the buffer's.
    """
    start = list(elements.start)
    for begin, axis, step in zip(view.start, elements.axes, elements.steps, strict=True):
        if axis is not None and begin != 0:
            start[axis] = sizes.binary(start[axis], "+", sizes.binary(begin, "*", step))
    axes: list[int | None] = []
    steps: list[int] = []
    for dimension, step in zip(view.axes, view.steps, strict=True):
        axis = None if dimension is None else elements.axes[dimension]
        axes.append(axis)
        steps.append(0 if axis is None or dimension is None else step * elements.steps[dimension])
    return View(elements.buffer, view.shape, tuple(axes), tuple(steps), tuple(start))


def within(view: View, part: View, sizes: Sizes) -> View | None:
    """Return a view as one of the elements of a part of its buffer; None if they may not all lie there.

    The buffer of the view returned is that of the part; what it shows is counted from the part's start.
    """
    if None in part.axes or any(step != 1 for step in part.steps):
        return None
    dimensions = {axis: d for d, axis in enumerate(part.axes)}
    start: list[Size] = [0] * part.ndim
    for axis, begin in enumerate(view.start):
        along = [d for d, other in enumerate(view.axes) if other == axis]
        d = dimensions.get(axis)
        size = sizes.find(part.shape[d]) if d is not None else 1
        if part.start[axis] == 0 and size == sizes.find(part.buffer.shape[axis]):
            # all that there is along the axis
            first: Size | None = begin
        else:
            length, step = (view.shape[along[0]], view.steps[along[0]]) if along else (1, 1)
            if len(along) > 1 or step != 1:
                return None
            first = _from_start(begin, sizes.find(length), part.start[axis], size, sizes)
        if first is None or (d is None and first != 0):
            return None
        if d is not None:
            start[d] = first
    axes = tuple(None if axis is None else dimensions.get(axis) for axis in view.axes)
    return View(part.buffer, view.shape, axes, view.steps, tuple(start))


def _from_start(begin: Size, length: Size, first: Size, size: Size, sizes: Sizes) -> Size | None:
    """Return how far from a range's first element another one begins; None if it may end after it."""
    if isinstance(begin, int) and isinstance(first, int) and isinstance(size, int):
        fits = isinstance(length, int) and first <= begin and begin + length <= first + size
        return begin - first if fits else None
    if sizes.find(begin) == sizes.find(first) and sizes.not_before(size, length):
        return 0
    return None


def of_dimensions(view: View, dimensions: Sequence[int], start: tuple[Size, ...]) -> View:
    """Return a view along some of the dimensions of another one, which begins at other indices."""
    shape = tuple(view.shape[d] for d in dimensions)
    axes = tuple(view.axes[d] for d in dimensions)
    steps = tuple(view.steps[d] for d in dimensions)
    return View(view.buffer, shape, axes, steps, start)


def begins_before_statements(view: View, sizes: Sizes) -> bool:
    """Return whether it is known where a view begins before any statement is run."""
    return all(sizes.knows(start) for start in view.start)
