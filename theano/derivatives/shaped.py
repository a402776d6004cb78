"""Identities whose gradient is another: clipped to bounds, or scaled."""

from typing import Any

from pytensor.compile.ops import ViewOp
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Variable
from pytensor.tensor.math import clip

__all__ = ["GradClip", "GradScale", "grad_clip", "grad_scale"]


class GradClip(ViewOp):
    """The identity, whose gradient is clipped: see `grad_clip`."""

    # PyTensor's class leaves the bounds out, so that two clips of one value are merged
    # and share the first one's bounds as soon as a loop holds them.
    __props__ = ("clip_lower_bound", "clip_upper_bound")

    def __init__(self, clip_lower_bound: float, clip_upper_bound: float):
        if not clip_upper_bound >= clip_lower_bound:
            raise ValueError(
                "grad_clip expects lower_bound <= upper_bound, "
                f"got {clip_lower_bound} and {clip_upper_bound}"
            )
        self.clip_lower_bound = clip_lower_bound
        self.clip_upper_bound = clip_upper_bound

    def pullback(self, inputs, outputs, cotangents):
        return [
            cotangent
            if isinstance(cotangent.type, DisconnectedType)
            else clip(cotangent, self.clip_lower_bound, self.clip_upper_bound)
            for cotangent in cotangents
        ]

    def pushforward(self, inputs, outputs, tangents):
        return list(tangents)


def grad_clip(x: Variable, lower_bound: float, upper_bound: float) -> Variable:
    """Return `x` unchanged, with each element of its gradient kept within two bounds.

    Parameters
    ----------
    x : variable
        The value whose incoming gradient is clipped.
    lower_bound, upper_bound : float
        The bounds.

    Returns
    -------
    variable
        Of the shape and dtype of `x`.

    Raises
    ------
    ValueError
        `lower_bound` is greater than `upper_bound`.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.scalar("x")
    >>> float(theano.grad(theano.gradient.grad_clip(x, -1, 1) ** 2, x).eval({x: 2.0}))
    1.0
    """
    clipped: Any = GradClip(lower_bound, upper_bound)(x)
    return clipped


class GradScale(ViewOp):
    """The identity, whose gradient is multiplied by a factor: see `grad_scale`."""

    # PyTensor's class leaves the factor out, as it does the bounds of a clip.
    __props__ = ("multiplier",)

    def __init__(self, multiplier: float):
        self.multiplier = multiplier

    def pullback(self, inputs, outputs, cotangents):
        return [
            cotangent
            if isinstance(cotangent.type, DisconnectedType)
            else self.multiplier * cotangent
            for cotangent in cotangents
        ]

    def pushforward(self, inputs, outputs, tangents):
        return list(tangents)


def grad_scale(x: Variable, multiplier: float) -> Variable:
    """Return `x` unchanged, with its gradient multiplied by a factor.

    Parameters
    ----------
    x : variable
        The value whose incoming gradient is scaled.
    multiplier : float
        The factor; -1 reverses the gradient.

    Returns
    -------
    variable
        Of the shape and dtype of `x`.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.scalar("x")
    >>> float(theano.grad(theano.gradient.grad_scale(x, -1) ** 2, x).eval({x: 2.0}))
    -4.0
    """
    scaled: Any = GradScale(multiplier)(x)
    return scaled
