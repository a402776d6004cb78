"""One window after the other: for windows of any shape, such as those that only a call knows."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.render.numbers_in_c import C_TYPES
from theano.link.native.render.statements.images.planes import Plane
from theano.link.native.render.statements.images.windows import (
    accumulate,
    for_each_window,
    neutral_of,
    nothing_in,
    number_of_elements,
)
from theano.link.native.statements.images.tasks import Along, Mean, Task


def lines_of_image(
    task: Task,
    dtype: str,
    maximum: bool,
    mean: Mean | None,
    along: Sequence[Along],
    target: Plane,
    reads: Sequence[Plane],
) -> list[str]:
    """Return what is done for one image."""
    windows = [f"o{d}" for d in range(len(along))]
    elements = [f"i{d}" for d in range(len(along))]
    kind = C_TYPES[dtype]
    each = [f"for (int64_t {i} = low{d}; {i} < high{d}; {i}++) {{" for d, i in enumerate(elements)]
    close = ["}"] * len(along)
    counted = number_of_elements(along, mean, dtype)
    if task is Task.POOL:
        one = reads[0].at(*elements)
        body = [
            f"{kind} total = {neutral_of(dtype, maximum)};",
            *each,
            f"const {kind} one = {one};",
            accumulate(maximum, "total", "one"),
            *close,
            f"{target.at(*windows)} = total{f' / {counted}' if counted else ''};",
        ]
        return for_each_window(along, windows, body)
    if task is Task.OF_GREATEST:
        images, best, values = reads
        body = [
            f"const {kind} best = {best.at(*windows)};",
            f"{kind} total = 0;",
            *each,
            f"if ({images.at(*elements)} == best) total += {values.at(*elements)};",
            *close,
            f"{target.at(*windows)} = total;",
        ]
        return for_each_window(along, windows, body)
    y = target.at(*elements)
    if task is Task.TO_ALL:
        given = reads[0].at(*windows)
        add = [f"const {kind} one = {given}{f' / {counted}' if counted else ''};"]
        add += [*each, f"{y} += one;", *close]
    else:
        images, best, gradients = reads
        add = [f"const {kind} best = {best.at(*windows)}, one = {gradients.at(*windows)};"]
        add += [*each, f"if ({images.at(*elements)} == best) {y} += one;", *close]
    return [*nothing_in(target, along), *for_each_window(along, windows, add)]
