"""Experiment: single products of the shapes that a recurrent network's gradient is made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np

from tests_scan_grad.timing.experiment import Experiment, Problem, Program, Sizes
from tests_scan_grad.timing.peers import jax_programs, torch_programs
from tests_scan_grad.timing.programs.graph_library import (
    GraphLibrary,
    compiled,
    our_c_vm,
    our_engine,
    plain_pytensor,
)


def product_of(library: GraphLibrary, a, b):
    """Build a product."""
    return [library.dot(a, b)]


def product_plus(library: GraphLibrary, a, b, c):
    """Build a product plus an addend."""
    return [library.dot(a, b) + c]


def numpy_program(arrays: dict[str, np.ndarray]) -> Program:
    """Return the same in NumPy."""
    a, b, *addend = arrays.values()
    return Program(
        call=(lambda: [a.dot(b) + addend[0]]) if addend else (lambda: [a.dot(b)]),
        to_numpy=list,
    )


def shapes(sizes: Sizes) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the shapes of the two operands of each product."""
    batch, dim = sizes.batch, sizes.dim
    return [
        ((dim, batch), (batch, dim)),
        ((batch, dim), (dim, dim)),
        ((batch, dim), (dim, 2 * dim)),
        ((dim, batch), (batch, 2 * dim)),
    ]


def peers_of(build: Callable, arrays: dict[str, np.ndarray]) -> dict[str, Callable[[], Program]]:
    """Return the same product for each peer."""
    return {
        "numpy": partial(numpy_program, arrays),
        "torch": partial(torch_programs.product, arrays),
        "jax": partial(jax_programs.product, arrays),
        "cvm": partial(compiled, our_c_vm(), build, arrays),
        "pytensor": partial(compiled, plain_pytensor(), build, arrays),
    }


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield each product, alone and with an addend, in all orders of its operands."""
    random = np.random.default_rng(0)
    for (left, right), build, orders in product(
        shapes(sizes), (product_of, product_plus), product("CF", repeat=2)
    ):
        arrays = {
            name: np.asarray(random.standard_normal(shape), dtype=sizes.dtype, order=order)
            for name, shape, order in zip("ab", (left, right), orders, strict=True)
        }
        if build is product_plus:
            addend = random.standard_normal((left[0], right[1]))
            arrays["c"] = addend.astype(sizes.dtype)
        yield Problem(
            label="{}x{} . {}x{}".format(*left, *right)
            + (" + c" if build is product_plus else "")
            + ", orders {} {}".format(*orders),
            results=("product",),
            methods={"theano": partial(compiled, our_engine(), build, arrays)},
            peers=peers_of(build, arrays),
            dtype=sizes.dtype,
        )


EXPERIMENT = Experiment(
    name="dotspeed",
    summary="single products, with and without an addend, in C and Fortran order",
    sizes=Sizes(batch=80, dim=1000, dtype="float32"),
    peers=("numpy", "torch", "jax", "cvm", "pytensor"),
    problems=problems,
)
