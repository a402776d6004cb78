"""Products with Jacobians: `Rop`, `Lop`, and what PyTensor has of their kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, wraps
from typing import Any

from pytensor.gradient import NullTypeGradError
from pytensor.gradient import pullback as _pullback
from pytensor.gradient import subgraph_grad as _subgraph_grad
from pytensor.graph.basic import Variable
from pytensor.tensor.basic import as_tensor_variable

from theano.derivatives.arguments import check_starts
from theano.derivatives.traced import Variables, listed, traced
from theano.gof.user_operations.gradients import use_own_gradients
from theano.pytensor_internals.functions.compiling import as_list_or_tuple
from theano.pytensor_internals.graphs.annotations import ForDisconnected, OnDisconnected
from theano.support.recursion_depth import with_room_for_deep_graphs


@with_room_for_deep_graphs
def Rop(
    f: Variables,
    wrt: Variables,
    eval_points: Variables,
    disconnected_outputs: OnDisconnected = "raise",
    return_disconnected: ForDisconnected = "zero",
):
    """Multiply the Jacobian of `f` with respect to `wrt` by `eval_points`, from the right.

    Each operator's own rule for forward differentiation is used. A graph with an operator
    that has none is differentiated backward twice instead, which gives the same values.

    Parameters
    ----------
    f : variable or list of variables
        What is differentiated.
    wrt : variable or list of variables
        What it is differentiated with respect to.
    eval_points : variable or list of variables
        The direction: one for each of `wrt`, of the same shape.
    disconnected_outputs : {'raise', 'warn', 'ignore'}
        What to do about an `f` that does not depend on `wrt`.
    return_disconnected : {'zero', 'none', 'disconnected'}
        What to return for such an `f`.

    Returns
    -------
    variable, list or tuple
        One product for each of `f`, of its shape; a list or tuple where `f` is one.

    Raises
    ------
    DisconnectedInputError
        An `f` that no operator computes is none of `wrt`, and `disconnected_outputs` is
        ``'raise'``. The product of one that is computed of other variables is zero.
    ValueError
        An operator between them has no derivative.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, v = T.vectors("x", "v")
    >>> float(theano.Rop((x**2).sum(), x, v).eval({x: [1.0, 2.0], v: [1.0, 1.0]}))
    6.0
    """
    from theano.scan_module.gradient.tangent.tangents import tangents_of
    from theano.scan_module.gradient.tangent.transposed_gradients import tangents_by_transposition

    use_own_gradients(listed(f))
    options = disconnected_outputs, return_disconnected
    values, variables, directions = (
        [
            v if v is None or isinstance(v, Variable) else as_tensor_variable(v)
            for v in listed(group)
        ]
        for group in (f, wrt, eval_points)
    )
    try:
        results = tangents_of(values, variables, directions, *options)
    except NotImplementedError:
        if all(value.owner is not None or value in variables for value in values):
            # as by the operators' rules, which make zeros of those that do not depend on `wrt`
            options = "ignore", "zero"
        try:
            results = tangents_by_transposition(values, variables, directions, *options)
        except NullTypeGradError as error:
            raise ValueError(f"Rop: an operator has no derivative: {error}") from error
    return as_list_or_tuple(isinstance(f, list), isinstance(f, tuple), results)


@wraps(_pullback)
def pullback(f: Variables, *args: Any, **kwargs: Any) -> Any:
    use_own_gradients(listed(f))
    return _pullback(f, *args, **kwargs)


@wraps(_subgraph_grad)
def subgraph_grad(
    wrt: Variables,
    end: Variables,
    start: Mapping[Variable, Variable] | None = None,
    cost: Variable | None = None,
    details: bool = False,
) -> Any:
    use_own_gradients([cost, *(start or ())])
    return _subgraph_grad(wrt, end, start, cost, details)


@with_room_for_deep_graphs
def Lop(
    f: Variables,
    wrt: Variables,
    eval_points: Variables,
    consider_constant: Sequence[Variable] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
):
    """Multiply the Jacobian of `f` with respect to `wrt` by `eval_points`, from the left.

    Parameters
    ----------
    f : variable or list of variables
        What is differentiated.
    wrt : variable or list of variables
        What it is differentiated with respect to.
    eval_points : variable or list of variables
        The weights: one for each of `f`, of the same shape.
    consider_constant : list of variables, optional
        Variables through which nothing is differentiated.
    disconnected_inputs : {'raise', 'warn', 'ignore'}
        What to do about a `wrt` that no `f` depends on.

    Returns
    -------
    variable, list or tuple
        One product for each of `wrt`, of its shape; a list or tuple where `wrt` is one.

    Raises
    ------
    DisconnectedInputError
        No `f` depends on one of `wrt`, and `disconnected_inputs` is ``'raise'``.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, v = T.vectors("x", "v")
    >>> theano.Lop(x**2, x, v).eval({x: [1.0, 2.0], v: [1.0, 1.0]}).tolist()
    [2.0, 4.0]
    """
    from theano.scan_module.gradient.tangent.transposed_gradients import apart

    check_starts(consider_constant)
    derive = partial(
        _pullback,
        apart(f) if isinstance(f, list | tuple) else f,
        wrt,
        eval_points,
        consider_constant=consider_constant,
        disconnected_inputs=disconnected_inputs,
    )
    return traced(derive, f, eval_points)
