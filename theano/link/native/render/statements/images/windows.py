"""Common parts of loops over windows: their bounds, and how elements are put together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.render.numbers_in_c import C_TYPES, literal
from theano.link.native.render.statements.images.planes import Plane
from theano.link.native.statements.images.tasks import Along, Mean


def accumulate(maximum: bool, total: str, one: str) -> str:
    """Take one more element of a window into account; it has a name, too.

    Conditions that stand alone become masks of vectors: one that holds for NaN and greater elements
    would become a jump.
    """
    if not maximum:
        return f"{total} += {one};"
    greater = f"{total} = {one} > {total} ? {one} : {total};"
    return f"{greater} {total} = {one} != {one} ? {one} : {total};"


def neutral_of(dtype: str, maximum: bool) -> str:
    """Return what a window begins with."""
    if not maximum:
        return "0"
    return "(-__builtin_inf())" if dtype in FLOATS else literal(np.iinfo(dtype).min, dtype)


def bounds_of_window(d: int, one: Along, window: str) -> list[str]:
    """Return the first element of a window within the image, and the one after its last."""
    return [
        f"const int64_t first{d} = {window} * {one.step} - {one.pad};",
        f"const int64_t low{d} = first{d} < 0 ? 0 : first{d};",
        f"const int64_t high{d} = tn_smaller(first{d} + {one.size}, {one.length});",
    ]


def for_each_window(
    along: Sequence[Along], windows: Sequence[str], body: Sequence[str]
) -> list[str]:
    """Loops over the windows along so many dimensions, each with its bounds."""
    lines: list[str] = []
    for d, window in enumerate(windows):
        lines.append(f"for (int64_t {window} = 0; {window} < {along[d].count}; {window}++) {{")
        lines += bounds_of_window(d, along[d], window)
    return [*lines, *body, *["}"] * len(windows)]


def elements_along(d: int, one: Along, mean: Mean) -> str:
    """Return how many elements a window has along a dimension."""
    if mean.all_alike:
        return str(one.size)
    if mean.with_border:
        return f"(tn_smaller(first{d} + {one.size}, {one.length} + {one.pad}) - first{d})"
    return f"(high{d} - low{d})"


def number_of_elements(along: Sequence[Along], mean: Mean | None, dtype: str) -> str:
    """Return how many elements a window has, as a number of a type; nothing where sums stay sums."""
    if mean is None:
        return ""
    factors = [elements_along(d, one, mean) for d, one in enumerate(along)]
    return f"({C_TYPES[dtype]})({' * '.join(factors) or '1'})"


def nothing_in(target: Plane, along: Sequence[Along]) -> list[str]:
    """Set all elements of an image to zero."""
    if target.without_gaps:
        count = " * ".join(str(one.length) for one in along)
        pointer = target.pointer
        return [f"__builtin_memset({pointer}, 0, sizeof *{pointer} * ({count}));"]
    indices = [f"i{d}" for d in range(len(along))]
    heads = [
        f"for (int64_t {i} = 0; {i} < {one.length}; {i}++)"
        for i, one in zip(indices, along, strict=True)
    ]
    return [*heads, f"{target.at(*indices)} = 0;"]
