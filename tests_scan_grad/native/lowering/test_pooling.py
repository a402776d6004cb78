"""Pooling and its gradients in the native engine: as by their ``perform``, with few and many windows."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.native.lowering.evaluations import EVALUATORS
from tests_scan_grad.native.lowering.lowering_checks import check, numbers, of
from tests_scan_grad.native.runtime import runtime_calls
from theano.tensor.signal.pool import DownsampleFactorMaxGradGrad, Pool

# name: shape of images, windows, their distance, what is put around, whether borders are left out
WINDOWS = {
    "pairs": ((3, 2, 6, 7), (2, 2), (2, 2), (0, 0), True),
    "overlapping": ((2, 3, 9, 8), (3, 3), (2, 2), (1, 1), True),
    "neighbours": ((2, 7, 9), (3, 2), (1, 1), (1, 1), True),
    "apart": ((2, 9, 10), (2, 2), (3, 4), (0, 0), False),
    "at the border": ((2, 9, 10), (4, 3), (3, 2), (0, 0), False),
    "in many windows": ((3, 30), (11,), (1,), (5,), True),
    "more than a row has": ((2, 3000), (3,), (2,), (1,), True),
    "wider than a row": ((2, 900), (600,), (100,), (10,), True),
    "blocks": ((2, 4, 5, 6), (2, 3, 2), (2, 1, 3), (1, 1, 0), True),
    "one image": ((6, 7), (2, 3), (2, 2), (0, 0), True),
    "no images": ((0, 6, 7), (2, 3), (2, 2), (0, 0), True),
    "no windows": ((2, 2, 7), (3, 3), (2, 2), (0, 0), True),
}


def everything(name, mode, x):
    """Return pooled values, their gradient and, for maxima, the gradient of that."""
    _, ws, stride, pad, ignore_border = WINDOWS[name]
    y = Pool(ignore_border, mode, len(ws))(x, ws, stride, pad)
    gradient = theano.grad((y * T.sqr(y + 1)).sum(), x)
    if mode != "max":
        return [y, gradient]
    picked = DownsampleFactorMaxGradGrad(ignore_border, ndim=len(ws))
    return [y, gradient, picked(x, y, T.sqr(x), ws, stride, pad)]


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    shape = WINDOWS[name][0]
    # of each precision some: the lines are the same
    dtype = "float32" if len(name) % 2 else "float64"
    x = of(*shape, dtype=dtype)
    modes = ("max", "sum", "average_inc_pad", "average_exc_pad")
    outputs = [output for mode in modes for output in everything(name, mode, x)]
    # quarters: there are equal elements, and sums are exact
    check([x], outputs, [np.round(4 * numbers(*shape, dtype=dtype)) / 4])


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64"])
def test_whole_numbers(dtype):
    x = of(None, None, None, dtype=dtype)
    outputs = [Pool(False, mode)(x, (2, 3)) for mode in ("max", "sum")]
    check([x], outputs, [numbers(2, 5, 7, dtype=dtype)])


def test_views_of_other_arrays():
    x = of(None, None, None, None)
    turned, every_other = x.dimshuffle(1, 0, 3, 2)[:, ::-1], x[:, :, ::2, 1::2]
    outputs = [Pool(True)(turned, (2, 2)), Pool(True, "sum")(every_other, (2, 3), (1, 1))]
    outputs.append(theano.grad(outputs[0].sum() + T.sqr(outputs[1]).sum(), x))
    check([x], outputs, [numbers(2, 3, 8, 9)])


@pytest.mark.parametrize("where", ["function", "loop"])
@pytest.mark.parametrize("name", ["overlapping", "in many windows", "wider than a row"])
def test_the_same_bits_on_any_number_of_threads(any_work, where, name):
    shape = (5, *WINDOWS[name][0])
    x = of(*shape, dtype="float32")
    outputs = [*everything(name, "max", x), *everything(name, "average_exc_pad", x)]
    evaluate = EVALUATORS[where]([x], outputs)
    values = np.round(numbers(*shape, dtype="float32"), 1)
    results = []
    for count in (1, 2, 3):
        runtime_calls.set_threads(count)
        results.append(evaluate(values))
    for other in results[1:]:
        for ours, theirs in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(ours, theirs)
