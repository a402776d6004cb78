"""Rewrites of whole graphs: merging, folding, lengths."""

import numpy as np
import pytensor.tensor as pt

from tests_scan_grad.rewrites.making import ANY, REAL, Maker, recipe

FAMILY = "whole graphs"


@recipe(
    FAMILY,
    "merge",
    "merge1",
    "merge1.1",
    "merge1.2",
    "merge2",
    "merge3",
    "ShapeOpt",
    "add_destroy_handler",
)
def equal_work(m: Maker):
    x = m.array(2, ANY)
    y = m.beside(x, REAL)
    a, b = pt.constant(np.array(0.0)), pt.constant(np.array(-0.0))
    return [
        x + y,
        x + y,
        (y * a),
        (y * b),
        pt.true_div(1.0, y * a + a),
        pt.true_div(1.0, b),
        pt.constant(1) + y,
        pt.constant(np.int8(1)) + y,
    ]


@recipe(FAMILY, "merge")
def constants_that_look_the_same(m: Maker):
    x = m.array((2,), REAL)
    zeros = [
        pt.constant(np.array(v, d))
        for v, d in (
            (0.0, "float32"),
            (-0.0, "float32"),
            (0, "int8"),
            (0.0, "float64"),
            (np.nan, "float64"),
        )
    ]
    return [pt.copysign(1.0, z) * x if hasattr(pt, "copysign") else x / z for z in zeros]


@recipe(
    FAMILY,
    "blockwise_inplace",
    "local_inplace_remove0",
    "remove_constants_and_duplicate_inputs_scipy",
)
def functions_that_are_minimized(m: Maker):
    from pytensor.tensor.optimize import minimize_scalar, root_scalar

    a = m.array((), "float64", among=lambda s: m.rng.uniform(1, 2))
    x = pt.dscalar("x_of_objective")
    m.values[x] = np.array(0.5)
    constant = pt.constant(2.0)
    return [
        minimize_scalar((x - a * constant) ** 2 + a, x)[0],
        root_scalar(x - a - constant, x, method="newton")[0] if False else x,
    ]


@recipe(FAMILY, "known_choice")
def lazy_choices(m: Maker):
    from pytensor.ifelse import ifelse

    x = m.array(1, REAL)
    y, z = m.beside(x, x.dtype), m.beside(x, x.dtype)
    c = m.array((), "int8")
    known = pt.constant(m.rng.choice(np.array([0, 1, -2], "int8")))
    return [
        ifelse(known, x[:1], y),
        ifelse(known, [x, z[::-1]], [y, x])[1],
        ifelse(c, x + 1, x + 1),
        ifelse(c, ifelse(c, x, y[:2]), ifelse(c, y, z)),
    ]
