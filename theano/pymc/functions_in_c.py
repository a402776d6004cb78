"""PyMC's own operations on numbers that the engine has C for."""

from __future__ import annotations

from pymc.distributions.dist_math import i0e_scalar, i1e_scalar

from theano.link.native.ir.scalar_expressions import has_function


def know_functions() -> None:
    """Register with the engine functions: of angles' and of distances' densities (von Mises, Rice)."""
    has_function(type(i0e_scalar), "i0e")
    has_function(type(i1e_scalar), "i1e")
