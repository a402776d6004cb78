"""Test values in an operator's make_node: what they are, and the message where one is missing."""

import warnings
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.tensor import as_tensor_variable

from theano.configdefaults import config
from theano.gof.test_values import get_test_value as _value_of


def get_test_value(v: Any) -> Any:
    """Return the value that stands for a variable while its graph is built.

    Parameters
    ----------
    v : Variable or anything that `as_tensor_variable` accepts

    Raises
    ------
    AttributeError
        When the variable has no test value.
    """
    return _value_of(v if isinstance(v, Variable) else as_tensor_variable(v))


def missing_test_message(msg: str) -> None:
    """Report that a test value is missing, the way the flag compute_test_value asks for.

    Raises
    ------
    AttributeError
        When the flag is 'raise'.
    """
    if config.compute_test_value == "raise":
        raise AttributeError(msg)
    if config.compute_test_value == "warn":
        warnings.warn(msg, stacklevel=2)


def debug_error_message(msg: str) -> None:
    """Report that test values show an error: a warning if the flag compute_test_value is 'warn'.

    Raises
    ------
    ValueError
        When the flag is not 'warn'.
    """
    if config.compute_test_value != "warn":
        raise ValueError(msg)
    warnings.warn(msg, stacklevel=2)


def debug_assert(condition: object, msg: str = "debug_assert failed") -> None:
    """Assert a condition on test values: a warning if the flag compute_test_value is 'warn'.

    Raises
    ------
    AssertionError
        When the condition is false and the flag is not 'warn'.
    """
    if condition:
        return
    if config.compute_test_value != "warn":
        raise AssertionError(msg)
    warnings.warn(msg, stacklevel=2)


def get_debug_values(*args: object) -> list:
    """Return a list of one element, the test values of variables, or of none.

    Parameters
    ----------
    *args : variables

    Returns
    -------
    list
        Empty where the flag compute_test_value is 'off' or a value is missing; otherwise of the
        value of the only variable, or of the tuple of the values of all.

    Examples
    --------
    >>> import theano.tensor as T
    >>> from theano.gof.op import get_debug_values
    >>> get_debug_values(T.dvector())
    []
    """
    if config.compute_test_value == "off":
        return []
    values = []
    for number, variable in enumerate(args):
        try:
            values.append(get_test_value(variable))
        except AttributeError:
            name = getattr(variable, "name", None)
            called = f"Argument {number}('{name}')" if name is not None else f"Argument {number}"
            missing_test_message(f"{called} has no test value")
            return []
    return values if len(values) == 1 else [tuple(values)]
