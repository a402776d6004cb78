"""``map``, ``reduce``, ``foldl`` and ``foldr``: common uses of ``scan``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano.scan_module.scan import scan


def map(  # noqa: A001
    fn: Callable,
    sequences: Any,
    non_sequences: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
):
    """Apply a function to each element of the sequences; see ``scan`` for the parameters.

    Returns
    -------
    outputs : Variable or list of Variable
        The results, stacked along a new first axis.
    updates : OrderedUpdates
        Updates of shared variables.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.vector("x")
    >>> squares, updates = theano.map(lambda element: element**2, x)
    >>> theano.function([x], squares)([1.0, 2.0, 3.0])
    array([1., 4., 9.])
    """
    return scan(
        fn,
        sequences=sequences,
        outputs_info=[],
        non_sequences=non_sequences,
        truncate_gradient=truncate_gradient,
        go_backwards=go_backwards,
        mode=mode,
        name=name,
    )


def reduce(
    fn: Callable,
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
):
    """Combine the elements of the sequences one by one; only the last result is returned.

    Parameters are those of ``scan``; ``outputs_info`` holds the initial values.

    Returns
    -------
    outputs : Variable or list of Variable
        The results of the last step.
    updates : OrderedUpdates
        Updates of shared variables.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.vector("x")
    >>> total, updates = theano.reduce(lambda element, total: total + element, x, T.zeros(()))
    >>> float(theano.function([x], total)([1.0, 2.0, 3.0]))
    6.0
    """
    outputs, updates = scan(
        fn,
        sequences=sequences,
        outputs_info=outputs_info,
        non_sequences=non_sequences,
        go_backwards=go_backwards,
        mode=mode,
        name=name,
    )
    if isinstance(outputs, list | tuple):
        return [output[-1] for output in outputs], updates
    return outputs[-1], updates


def foldl(
    fn: Callable,
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    mode: Any = None,
    name: str | None = None,
):
    """``reduce`` from the first element to the last."""
    return reduce(fn, sequences, outputs_info, non_sequences, False, mode, name)


def foldr(
    fn: Callable,
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    mode: Any = None,
    name: str | None = None,
):
    """``reduce`` from the last element to the first."""
    return reduce(fn, sequences, outputs_info, non_sequences, True, mode, name)
