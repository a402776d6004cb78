"""Profile of a compiled function: where its time goes, and how many products its loops hold."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from pytensor.graph.traversal import ancestors
from pytensor.scan.op import Scan
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.math import Dot

from theano.pytensor_internals.operations.tensor import (
    BatchedDot,
    Dot22,
    Dot22Scalar,
    Gemm,
    Gemv,
    Ger,
)

PRODUCTS = (Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, BatchedDot)


@dataclass(frozen=True)
class LoopProfile:
    """Seconds of one profiled call, and products: a number for each loop and for the rest."""

    forward_loop_seconds: float
    backward_loop_seconds: float
    products_outside_seconds: float
    rest_seconds: float
    forward_loop_products: list[int]
    backward_loop_products: list[int]
    products_outside: int


def is_product(op: Any) -> bool:
    """Return whether an operation multiplies matrices or vectors."""
    return isinstance(op.core_op if isinstance(op, Blockwise) else op, PRODUCTS)


def products_in_step(scan: Scan) -> int:
    """Return the number of products in a loop's compiled step, those of inner loops included."""
    nodes = scan.fn.maker.fgraph.apply_nodes
    return sum(
        products_in_step(node.op) if isinstance(node.op, Scan) else is_product(node.op)
        for node in nodes
    )


def kind(node: Any) -> str:
    """Record which share of the time a node belongs to.

    A loop that takes what another loop computed is a backward loop. That holds for the
    gradients of single loops, which is what the experiments are about.
    """
    if isinstance(node.op, Scan):
        owners = {variable.owner for variable in ancestors(node.inputs)} - {None, node}
        return "backward" if any(isinstance(owner.op, Scan) for owner in owners) else "forward"
    return "product" if is_product(node.op) else "rest"


def profiled_call(function: Any, arguments: tuple) -> tuple[float, dict[Any, float]]:
    """Return the seconds of one call, and of each of its nodes."""
    before = Counter(function.profile.apply_time)
    start = time.perf_counter()
    function(*arguments)
    seconds = time.perf_counter() - start
    spent = Counter(function.profile.apply_time)
    spent.subtract(before)
    return seconds, {node: spent[fgraph, node] for fgraph, node in spent}


def loop_profile(function: Any, arguments: tuple, calls: int = 3) -> LoopProfile:
    """Take the fastest of so many calls of a function that was compiled with a profile."""
    seconds, node_seconds = min(
        (profiled_call(function, arguments) for _ in range(calls)), key=lambda call: call[0]
    )
    shares = {"forward": 0.0, "backward": 0.0, "product": 0.0, "rest": 0.0}
    products: dict[str, list[int]] = {"forward": [], "backward": [], "product": [], "rest": []}
    for node in function.maker.fgraph.toposort():
        share = kind(node)
        shares[share] += node_seconds.get(node, 0.0)
        products[share].append(products_in_step(node.op) if isinstance(node.op, Scan) else 1)
    loops = shares["forward"] + shares["backward"] + shares["product"]
    return LoopProfile(
        forward_loop_seconds=shares["forward"],
        backward_loop_seconds=shares["backward"],
        products_outside_seconds=shares["product"],
        rest_seconds=seconds - loops,
        forward_loop_products=products["forward"],
        backward_loop_products=products["backward"],
        products_outside=len(products["product"]),
    )
