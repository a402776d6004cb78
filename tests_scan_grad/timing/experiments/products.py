"""Experiment: the rates of single products, next to the processor's limit and other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tests_scan_grad.timing.experiment import Experiment, Problem, Program, Sizes
from tests_scan_grad.timing.measuring.product_blocks import Shape, block_in_process
from tests_scan_grad.timing.measuring.rounds import Rounds
from tests_scan_grad.timing.reports.loops_report import headed, shortfalls
from tests_scan_grad.timing.reports.report import aligned, ratio

SQUARES = (64, 128, 256, 512, 1024, 2048)
OTHERS = (
    (1000, 4000, 1000),
    (6400, 512, 2048),
    (80, 1000, 1000),
    (80, 1000, 2000),
    (64, 512, 2048),
    (16, 256, 768),
    (4, 512, 512),
    (1, 512, 2048),
    (500, 784, 500),
    (20, 784, 500),
    (1000, 80, 1000),
)
# shape, orders: the products of a loop's gradient read operands by columns
TURNED = (((80, 1000, 2000), "CF"), ((1000, 80, 1000), "FC"), ((512, 512, 512), "FF"))


def _named(sizes: tuple[int, int, int], orders: str) -> str:
    return "x".join(map(str, sizes)) + ("" if orders == "CC" else f"-{orders}")


ROWS: Mapping[str, tuple[tuple[int, int, int], str]] = {
    _named(sizes, orders): (sizes, orders)
    for sizes, orders in (
        *(((n, n, n), "CC") for n in SQUARES),
        *((sizes, "CC") for sizes in OTHERS),
        *TURNED,
    )
}
PEERS = ("torch", "numpy", "jax")
# of the best peer's time, of the time at the processor's limit
GOALS = {**dict.fromkeys(PEERS, 1.05), "limit": 1 / 0.85}
THREADS = {"one thread": 1, "two threads": 2}


class Blocks(Rounds):
    """The samples of one library, a process for each round of all products."""

    def __init__(self, engine: str, shapes: Mapping[str, Shape], threads: int):
        super().__init__(partial(block_in_process, engine, list(shapes.values()), threads))
        self.position = {name: k for k, name in enumerate(shapes)}

    def product(self, name: str) -> Program:
        """Return one product."""
        at = self.position[name]
        return self.program(lambda found: found["sums"][at], lambda found: found["seconds"][at])

    def limit(self, shape: Shape, threads: int) -> Program:
        """Return the time in which the processor's multiply-adds could do a product."""
        work = shape.work / threads
        return self.program(lambda found: None, lambda found: work / max(found["limits"]))


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield each product by one thread, then by two."""
    shapes = {
        name: Shape(*of, dtype=sizes.dtype, orders=orders)
        for name, (of, orders) in ROWS.items()
        if name in sizes.rows
    }
    for label, threads in THREADS.items():
        blocks = {
            engine: Blocks(engine, shapes, threads) for engine in ("native", "packed", *PEERS)
        }
        for name, shape in shapes.items():
            methods: dict[str, Callable[[], Program]] = {
                "native": partial(blocks["native"].product, name),
                "limit": partial(blocks["native"].limit, shape, threads),
            }
            if threads == 1:
                # threads share a packed product by panels: each is a separate call
                methods["packed"] = partial(blocks["packed"].product, name)
            yield Problem(
                label=f"{name}, {label}",
                results=("sums of rows",),
                methods=methods,
                peers={peer: partial(blocks[peer].product, name) for peer in PEERS},
                dtype=sizes.dtype,
                unlike=frozenset({"limit"}),
                goals=GOALS if min(shape.m, shape.n, shape.k) >= 64 else {**GOALS, "limit": np.inf},
            )


def rates(problem: dict[str, Any]) -> dict[str, float]:
    """Return the GFLOP/s of each program."""
    m, k, n = map(int, problem["label"].split(",")[0].split("-")[0].split("x"))
    return {row["name"]: 2e-9 * m * k * n / row["seconds"] for row in problem["rows"]}


def table(found: Sequence[dict[str, Any]]) -> list[str]:
    """Return the rates, the shares of the limit, and the ratio to the best peer's time."""
    peers = [p for p in PEERS if any(p in rates(problem) for problem in found)]
    lines = [["GFLOP/s", "this", "packed", "limit", *peers, "share", "packed", "to the best"]]
    for problem in found:
        rate = rates(problem)
        best = max((rate[peer] for peer in peers if peer in rate), default=None)
        lines.append(
            [
                problem["label"],
                *(
                    f"{rate[name]:.0f}" if name in rate else "-"
                    for name in ("native", "packed", "limit", *peers)
                ),
                ratio(rate["native"] / rate["limit"]),
                ratio(rate["packed"] / rate["limit"] if "packed" in rate else None),
                ratio(None if best is None else best / rate["native"]),
            ]
        )
    return aligned(lines)


def body(run: dict[str, Any]) -> list[str]:
    """Return the table, what falls short of what is wanted, and what the columns mean."""
    found = run["problems"]
    return [
        *table(found),
        *headed("Falls short:", [line for each in found for line in shortfalls(each)]),
        "",
        "this: the runtime's product of matrices as they lie in memory; packed: the second one",
        "packed before, as in a loop. limit: multiply-adds in registers, in the same process.",
        "C, F: stored by rows, by columns. Each library runs in its own processes, in turn.",
        "The last column is this one's time over the best peer's: below 1, this one is faster.",
    ]


EXPERIMENT = Experiment(
    name="products",
    summary="rates of single products, next to the processor's limit",
    sizes=Sizes(rows=tuple(ROWS), dtype="float32"),
    peers=PEERS,
    problems=problems,
    dissected=False,
    body=body,
)
