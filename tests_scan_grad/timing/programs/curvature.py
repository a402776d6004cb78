"""The curvature of a surface, as programs of differential geometry write it: jacobians of jacobians.

Each quantity is a function of the coordinates, made from functions: what two of them need is
written twice into the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests_scan_grad.timing.programs.network_programs import Step

RADII = (1.0, 1.5, 2.0)
Field = Callable[[Any], Any]


def chart(ops, x):
    """Return a point of an ellipsoid, from its two stereographic coordinates."""
    square = (x**2).sum()
    directions = [2 * x[0], 2 * x[1], square - 1]
    return ops.stack(
        [radius * part / (1 + square) for radius, part in zip(RADII, directions, strict=True)]
    )


def metric(ops, x):
    """Return the metric that the surface has from the space around it."""
    tangents = ops.jacobian(lambda x: chart(ops, x), x)
    return ops.dot(tangents.T, tangents)


def cometric(ops, x):
    """Return the inverse of the metric."""
    return ops.inverse(metric(ops, x))


def christoffel(ops, x):
    """Return the Christoffel symbols, the upper index first."""
    slopes = ops.jacobian(lambda x: metric(ops, x), x)
    lowered = slopes.transpose(0, 2, 1) + slopes - slopes.transpose(2, 0, 1)
    return 0.5 * ops.tensordot(cometric(ops, x), lowered, [[1], [0]])


def riemann(ops, x):
    """Return Riemann's tensor, the upper index last."""
    symbols = christoffel(ops, x)
    pairs = ops.tensordot(symbols, symbols, [[0], [2]])
    slopes = ops.jacobian(lambda x: christoffel(ops, x), x)
    return (
        pairs.transpose(3, 0, 1, 2)
        - pairs.transpose(0, 3, 1, 2)
        + slopes.transpose(3, 1, 2, 0)
        - slopes.transpose(1, 3, 2, 0)
    )


def ricci(ops, x):
    """Return Ricci's tensor."""
    return ops.tensordot(riemann(ops, x), ops.eye(2), [[0, 3], [0, 1]])


def scalar(ops, x):
    """Return the scalar curvature."""
    return ops.tensordot(ricci(ops, x), cometric(ops, x), [[0, 1], [0, 1]])


def sectional(ops, x):
    """Return the curvature of the plane of the coordinates' directions."""
    lowered = ops.tensordot(riemann(ops, x), metric(ops, x), [[3], [0]])
    lengths = metric(ops, x)
    return lowered[0, 1, 1, 0] / (lengths[0, 0] * lengths[1, 1] - lengths[0, 1] ** 2)


QUANTITIES: Mapping[str, Callable] = {
    "christoffel": christoffel,
    "riemann": riemann,
    "ricci": ricci,
    "scalar": scalar,
    "sectional": sectional,
}


@dataclass(frozen=True)
class Curvature:
    """A surface of which some quantities are asked, each by a function of its own."""

    quantities: tuple[str, ...]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the coordinates of a point."""
        return {"x": np.array([0.3, -0.4])}

    def compiled(self, compiled: Callable[[Callable[[Any], Any]], Callable]) -> Step:
        """Return a step that calls the functions of all quantities, from how one is compiled."""
        functions = [compiled(QUANTITIES[name]) for name in self.quantities]

        def step(arrays):
            found = [np.asarray(each(arrays["x"])).ravel() for each in functions]
            return np.concatenate(found)

        return step


def our_functions(surface: Curvature, **options) -> Step:
    """Compile with Theano as this project gives it."""
    import theano
    from theano import tensor

    def jacobian(field: Field, x):
        values = field(x)
        rows = tensor.jacobian(values.flatten(), x)
        return rows.reshape([*(values.shape[k] for k in range(values.ndim)), x.shape[0]])

    operations = SimpleNamespace(
        jacobian=jacobian,
        stack=tensor.stack,
        dot=tensor.dot,
        tensordot=tensor.tensordot,
        eye=lambda size: tensor.eye(size, dtype="float64"),
        inverse=tensor.nlinalg.matrix_inverse,
    )

    def compiled(quantity):
        x = tensor.dvector("x")
        return theano.function([x], quantity(operations, x), **options)

    return surface.compiled(compiled)


def jax_functions(surface: Curvature) -> Step:
    """Compile with JAX."""
    import jax
    from jax import numpy

    jax.config.update("jax_enable_x64", True)
    operations = SimpleNamespace(
        jacobian=lambda field, x: jax.jacobian(field)(x),
        stack=numpy.stack,
        dot=numpy.dot,
        tensordot=numpy.tensordot,
        eye=numpy.eye,
        inverse=numpy.linalg.inv,
    )
    return surface.compiled(lambda quantity: jax.jit(lambda x: quantity(operations, x)))


CURVATURES: dict[str, Callable[[], Curvature]] = {
    "curvature": lambda: Curvature(tuple(QUANTITIES)),
    **{name: lambda name=name: Curvature((name,)) for name in QUANTITIES},
}
