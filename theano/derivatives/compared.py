"""Gradients compared with finite differences."""

from collections.abc import Callable, Sequence
from typing import Any

from pytensor.gradient import GradientError
from pytensor.gradient import verify_grad as _verify_grad
from pytensor.graph.basic import Variable

from theano.compile.mode import get_mode
from theano.gof.user_operations.gradients import use_own_gradients


def verify_grad(
    fun: Callable, pt: Sequence, *args: object, mode: Any = None, **kwargs: Any
) -> None:
    """Compare the gradient of a function with finite differences.

    Parameters
    ----------
    fun : callable
        A function of tensors that returns a tensor.
    pt : list of ndarrays
        The point.
    *args, **kwargs
        Those of PyTensor's `verify_grad`: `n_tests`, `rng` (which must be given), `eps`,
        `out_type`, `abs_tol`, `rel_tol`, `cast_to_output_type`, `no_debug_ref`.
    mode : mode, optional
        How to compile; Theano's default mode if it is not given.

    Raises
    ------
    GradientError
        They differ by more than the tolerances.

    Examples
    --------
    >>> import numpy as np, theano, theano.tensor as T
    >>> theano.gradient.verify_grad(T.tanh, [np.array([0.5, 1.0])], rng=np.random.default_rng(0))
    """

    def with_own_gradients(*inputs: Variable) -> Any:
        result = fun(*inputs)
        use_own_gradients([result])
        return result

    compare: Callable[..., None] = _verify_grad
    compare(with_own_gradients, pt, *args, mode=get_mode(mode), **kwargs)


# What it raises, also as an attribute of it
verify_grad.E_grad = GradientError  # type: ignore[attr-defined]
