"""Theano 1.0's `theano.gradient`: symbolic derivatives, and ways to shape them."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pytensor.compile.ops import ViewOp
from pytensor.gradient import (
    DisconnectedGrad,
    DisconnectedInputError,
    DisconnectedType,
    GradientError,
    NullTypeGradError,
    UndefinedGrad,
    ZeroGrad,
    disconnected_grad,
    disconnected_grad_,
    disconnected_type,
    grad_not_implemented,
    grad_undefined,
    numeric_grad,
    undefined_grad,
    undefined_grad_,
    zero_grad,
    zero_grad_,
)
from pytensor.gradient import grad as _grad
from pytensor.gradient import hessian as _hessian
from pytensor.gradient import jacobian as _jacobian
from pytensor.graph.basic import Variable
from pytensor.graph.null_type import NullType, null_type

from theano.compile.mode import get_default_mode
from theano.configdefaults import config
from theano.derivatives.arguments import (
    WrongArgumentError,
    check_cost,
    check_starts,
    check_vectors,
)
from theano.derivatives.compared import verify_grad
from theano.derivatives.dtypes import narrow_gradients
from theano.derivatives.jacobian_products import Lop, Rop, pullback, subgraph_grad
from theano.derivatives.jacobians import rows_at_once
from theano.derivatives.lines import with_lines
from theano.derivatives.shaped import GradClip, GradScale, grad_clip, grad_scale
from theano.derivatives.traced import Variables, listed, traced
from theano.gof.test_values import compute_possible_test_values, tests_only_results
from theano.pytensor_internals.functions.compiling import as_list_or_tuple, mode_not_slow
from theano.pytensor_internals.graphs.annotations import (
    ForDisconnected,
    OnDisconnected,
    only_result,
)
from theano.support.garbage_collection import rare_collections
from theano.support.recursion_depth import with_room_for_deep_graphs
from theano.support.views_as_lists import as_list

__all__ = [
    "ConsiderConstant",
    "DisconnectedGrad",
    "DisconnectedInputError",
    "DisconnectedType",
    "GradClip",
    "GradScale",
    "GradientError",
    "Lop",
    "NullType",
    "NullTypeGradError",
    "Rop",
    "UndefinedGrad",
    "ViewOp",
    "ZeroGrad",
    "consider_constant",
    "consider_constant_",
    "disconnected_grad",
    "disconnected_grad_",
    "disconnected_type",
    "format_as",
    "grad",
    "grad_clip",
    "grad_not_implemented",
    "grad_scale",
    "grad_undefined",
    "hessian",
    "jacobian",
    "mode_not_slow",
    "null_type",
    "numeric_grad",
    "pullback",
    "subgraph_grad",
    "undefined_grad",
    "undefined_grad_",
    "verify_grad",
    "zero_grad",
    "zero_grad_",
]

format_as = as_list_or_tuple

# Theano's ConsiderConstant has a zero gradient, which is what ZeroGrad does.
ConsiderConstant = ZeroGrad
consider_constant = zero_grad
consider_constant_ = zero_grad_


@with_room_for_deep_graphs
def grad(
    cost: Variable | None,
    wrt: Variables,
    consider_constant: Sequence[Variable] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
    add_names: bool = True,
    known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: ForDisconnected = "zero",
    null_gradients: str = "raise",
) -> Any:
    """Return the gradient of a cost by a variable, or by each of several.

    Parameters
    ----------
    cost
        A variable without dimensions, of a floating-point or complex dtype; None if
        ``known_grads`` is given.
    wrt
        A variable or a list of variables, of any shape.
    consider_constant
        Variables that are taken for constants.
    disconnected_inputs : {'raise', 'warn', 'ignore'}
        What to do about a variable that the cost does not depend on.
    add_names
        Whether a gradient is named after the cost and the variable.
    known_grads
        Gradients by variables, to start from.
    return_disconnected : {'zero', 'none', 'disconnected'}
        What is returned for a variable that the cost does not depend on.
    null_gradients : {'raise', 'return'}
        What to do about a variable whose gradient is not defined.

    Returns
    -------
    Variable, or list or tuple of variables, as ``wrt`` is
        Each of the shape of its variable, and of its dtype; of ``floatX`` for an integer one.

    Raises
    ------
    TypeError
        If the cost is no scalar variable, or ``wrt`` is no variable, or holds what is none, or
        ``known_grads`` is no dictionary.
    ValueError
        If ``consider_constant`` is one variable.
    DisconnectedInputError
        If the cost does not depend on a variable, which the message names.
    NotImplementedError
        If an operation on the way has no gradient.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.vector("x")
    >>> slope = theano.grad((x**2).sum(), x)
    >>> theano.function([x], slope)([1.0, 2.0, 3.0])
    array([2., 4., 6.])
    """
    check_cost(cost)
    wrt = as_list(wrt)
    for variable in listed(wrt):
        if not isinstance(variable, Variable):
            raise TypeError(f"grad: expected wrt to be variables, got {variable!r}")
    check_starts(consider_constant, known_grads)
    outputs = [v for v in (cost, *(known_grads or ())) if v is not None]

    def derive(
        disconnected_inputs: OnDisconnected,
        return_disconnected: ForDisconnected,
        null_gradients: str = null_gradients,
        wrt: Variables = wrt,
        constant: Sequence[Variable] = (),
    ) -> Any:
        make = partial(
            _grad,
            cost,
            listed(wrt),
            [*(consider_constant or ()), *constant],
            disconnected_inputs,
            add_names,
            known_grads,
            return_disconnected,
            null_gradients,
        )
        with rare_collections():
            return traced(make, outputs, list((known_grads or {}).values()))

    tolerant = partial(derive, "ignore", "none", "return")
    try:
        derived = with_lines(tolerant, outputs, listed(wrt)) if config.profile else [None]
        if any(g is None or isinstance(g.type, NullType) for g in derived):
            derived = listed(derive(disconnected_inputs, return_disconnected))
        derived = narrow_gradients(
            derived, listed(wrt), outputs, lambda constant: listed(tolerant(constant=constant))
        )
        compute_possible_test_values(derived)
        return as_list_or_tuple(isinstance(wrt, list), isinstance(wrt, tuple), derived)
    except NotImplementedError as error:
        raise _without_gradient(error) from error
    except TypeError as error:
        raise _of_complex_numbers(error) from error
    except DisconnectedInputError as error:
        found = zip(listed(wrt), listed(derive("ignore", "none")), strict=True)
        names = ", ".join(str(variable) for variable, gradient in found if gradient is None)
        raise DisconnectedInputError(
            f"grad: the cost does not depend on {names}, or only through operations that have no"
            " gradient, such as a shape or an index. Leave it out of wrt, or pass"
            f" disconnected_inputs='ignore' for a gradient of zeros.\n{str(error).strip()}"
        ) from None


def _without_gradient(error: NotImplementedError) -> NotImplementedError:
    """Return the error for an operation without a gradient; another one as it is."""
    found = re.fullmatch(r"(?:pullback|L_op|grad) not implemented for (.*)", str(error))
    if found is None:
        return error
    return NotImplementedError(
        f"grad: the operation {found[1]} has no gradient. Define its grad (doc/how_to/own_operation.md), or"
        " leave out what comes through it: consider_constant, or theano.gradient.disconnected_grad"
    )


def _of_complex_numbers(error: TypeError) -> TypeError:
    """Return the error for a gradient of complex numbers; another one as it is."""
    found = re.match(r"(.*)\.grad illegally .*\(Input index \d+, dtype (complex\d+)\)", str(error))
    if found is None:
        return error
    return TypeError(
        f"grad: the gradient by an input of {found[1]} is {found[2]}, and gradients are real. Compute"
        " with real and imaginary parts in their own arrays, or leave out what comes through it:"
        " theano.gradient.disconnected_grad"
    )


@tests_only_results
def jacobian(
    expression: Variable,
    wrt: Variables,
    consider_constant: Sequence[Variable] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
    vectorize: bool = True,
) -> Any:
    """Return the gradients of each element of a vector.

    Parameters
    ----------
    expression
        A vector or a scalar.
    wrt, consider_constant, disconnected_inputs
        As of `grad`.
    vectorize
        Whether the gradients of all elements are computed at once, where each operation has a form
        for that; else one after the other, in a loop, which takes less memory.

    Returns
    -------
    Variable, or list or tuple of variables, as ``wrt`` is
        An element's gradient in each row: of shape ``(n, *shape)`` for n elements and a variable
        of that shape.

    Raises
    ------
    WrongArgumentError
        If the expression is no vector and no scalar.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.vector("x")
    >>> rows = theano.gradient.jacobian(x**2, x)
    >>> theano.function([x], rows)([1.0, 2.0])
    array([[2., 0.],
           [0., 4.]])
    """
    check_starts(consider_constant)
    if not isinstance(expression, Variable) or expression.type.ndim > 1:
        raise WrongArgumentError(f"jacobian: expected a vector or a scalar, got {expression!r}")
    options = (consider_constant, disconnected_inputs)

    def derive() -> Any:
        rows = None
        if vectorize and not all(expression.type.broadcastable):
            rows = rows_at_once(expression, listed(wrt), *options)
        if rows is None:
            return _on_our_loops(_jacobian(expression, wrt, *options))
        return as_list_or_tuple(isinstance(wrt, list), isinstance(wrt, tuple), rows)

    return traced(derive, expression)


@tests_only_results
def hessian(
    cost: Variable,
    wrt: Variables,
    consider_constant: Sequence[Variable] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
    vectorize: bool = True,
) -> Any:
    """Return the second derivatives of a cost by each vector.

    Parameters
    ----------
    cost
        A scalar.
    wrt
        A vector or a list of vectors.
    consider_constant, disconnected_inputs
        As of `grad`.
    vectorize
        As of `jacobian`.

    Returns
    -------
    Variable, or list or tuple of variables, as ``wrt`` is
        Each of shape ``(n, n)`` for a vector of n elements.

    Raises
    ------
    WrongArgumentError
        If the cost is no scalar, or ``wrt`` holds something else than vectors.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.vector("x")
    >>> second = theano.gradient.hessian((x**3).sum(), x)
    >>> theano.function([x], second)([1.0, 2.0])
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    check_starts(consider_constant)
    if not isinstance(cost, Variable) or cost.type.ndim != 0:
        raise WrongArgumentError(f"hessian: expected a scalar as cost, got {cost!r}")
    check_vectors("hessian", listed(wrt))

    def of_one(vector: Variable) -> Variable:
        slope = only_result(_grad(cost, vector, consider_constant, disconnected_inputs))
        # a slope may be the same everywhere
        rows = rows_at_once(slope, [vector], consider_constant, "ignore") if vectorize else None
        if rows is not None:
            return rows[0]
        return _on_our_loops(_hessian(cost, vector, consider_constant, disconnected_inputs))

    def derive() -> Any:
        found = [of_one(vector) for vector in listed(wrt)]
        return as_list_or_tuple(isinstance(wrt, list), isinstance(wrt, tuple), found)

    return traced(derive, cost)


def _on_our_loops(results: Any) -> Any:
    """Results of loops that PyTensor made, read from our loops, whose steps have our modes."""
    # Imported when first used: programs without loops and gradients need none of it.
    from theano.scan_module.adopt import read_from_our_loop

    adopted: dict = {}
    read = [read_from_our_loop(value, adopted, get_default_mode()) for value in listed(results)]
    return as_list_or_tuple(isinstance(results, list), isinstance(results, tuple), read)
