"""Correlations of the C runtime, by each family of kernels and any number of threads."""

import numpy as np
import pytest

from tests_scan_grad.native.runtime import correlation_reference as reference
from tests_scan_grad.native.runtime import runtime_calls
from tests_scan_grad.native.runtime.correlation_reference import Axis, Sizes
from tests_scan_grad.native.runtime.runtime_calls import DIRECTIONS

ROUNDING = {"float32": 1e-5, "float64": 1e-13}

SQUARE = (Axis(9, 3), Axis(9, 3))
TABLE = {
    "valid": Sizes(2, 1, 3, 4, SQUARE),
    "one number": Sizes(1, 1, 1, 1, (Axis(1, 1), Axis(1, 1))),
    "half": Sizes(2, 1, 3, 5, (Axis(8, 3, before=1, after=1), Axis(7, 5, before=2, after=2))),
    "full": Sizes(1, 1, 2, 3, (Axis(6, 4, before=3, after=3), Axis(5, 2, before=1, after=1))),
    "borders of two widths": Sizes(2, 1, 3, 4, (Axis(6, 3, before=2), Axis(7, 3, after=4))),
    "more border than image": Sizes(2, 1, 2, 2, (Axis(2, 2, before=9, after=7), Axis(3, 3))),
    "steps": Sizes(2, 1, 3, 4, (Axis(11, 3, step=2, before=1, after=1), Axis(12, 3, step=3))),
    "steps beyond taps": Sizes(2, 1, 3, 4, (Axis(11, 2, step=5), Axis(12, 1, step=2))),
    "dilated": Sizes(2, 1, 3, 4, (Axis(11, 3, dilation=2), Axis(12, 3, dilation=4, before=3))),
    "steps and dilated": Sizes(2, 1, 3, 4, (Axis(23, 4, 4, 6, 2, 1), Axis(22, 3, 6, 4, 5, 1))),
    "steps and dilated alike": Sizes(2, 1, 3, 4, (Axis(11, 3, 2, 2, 2), Axis(12, 2, 3, 3, 1))),
    "groups": Sizes(3, 4, 3, 2, (Axis(8, 3, before=1, after=1),) * 2),
    "each channel": Sizes(3, 6, 1, 1, (Axis(8, 3, before=1, after=1),) * 2),
    "each channel twice, steps": Sizes(2, 5, 1, 2, (Axis(13, 3, step=2, before=1, after=1),) * 2),
    "each channel, steps": Sizes(2, 3, 1, 1, (Axis(53, 3, 2, 1, 1, 1), Axis(70, 3, 2, 1, 1, 1))),
    "each channel, large": Sizes(2, 3, 1, 2, (Axis(60, 3, before=1, after=1), Axis(75, 5))),
    "two filters of many channels": Sizes(2, 1, 90, 2, (Axis(33, 3, before=1), Axis(31, 3))),
    "one filter, solid": Sizes(2, 2, 3, 1, (Axis(15, 3, before=1), Axis(14, 3), Axis(13, 2))),
    "many small images": Sizes(29, 1, 5, 26, (Axis(4, 3, before=1, after=1),) * 2),
    "many small images, groups": Sizes(11, 2, 50, 13, (Axis(7, 3, before=1, after=1),) * 2),
    "many small images, steps": Sizes(19, 1, 7, 350, (Axis(9, 3, 2, 1, 1, 1),) * 2),
    "many small images, wide border": Sizes(13, 1, 30, 20, (Axis(4, 3, before=4, after=5),) * 2),
    "many small images, long filters": Sizes(14, 1, 20, 50, (Axis(8, 5, before=4, after=4),) * 2),
    "many small images, dilated": Sizes(9, 2, 9, 30, (Axis(7, 3, 1, 2, 2, 2), Axis(8, 3))),
    "many small volumes": Sizes(5, 1, 23, 14, (Axis(6, 3, before=1, after=1),) * 3),
    "volumes, many filters": Sizes(2, 2, 9, 200, (Axis(12, 3, before=1, after=1),) * 3),
    "many small images, valid": Sizes(9, 1, 40, 7, (Axis(9, 3),) * 2),
    "many images of one window": Sizes(70, 1, 6, 15, (Axis(3, 3),) * 2),
    "many images of points": Sizes(70, 2, 6, 15, (Axis(3, 1),) * 2),
    "wide channels": Sizes(2, 3, 1, 1, (Axis(5, 3, before=1, after=1), Axis(150, 7))),
    "points": Sizes(3, 1, 13, 14, (Axis(7, 1), Axis(9, 1))),
    "points, steps": Sizes(2, 1, 13, 14, (Axis(7, 1, step=2), Axis(9, 1, step=2))),
    "points with borders": Sizes(2, 1, 3, 4, (Axis(4, 1, before=1, after=2), Axis(5, 1))),
    "rows": Sizes(2, 1, 3, 20, (Axis(7, 1), Axis(70, 3, before=1, after=1))),
    "columns": Sizes(2, 1, 3, 20, (Axis(17, 3, before=1, after=1), Axis(13, 1))),
    "many channels": Sizes(2, 1, 67, 33, (Axis(8, 3, before=1, after=1),) * 2),
    "many filters": Sizes(1, 1, 20, 310, (Axis(9, 3, before=1, after=1),) * 2),
    "many filters, steps": Sizes(1, 1, 310, 50, (Axis(19, 3, 2, 1, 1, 1),) * 2),
    "large filters": Sizes(1, 1, 2, 3, (Axis(40, 25), Axis(36, 21, before=20, after=20))),
    "long filters": Sizes(2, 1, 1, 3, (Axis(1, 1), Axis(3000, 900, before=400, after=5))),
    "large images": Sizes(1, 1, 3, 20, (Axis(70, 5, before=2, after=2), Axis(90, 5))),
    "far apart": Sizes(1, 1, 30, 13, (Axis(90, 3, 1, 40, 40, 40), Axis(95, 3, 1, 41, 41, 41))),
    "too far apart": Sizes(1, 1, 3, 2, (Axis(3, 3, 1, 700, 720, 720),) * 2),
    "many images too far apart": Sizes(5, 1, 3, 4, (Axis(3, 3, 1, 700, 720, 720),) * 2),
    "solid": Sizes(2, 1, 3, 4, (Axis(5, 3), Axis(6, 2, before=1, after=1), Axis(7, 3, before=1))),
    "solid, steps": Sizes(
        2, 2, 3, 13, (Axis(7, 3, 2, 1, 1, 1), Axis(6, 2, 3, 2), Axis(9, 3, 2, 1, 2))
    ),
    "solid points": Sizes(2, 1, 3, 4, (Axis(5, 1), Axis(6, 1), Axis(7, 1))),
    "solid, flat filters": Sizes(2, 1, 3, 4, (Axis(5, 3, before=1), Axis(6, 1), Axis(7, 1))),
    "many large channels": Sizes(1, 1, 50, 5, (Axis(20, 3, before=1, after=1), Axis(150, 3))),
}


def operands(sizes, dtype, seed=0):
    random = np.random.default_rng(seed)
    shapes = (sizes.image_shape, sizes.filter_shape, sizes.top_shape)
    return [random.normal(size=shape).astype(dtype) for shape in shapes]


def computed(sizes, direction, images, filters, top):
    """One of three arrays from the two others."""
    which = DIRECTIONS.index(direction)
    arrays = {"images": images, "filters": filters, "top": top}
    name = direction.removeprefix("to_")
    out = arrays[name] = np.full_like(arrays[name], np.nan)
    runtime_calls.correlation(sizes, DIRECTIONS[which], *arrays.values())()
    return out


def assert_right(result, sizes, direction, images, filters, top):
    """`result` is right up to the rounding of sums of that many terms."""
    given = {"images": images, "filters": filters, "top": top}
    del given[direction.removeprefix("to_")]
    compute = getattr(reference, direction)
    expected = compute(sizes, *given.values())
    bound = compute(sizes, *map(abs, given.values()))
    assert result.shape == expected.shape
    # Written so that NaN fails.
    assert np.all(abs(result - expected) <= ROUNDING[str(result.dtype)] * bound)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", TABLE)
def test_correlations(family, name, direction, dtype):
    arrays = operands(TABLE[name], dtype)
    result = computed(TABLE[name], direction, *arrays)
    assert_right(result, TABLE[name], direction, *arrays)
