"""``map``, ``reduce``, ``foldl`` and ``foldr``: common uses of ``scan``."""

from __future__ import annotations

from collections.abc import Callable

from theano.scan_module.scan import scan


def map(
    fn: Callable,
    sequences: object,
    non_sequences: object = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: object = None,
    name: str | None = None,
):
    """Apply a function to each element of the sequences.

    Parameters
    ----------
    fn
        Builds one step: takes an element of each sequence, then ``non_sequences``.
    sequences
        A variable, or a list of variables, whose first axis is iterated over.
    non_sequences
        Variables that each step gets unchanged.
    truncate_gradient
        Number of steps that the gradient goes back, -1 for all.
    go_backwards
        Whether to go through the sequences from the last element to the first.
    mode
        The mode that compiles the step; by default Theano's default mode.
    name
        Name of the loop in profiles and graphs.

    Returns
    -------
    outputs : Variable or list of Variable
        The results, stacked along a new first axis: of shape ``(n, ...)`` for n elements.
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
    sequences: object,
    outputs_info: object,
    non_sequences: object = None,
    go_backwards: bool = False,
    mode: object = None,
    name: str | None = None,
):
    """Combine the elements of the sequences one by one, and return the last result.

    Parameters
    ----------
    fn
        Builds one step: takes an element of each sequence, the results so far, then ``non_sequences``.
    sequences
        A variable, or a list of variables, whose first axis is iterated over.
    outputs_info
        The initial value of each output, of the shape and dtype of what the step returns.
    non_sequences
        Variables that each step gets unchanged.
    go_backwards
        Whether to go through the sequences from the last element to the first.
    mode
        The mode that compiles the step; by default Theano's default mode.
    name
        Name of the loop in profiles and graphs.

    Returns
    -------
    outputs : Variable or list of Variable
        The results of the last step, of the shapes of the initial values.
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
    sequences: object,
    outputs_info: object,
    non_sequences: object = None,
    mode: object = None,
    name: str | None = None,
):
    """Combine the elements of the sequences from the first to the last, as ``reduce`` does.

    Parameters
    ----------
    fn
        Builds one step: takes an element of each sequence, the results so far, then ``non_sequences``.
    sequences
        A variable, or a list of variables, whose first axis is iterated over.
    outputs_info
        The initial value of each output, of the shape and dtype of what the step returns.
    non_sequences
        Variables that each step gets unchanged.
    mode
        The mode that compiles the step; by default Theano's default mode.
    name
        Name of the loop in profiles and graphs.

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
    >>> value, updates = theano.foldl(lambda digit, value: 10 * value + digit, x, T.zeros(()))
    >>> float(theano.function([x], value)([1.0, 2.0, 3.0]))
    123.0
    """
    return reduce(fn, sequences, outputs_info, non_sequences, False, mode, name)


def foldr(
    fn: Callable,
    sequences: object,
    outputs_info: object,
    non_sequences: object = None,
    mode: object = None,
    name: str | None = None,
):
    """Combine the elements of the sequences from the last to the first.

    Parameters
    ----------
    fn
        Builds one step: takes an element of each sequence, the results so far, then ``non_sequences``.
    sequences
        A variable, or a list of variables, whose first axis is iterated over.
    outputs_info
        The initial value of each output, of the shape and dtype of what the step returns.
    non_sequences
        Variables that each step gets unchanged.
    mode
        The mode that compiles the step; by default Theano's default mode.
    name
        Name of the loop in profiles and graphs.

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
    >>> value, updates = theano.foldr(lambda digit, value: 10 * value + digit, x, T.zeros(()))
    >>> float(theano.function([x], value)([1.0, 2.0, 3.0]))
    321.0
    """
    return reduce(fn, sequences, outputs_info, non_sequences, True, mode, name)
