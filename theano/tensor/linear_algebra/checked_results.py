"""Results of linear algebra that are looked at: there may be none, which is an error."""

from __future__ import annotations

import pytensor.tensor as pt
from numpy.linalg import LinAlgError
from pytensor.gradient import DisconnectedType
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.raise_op import Check


class CheckWithGradient(Check):
    """A check that the gradient makes as well, which may be computed without the value."""

    def pullback(self, inputs, outputs, cotangents):
        """Return the gradient by the value, checked; the conditions have none."""
        cotangent, conditions = cotangents[0], inputs[1:]
        connected = not isinstance(cotangent.type, DisconnectedType)
        checked = self(cotangent, *conditions) if connected else cotangent
        return [checked, *(DisconnectedType()() for _ in conditions)]


def checked_factor(factor: TensorVariable) -> TensorVariable:
    """Return a factor of Cholesky's, or LinAlgError where there is none, and it is NaN."""
    defined = CheckWithGradient(LinAlgError, "Matrix is not positive definite")
    return known_tensor(defined(factor, ~pt.isnan(factor).any()))


def finite_solution(solution: TensorVariable) -> TensorVariable:
    """Return the solution of a system, or LinAlgError where it is not finite.

    Operations put NaN where there is none, and on devices also divide by the zeros of a factor.
    Theano refused what is not finite in the matrix and in the right side, too.
    """
    finite = CheckWithGradient(
        LinAlgError,
        "Matrix is singular, or what was given is not finite: the solution has NaN or infinity",
    )
    return known_tensor(finite(solution, ~(pt.isnan(solution) | pt.isinf(solution)).any()))
