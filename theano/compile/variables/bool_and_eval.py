"""Boolean values, comparisons, indexing and `eval` of variables, as Theano meant them.

In modules that use Theano, `bool(variable)`, ``variable < other``, ``variable[:, None]`` and
`variable.eval()` mean what they meant there.

The one place where PyTensor methods are replaced. They do what PyTensor's do for everyone
else; whose module calls decides, see `theano.source_locations.modules`.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

from pytensor.graph.basic import Variable

from theano.compile.variables.evaluate import evaluate
from theano.compile.variables.new_axes import without_unnamed_axes
from theano.pytensor_internals.operations.scalar import ScalarOperators
from theano.pytensor_internals.operations.tensor import TensorOperators
from theano.source_locations.modules import is_own, uses_theano

# Set on what an operator of order gives: ``a < b < c`` means ``(a < b) and (b < c)`` to Python.
_ORDER = "_is_order"


def _bool(pytensor_bool: Callable, variable: Variable) -> bool:
    if not uses_theano(sys._getframe(2)):
        return pytensor_bool(variable)
    if getattr(variable, _ORDER, False):
        raise TypeError(
            "Variables do not support boolean operations: this one is what <, <=, > or >= gave. "
            "Write T.minimum and T.maximum for min and max, T.switch(a < b, x, y) or ifelse for if, "
            "T.and_(a < b, b < c) for a < b < c, and T.lt, T.le, T.gt or T.ge where `x or default` "
            "asks whether a variable was given."
        )
    return True


def _compared(pytensor_operator: Callable, one: object, other: object) -> Any:
    made = pytensor_operator(one, other)
    if isinstance(made, Variable) and uses_theano(sys._getframe(2)):
        setattr(made, _ORDER, True)
    return made


def _evaluated(
    pytensor_eval: Callable, variable: Variable, inputs_to_values: Any = None, **kwargs: object
) -> Any:
    caller = sys._getframe(2)
    if not uses_theano(caller):
        return pytensor_eval(variable, inputs_to_values, **kwargs)
    name = f"{caller.f_code.co_filename}:{caller.f_lineno}"
    return evaluate(variable, inputs_to_values, name, **kwargs)


def _indexed(pytensor_getitem: Callable, variable: Variable, index: object) -> Any:
    if index is None or (isinstance(index, tuple) and any(entry is None for entry in index)):
        caller = sys._getframe(2)
        # this package indexes as NumPy does
        if uses_theano(caller) and not is_own(caller):
            variable = without_unnamed_axes(variable, index)
    return pytensor_getitem(variable, index)


def _replaced(holder: type, name: str, returned: Callable) -> None:
    """Put a method in place of PyTensor's, which it is given first."""
    method = vars(holder)[name]
    # where this package is imported again, the method in place is its own
    original = getattr(method, "__wrapped__", method)

    @functools.wraps(original)
    def asked(*args: object, **kwargs: object) -> Any:
        return returned(original, *args, **kwargs)

    setattr(holder, name, asked)


def install() -> None:
    """Have variables behave in modules that use Theano as Theano's did."""
    for operators in (TensorOperators, ScalarOperators):
        _replaced(operators, "__bool__", _bool)
    # Theano's scalars are true whatever made them
    for name in ("__lt__", "__le__", "__gt__", "__ge__"):
        _replaced(TensorOperators, name, _compared)
    _replaced(TensorOperators, "__getitem__", _indexed)
    _replaced(Variable, "eval", _evaluated)
