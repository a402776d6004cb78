"""Correlations of images with filters, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from theano.link.native.ir.ir import CannotLower, Value, View
from theano.link.native.ir.layout import c_order, place_of
from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.ir.symbolic import Call, Size, compared
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.correlation import Axis, Correlate, CorrelationSizes
from theano.support.data_classes import dataclass
from theano.tensor.nnet.correlation import geometry
from theano.tensor.nnet.correlation.operators import (
    Corr3dMM,
    Corr3dMM_gradInputs,
    Corr3dMM_gradWeights,
    CorrMM,
    CorrMM_gradInputs,
    CorrMM_gradWeights,
)


@dataclass(frozen=True)
class _Length:
    """A size of a step with arithmetic, which the functions of `geometry` use."""

    step: Step
    size: Size

    def __add__(self, other: object) -> _Length:
        return self._applied("+", other)

    def __sub__(self, other: object) -> _Length:
        return self._applied("-", other)

    def __mul__(self, other: object) -> _Length:
        return self._applied("*", other)

    def __floordiv__(self, other: int) -> _Length:
        if isinstance(self.size, int):
            return _Length(self.step, self.size // other)
        quotient = Call("floor_division", (self.size, other))
        return _Length(self.step, self.step.sizes.name(quotient))

    def _applied(self, operator: str, other: object) -> _Length:
        return _Length(self.step, self.step.sizes.binary(self.size, operator, _size(other)))


def _size(length: Any) -> Size:
    return length.size if isinstance(length, _Length) else length


@dataclass
class _Shapes:
    """The shapes that take part, as far as they are known; sizes are those of the step."""

    step: Step
    op: Any

    def extents(self, sizes: Sequence[Size]) -> list[_Length]:
        """Return the lengths that filters cover."""
        lengths = [_Length(self.step, size) for size in sizes]
        return list(map(geometry.extent, lengths, self.op.filter_dilation))

    def counts(self, lengths: Sequence[Size], sizes: Sequence[Size]) -> list[Size]:
        """Return how many windows there are along each dimension: at least one."""
        covered, counts = self.extents(sizes), []
        for axis, border in enumerate(self.op.borders(covered)):
            length = _Length(self.step, lengths[axis])
            stride = self.op.subsample[axis]
            count = _size(geometry.window_count(length, covered[axis], border, stride))
            self._at_least_one(sizes[axis], "elements of a filter")
            self._at_least_one(count, "windows of a correlation")
            counts.append(count)
        return counts

    def _at_least_one(self, size: Size, what: str) -> None:
        self.step.sizes.check(compared(size, ">=", 1), what)

    def filter_sizes(self, lengths: Sequence[Size], counts: Sequence[Size]) -> list[Size]:
        """Return the sizes of filters, where they are not given."""
        op, step = self.op, self.step
        return [
            _size(
                geometry.filter_size(
                    _Length(step, lengths[axis]),
                    _Length(step, counts[axis]),
                    op.border_mode,
                    axis,
                    op.filter_dilation[axis],
                )
            )
            for axis in range(op.rank)
        ]

    def image_lengths(self, sizes: Sequence[Size], counts: Sequence[Size]) -> list[Size]:
        """Return the lengths of images, where they are not given."""
        covered = self.extents(sizes)
        borders = self.op.borders(covered)
        return [
            _size(
                geometry.image_length(
                    _Length(self.step, counts[axis]),
                    covered[axis],
                    borders[axis],
                    self.op.subsample[axis],
                )
            )
            for axis in range(self.op.rank)
        ]

    def all_sizes(
        self, images: Sequence[Size], filters: Sequence[Size], top: Sequence[Size]
    ) -> CorrelationSizes:
        """Return the sizes of a correlation, once it is certain that the shapes fit one another."""
        op, sizes = self.op, self.step.sizes
        counts = self.counts(images[2:], filters[2:])
        for count, given in zip(counts, top[2:], strict=True):
            sizes.equal(count, given, "windows of a correlation")
        sizes.equal(images[0], top[0], "images of a correlation")
        sizes.equal(filters[0], top[1], "filters of a correlation")
        channels = sizes.binary(filters[1], "*", op.num_groups)
        sizes.equal(channels, images[1], "channels of a correlation")
        of_group = self._quotient(filters[0])
        whole = sizes.binary(of_group, "*", op.num_groups)
        sizes.equal(whole, filters[0], "filters of groups of a correlation")
        axes = [
            Axis(
                images[2 + axis],
                filters[2 + axis],
                counts[axis],
                op.subsample[axis],
                op.filter_dilation[axis],
                _size(border[0]),
            )
            for axis, border in enumerate(op.borders(self.extents(filters[2:])))
        ]
        # in two dimensions, an image is a volume of one plane
        depth, height, width = [Axis()] * (3 - op.rank) + axes
        return CorrelationSizes(
            images[0], op.num_groups, filters[1], of_group, (depth, height, width)
        )

    def _quotient(self, size: Size) -> Size:
        groups = self.op.num_groups
        return size if groups == 1 else _size(_Length(self.step, size) // groups)


def _in_c_order(step: Step, value: Value, dtype: str) -> View:
    """Return a value in C order, without gaps."""
    view = step.keep_order(step.view(cast(step, value, dtype)))
    if place_of(view, step.sizes).strides == c_order(view.shape, step.sizes):
        return view
    return step.keep_order(View.of(step.copied(view)))


def _begun(step: Step, node, inputs: list[Value]) -> tuple[_Shapes, View, View, list[Size]]:
    """Return the operands and the lengths of the output that are given, where all is as the runtime has it."""
    op, dtype = node.op, node.outputs[0].type.dtype
    if op.unshared:
        raise CannotLower("a correlation whose windows have their own filters")
    if dtype not in FLOATS:
        raise CannotLower(f"a correlation in {dtype}")
    first, second = (_in_c_order(step, value, dtype) for value in inputs[:2])
    lengths = [step.size(value, "a length of a correlation") for value in inputs[2:]]
    return _Shapes(step, op), first, second, lengths


def _computed(
    step: Step, sizes: CorrelationSizes, computed: str, shape: Sequence[Size], **given: View
) -> list[Value]:
    """Return what is computed, of a shape, from the two others."""
    (dtype,) = {view.dtype for view in given.values()}
    out = step.rows_without_gaps(dtype, tuple(shape))
    work = step.rows_without_gaps(dtype, (step.sizes.name(sizes.work(computed, dtype)),))
    operands = {**given, computed: View.of(out)}
    step.append(Correlate(computed, sizes, work=View.of(work), **operands), out, work)
    return [View.of(out)]


@lowers(CorrMM, Corr3dMM)
def correlation(step: Step, node, inputs: list[Value]) -> list[Value]:
    shapes, images, filters, _ = _begun(step, node, inputs)
    counts = shapes.counts(images.shape[2:], filters.shape[2:])
    top = (images.shape[0], filters.shape[0], *counts)
    sizes = shapes.all_sizes(images.shape, filters.shape, top)
    return _computed(step, sizes, "top", top, images=images, filters=filters)


@lowers(CorrMM_gradWeights, Corr3dMM_gradWeights)
def gradient_by_filters(step: Step, node, inputs: list[Value]) -> list[Value]:
    shapes, images, top, lengths = _begun(step, node, inputs)
    lengths = lengths or shapes.filter_sizes(images.shape[2:], top.shape[2:])
    channels = images.shape[1]
    if node.op.num_groups > 1:
        channels = _size(_Length(step, channels) // node.op.num_groups)
    filters = (top.shape[1], channels, *lengths)
    sizes = shapes.all_sizes(images.shape, filters, top.shape)
    return _computed(step, sizes, "filters", filters, images=images, top=top)


@lowers(CorrMM_gradInputs, Corr3dMM_gradInputs)
def gradient_by_images(step: Step, node, inputs: list[Value]) -> list[Value]:
    shapes, filters, top, lengths = _begun(step, node, inputs)
    lengths = lengths or shapes.image_lengths(filters.shape[2:], top.shape[2:])
    channels = step.sizes.binary(filters.shape[1], "*", node.op.num_groups)
    images = (top.shape[0], channels, *lengths)
    sizes = shapes.all_sizes(images, filters.shape, top.shape)
    return _computed(step, sizes, "images", images, filters=filters, top=top)
