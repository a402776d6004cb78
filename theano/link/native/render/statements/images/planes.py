"""Loops over all images, and how an element of one reads in C."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import Size, View
from theano.link.native.ir.layout import c_order
from theano.link.native.ir.partitions import Share
from theano.link.native.render.numbers_in_c import C_TYPES
from theano.link.native.render.polls import (
    declared,
    going_on,
    poll_after,
    unless_empty,
)
from theano.link.native.render.writer import Writer
from theano.link.native.schedule.polls import between_polls
from theano.link.native.statements.images.tasks import ALL_IMAGES, Along
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Plane:
    """An array within one image.

    Attributes
    ----------
    pointer
        Its name in C.
    strides
        Along the windows' dimensions, in C.
    without_gaps
        Whether all elements of an image lie side by side.
    """

    pointer: str
    strides: tuple[str, ...]
    without_gaps: bool

    def at(self, *indices: str) -> str:
        """Return the element at these indices."""
        terms = [
            index if stride == "1" else f"({index}) * ({stride})"
            for index, stride in zip(indices, self.strides, strict=True)
            if stride != "0" and index != "0"
        ]
        return f"{self.pointer}[{' + '.join(terms) or '0'}]"


def for_each_image(
    writer: Writer,
    views: Sequence[View],
    lead: int,
    share: Share | None,
    body: Sequence[str],
    elements: str,
) -> list[str]:
    """Loops over the first dimensions of views, so many of them, around a body.

    ``elements`` says how many elements the body goes over, for its polls. In the body, ``p0``, ``p1`` and so on are what `planes_of` gives; it is done for all images, or
    for the share of one thread.
    """
    polls = between_polls() if writer.polls else 0
    shape = writer.shape(views[0])
    pointers, strides = [], []
    lines = ["{", *declared(polls)]
    for k, view in enumerate(views):
        place = writer.place(view)
        strides.append([stride.text for stride in place.strides])
        lines.append(f"{C_TYPES[view.dtype]} *const x{k} = {place.pointer};")
        terms = [f"b{d} * ({stride})" for d, stride in enumerate(strides[k][:lead])]
        pointers.append(f"{C_TYPES[view.dtype]} *const p{k} = {' + '.join([f'x{k}', *terms])};")
    each = [*pointers, *body, *poll_after(elements, polls)]
    if share is not None and share.dimension == ALL_IMAGES:
        head = (
            f"for (int64_t image = {share.first}; image < {share.end}{going_on(polls)}; image++) {{"
        )
        return [*lines, head, *_indices(shape[:lead]), *each, "}", "}"]
    heads = []
    for d, size in enumerate(shape[:lead]):
        first, end = "0", str(size)
        if share is not None and share.dimension == d:
            first, end = share.first, share.end
        heads.append(f"for (int64_t b{d} = {first}; b{d} < {end}{going_on(polls)}; b{d}++) {{")
    loops = unless_empty(shape[1:lead], [*heads, *each, *["}"] * lead])
    return [*lines, *loops, "}"]


def _indices(shape: Sequence[Size]) -> list[str]:
    """Return the indices of the image of a number."""
    lines = ["int64_t rest = image;"]
    for d in reversed(range(len(shape))):
        lines.append(
            f"const int64_t b{d} = rest % {shape[d]};" if d else "const int64_t b0 = rest;"
        )
        lines += [f"rest /= {shape[d]};"] if d else []
    return lines


def planes_of(writer: Writer, views: Sequence[View], lead: int) -> list[Plane]:
    """Return the views within one image."""
    planes = []
    for k, view in enumerate(views):
        strides = writer.place(view).strides[lead:]
        in_order = c_order(writer.shape(view)[lead:], writer.sizes)
        texts = tuple(stride.text for stride in strides)
        planes.append(Plane(f"p{k}", texts, texts == tuple(stride.text for stride in in_order)))
    return planes


def along_in_c(along: Along, writer: Writer) -> Along:
    """They as they read in a C function."""
    return Along(*(writer.size(writer.sizes.find(number)) for number in along.numbers()))
