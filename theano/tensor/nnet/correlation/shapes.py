"""The shapes of images, filters and results of a correlation: one from the others, and checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.support.data_classes import dataclass
from theano.tensor.nnet.correlation import geometry
from theano.tensor.nnet.correlation.in_numpy import Windows

# In the order of the operands; the third is the shape of the output.
_OPERANDS = {
    "forward": ("image", "filters", "result"),
    "weights": ("image", "result", "filters"),
    "inputs": ("filters", "result", "image"),
}


@dataclass(frozen=True)
class Shapes:
    """The shapes of all that takes part; a length that is not known is None.

    Parameters
    ----------
    operator : Correlation
    image : sequence
        Batch, channels, lengths.
    filters : sequence
        Filters, the counts of windows if each has its own, channels of a group, sizes.
    result : sequence
        Batch, filters, counts of windows.
    """

    operator: Any
    image: Sequence[Any]
    filters: Sequence[Any]
    result: Sequence[Any]

    @classmethod
    def of(
        cls, operator: Any, first: Sequence[Any], second: Sequence[Any], lengths: Sequence[Any]
    ) -> Shapes:
        """All shapes, from those of the operands and the lengths that are given for the output.

        Sizes are integers, None, or symbolic scalars.
        """
        *names, output = _OPERANDS[operator.direction]
        shapes: dict[str, Sequence[Any]]
        shapes = dict(zip(names, (tuple(first), tuple(second)), strict=True))
        shapes[output] = _SHAPE_OF[output](operator, lengths, **shapes)
        return cls(operator, shapes["image"], shapes["filters"], shapes["result"])

    @property
    def output(self) -> Sequence[Any]:
        """The shape of what the operator computes."""
        return getattr(self, _OPERANDS[self.operator.direction][-1])

    def check(self) -> None:
        """Raise ValueError where shapes, which are all known, do not fit."""
        op, rank = self.operator, self.operator.rank
        sizes, counts = self.filters[-rank:], self.result[2:]
        for axis, size in enumerate(sizes):
            if size < 1:
                self._refuse("filters", axis - rank, "at least 1 element", size)
        expected = _result_shape(op, (), self.image, self.filters)
        for axis, (count, given) in enumerate(zip(expected[2:], counts, strict=True)):
            if count < 1:
                extent = geometry.extent(sizes[axis], op.filter_dilation[axis])
                message = f"a padded length of at least {extent}, the extent of the filters"
                self._refuse("image", 2 + axis, message, self.image[2 + axis])
            self._agree("result", 2 + axis, count, given)
        self._agree("result", 0, self.image[0], self.result[0])
        self._agree("result", 1, self.filters[0], self.result[1])
        self._agree("image", 1, self.filters[-rank - 1] * op.num_groups, self.image[1])
        if self.filters[0] % op.num_groups:
            self._refuse("filters", 0, f"a multiple of {op.num_groups} groups", self.filters[0])
        for axis, given in enumerate(self.filters[1 : -rank - 1], 1):
            self._agree("filters", axis, counts[axis - 1], given)

    def _agree(self, name: str, axis: int, expected: int, given: int) -> None:
        if expected != given:
            self._refuse(name, axis, str(expected), given)

    def _refuse(self, name: str, axis: int, expected: str, given: int) -> None:
        shapes = ", ".join(
            f"{each} {tuple(int(n) for n in getattr(self, each))}"
            for each in ("image", "filters", "result")
        )
        axis %= len(getattr(self, name))
        raise ValueError(
            f"{type(self.operator).__name__}: expected {expected} in dimension {axis} of {name}, "
            f"got {given}; shapes: {shapes}"
        )

    def windows(self) -> Windows:
        """Return where the windows are, of shapes that are all known."""
        op, rank = self.operator, self.operator.rank
        sizes = self.filters[-rank:]
        extents = map(geometry.extent, sizes, op.filter_dilation)
        return Windows(
            op.borders(list(extents)),
            sizes,
            self.result[2:],
            op.subsample,
            op.filter_dilation,
            op.num_groups,
            op.unshared,
        )


def _if_known(function: Callable, *sizes: object) -> Any:
    """Return the function of sizes that are known, else None."""
    return None if any(size is None for size in sizes) else function(*sizes)


def _borders_of_axis(operator: Any, axis: int, size: object) -> tuple[Any, tuple[Any, Any]]:
    """Return the extent of filters along one dimension, and the zeros around the image there."""
    covered = geometry.extent(size, operator.filter_dilation[axis])
    return covered, operator.borders([covered] * operator.rank)[axis]


def _result_shape(operator: Any, lengths: Sequence, image: Sequence, filters: Sequence) -> tuple:
    def count(axis: int, length: object, size: Any) -> Any:
        covered, border = _borders_of_axis(operator, axis, size)
        return geometry.window_count(length, covered, border, operator.subsample[axis])

    rank = operator.rank
    sizes = enumerate(zip(image[2:], filters[-rank:], strict=True))
    counts = [
        _if_known(lambda n, size, axis=axis: count(axis, n, size), *pair) for axis, pair in sizes
    ]
    return image[0], filters[0], *counts


def _filters_shape(operator: Any, lengths: Sequence, image: Sequence, result: Sequence) -> tuple:
    def size(axis: int, length: object, count: Any) -> Any:
        dilation = operator.filter_dilation[axis]
        return geometry.filter_size(length, count, operator.border_mode, axis, dilation)

    channels, groups = image[1], operator.num_groups
    if groups > 1:
        channels = _if_known(lambda n: n // groups, channels)
    sizes = lengths or [
        _if_known(lambda n, count, axis=axis: size(axis, n, count), *pair)
        for axis, pair in enumerate(zip(image[2:], result[2:], strict=True))
    ]
    own = result[2:] if operator.unshared else ()
    return result[1], *own, channels, *sizes


def _image_shape(operator: Any, lengths: Sequence, filters: Sequence, result: Sequence) -> tuple:
    def length(axis: int, size: object, count: Any) -> Any:
        covered, border = _borders_of_axis(operator, axis, size)
        return geometry.image_length(count, covered, border, operator.subsample[axis])

    rank, groups = operator.rank, operator.num_groups
    channels = filters[-rank - 1]
    if groups > 1:
        channels = _if_known(lambda n: n * groups, channels)
    inside = lengths or [
        _if_known(lambda n, count, axis=axis: length(axis, n, count), *pair)
        for axis, pair in enumerate(zip(filters[-rank:], result[2:], strict=True))
    ]
    return result[0], channels, *inside


_SHAPE_OF: dict[str, Callable[..., tuple]] = {
    "image": _image_shape,
    "filters": _filters_shape,
    "result": _result_shape,
}
