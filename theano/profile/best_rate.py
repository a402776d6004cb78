"""The rate of a large product: what the processor can do at most, for comparison."""

from __future__ import annotations

import time

import numpy as np

from theano.compile.function import function
from theano.compile.sharedvalue import shared
from theano.tensor.basic import dot

SIZE, CALLS = 768, 5


def best_rates() -> dict[str, float]:
    """Thousand millions of operations in a second, by dtype, of the best of a few products."""
    return {dtype: _rate(dtype) for dtype in ("float32", "float64")}


def _rate(dtype: str) -> float:
    matrix = shared(np.ones((SIZE, SIZE), dtype), borrow=True)
    multiplied = function([], dot(matrix, matrix), profile=False)
    seconds = []
    for _ in range(CALLS):
        start = time.perf_counter()
        multiplied()
        seconds.append(time.perf_counter() - start)
    return 2 * SIZE**3 / min(seconds) / 1e9
