"""Checks of the arguments of derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytensor.graph.basic import Variable

from theano.source_locations.lines import users_line


class WrongArgumentError(TypeError, ValueError, AssertionError):
    """An argument of `hessian` or `jacobian`: Theano asserts what it is, PyTensor's errors differ."""


def check_vectors(operation: str, wrt: Sequence[object]) -> None:
    """Refuse what is no vector among what is differentiated by."""
    for variable in wrt:
        if not isinstance(variable, Variable) or getattr(variable.type, "ndim", None) != 1:
            kind = f" of {variable.type}" if isinstance(variable, Variable) else ""
            raise WrongArgumentError(
                f"{operation}: expected wrt to be vectors, got {variable}{kind}; flatten it, and"
                " reshape the result"
            )


def check_starts(consider_constant: object, known_grads: object = None) -> None:
    """Check where a gradient starts, and what it does not go through."""
    if isinstance(consider_constant, Variable):
        raise ValueError(
            f"grad: expected consider_constant to be a list of variables, got {consider_constant};"
            f" write consider_constant=[{consider_constant}]"
        )
    if known_grads is not None and not isinstance(known_grads, Mapping):
        raise TypeError(
            "grad: expected known_grads to be a dictionary of gradients by variables, got"
            f" {known_grads!r}"
        )


def check_cost(cost: object) -> None:
    """Refuse what is no scalar as what is differentiated; None is given with `known_grads`."""
    if cost is None:
        return
    if not isinstance(cost, Variable):
        raise TypeError(f"grad: the cost must be a scalar variable, but is {cost!r}")
    if getattr(cost.type, "ndim", 0) != 0:
        line = users_line(cost.owner) if cost.owner else ""
        raise TypeError(
            f"grad: the cost must be a scalar, but {cost}{f' (created at {line})' if line else ''} is"
            f" {cost.type}: take its sum() or mean(), or T.jacobian for the gradient of each element"
            " (doc/how_to/gradients.md)"
        )
