"""Functions of float32 that rise, or fall, everywhere: of neighbouring numbers, results never go the other way."""

from __future__ import annotations

import numpy as np
import pytest

from tests_scan_grad.native.vector_functions.test_vector_functions import called, library

__all__ = ["library"]

RISES = {"erf": 1, "erfc": -1, "atan": 1, "tanh": 1, "sigmoid": 1, "exp": 1, "log": 1}
# beyond it results are 0, 1, 2 or infinite, or near pi / 2
LAST = {
    "erf": 4.0,
    "erfc": 10.2,
    "atan": 1e3,
    "tanh": 9.1,
    "sigmoid": 104.0,
    "exp": 104.0,
    "log": 1e38,
}
# what does not where a multiplication and an addition are rounded twice
ONLY_FUSED = ("atan",)
# what has results of positive numbers only
POSITIVE = ("log",)
# how many neighbours are looked at together
TOGETHER = 1 << 22


def follows(library, name: str, first: int, count: int) -> bool:
    """Return whether results of numbers with these bits, and of their negatives, follow one another."""
    magnitudes = np.arange(first, first + count, dtype="uint32").view("float32")
    rises = follow(called(library, name, magnitudes) * RISES[name])
    return rises and (name in POSITIVE or follow(-called(library, name, -magnitudes) * RISES[name]))


def follow(results: np.ndarray) -> bool:
    return bool((results[:-1] <= results[1:]).all())


def need_fused(library, name: str) -> None:
    if library.tier == "portable" and name in ONLY_FUSED:
        pytest.skip("it does where operations are fused")


def bits(number: float) -> int:
    return int(np.float32(number).view("uint32"))


@pytest.mark.parametrize("name", RISES)
def test_neighbours_here_and_there(library, name):
    need_fused(library, name)
    random = np.random.default_rng(4)
    starts = np.concatenate([random.uniform(0, LAST[name], 60), 10.0 ** random.uniform(-9, 0, 40)])
    for start in starts:
        assert follows(library, name, bits(start), 1 << 16)


@pytest.mark.parametrize("name", RISES)
def test_all_neighbours(library, name):
    need_fused(library, name)
    # before, results are 1 or multiples of the argument
    for first in range(bits(1e-8), bits(LAST[name]), TOGETHER):
        assert follows(library, name, first, TOGETHER + 1)
