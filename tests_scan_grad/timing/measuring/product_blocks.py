"""Products by one library in its own process, where no other library's threads wait."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tests_scan_grad.timing.measuring.registers import limit
from tests_scan_grad.timing.measuring.rounds import answer_of_process

# A sample is at least so long, and the least of so many.
SAMPLE_SECONDS, SAMPLES = 0.004, 5


@dataclass(frozen=True)
class Shape:
    """A product of an m by k matrix and a k by n one.

    `orders` has a letter for each: C, or F for one that is stored by columns.
    """

    m: int
    k: int
    n: int
    dtype: str
    orders: str = "CC"

    @property
    def work(self) -> int:
        """Multiplications and additions."""
        return 2 * self.m * self.k * self.n

    def operands(self) -> list[np.ndarray]:
        """Both matrices, the same in every process."""
        random = np.random.default_rng(0)
        return [
            np.asarray(random.standard_normal(shape), dtype=self.dtype, order=order)
            for shape, order in zip(((self.m, self.k), (self.k, self.n)), self.orders, strict=True)
        ]


def in_numpy(a: np.ndarray, b: np.ndarray) -> Callable[[], Any]:
    """By NumPy's BLAS."""
    out = np.empty((len(a), b.shape[1]), a.dtype)
    return lambda: np.dot(a, b, out=out)


def in_torch(a: np.ndarray, b: np.ndarray) -> Callable[[], Any]:
    """By PyTorch."""
    import torch

    left, right = torch.from_numpy(a), torch.from_numpy(b)
    out = torch.empty(len(a), b.shape[1], dtype=left.dtype)
    return lambda: torch.mm(left, right, out=out)


def in_jax(a: np.ndarray, b: np.ndarray) -> Callable[[], Any]:
    """By JAX."""
    from tests_scan_grad.timing.peers import jax_programs

    call = jax_programs.product({"a": a, "b": b}).call
    return lambda: call()[0]


def native(a: np.ndarray, b: np.ndarray) -> Callable[[], Any]:
    """By this package's runtime, from memory."""
    from tests_scan_grad.timing.measuring import product_calls

    return product_calls.multiplication(a, b)


def packed(a: np.ndarray, b: np.ndarray) -> Callable[[], Any]:
    """By this package's runtime, with the second matrix packed before, as in a loop."""
    from tests_scan_grad.timing.measuring import product_calls

    return product_calls.packed_multiplication(a, b)


ENGINES: Mapping[str, Callable[[np.ndarray, np.ndarray], Callable[[], Any]]] = {
    "native": native,
    "packed": packed,
    "torch": in_torch,
    "numpy": in_numpy,
    "jax": in_jax,
}


def seconds_of(call: Callable[[], Any], samples: int = SAMPLES) -> float:
    """Return the seconds of a call: the least of some samples."""
    start = time.perf_counter()
    call()
    calls = max(1, round(SAMPLE_SECONDS / max(time.perf_counter() - start, 1e-6)))
    least = float("inf")
    for _ in range(samples):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        least = min(least, (time.perf_counter() - start) / calls)
    return least


def block(engine: str, shapes: Sequence[Shape], threads: int) -> dict[str, Any]:
    """Return each product's seconds and the sums of its rows, and the limit before and after."""
    if engine == "torch":
        import torch

        torch.set_num_threads(threads)
    found: dict[str, Any] = {"limits": [limit(shapes[0].dtype)], "seconds": [], "sums": []}
    for shape in shapes:
        call = ENGINES[engine](*shape.operands())
        found["sums"].append(np.asarray(call(), dtype="float64").sum(axis=1).tolist())
        found["seconds"].append(seconds_of(call))
    found["limits"].append(limit(shapes[0].dtype))
    return found


def block_in_process(engine: str, shapes: Sequence[Shape], threads: int) -> dict[str, Any]:
    """Return what `block` finds in its own process, whose libraries have so many threads."""
    asked = {"engine": engine, "shapes": [asdict(shape) for shape in shapes], "threads": threads}
    return answer_of_process(__name__, asked, threads, f"products by {engine}")


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    if given["threads"] == 1 and hasattr(os, "sched_setaffinity"):
        # JAX has as many threads as there are cores that it may use
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    made = [Shape(**shape) for shape in given["shapes"]]
    print(json.dumps(block(given["engine"], made, given["threads"])))
