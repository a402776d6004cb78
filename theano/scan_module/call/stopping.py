"""The condition by which a step says that it is the last one."""

from __future__ import annotations

from typing import Any

from pytensor.tensor.basic import as_tensor_variable

from theano.pytensor_internals.graphs.scan import until as _until


class until(_until):
    """The last result of a step, for the loop to end with the step in which a condition is true.

    Parameters
    ----------
    condition
        A scalar variable; what is not zero is true.

    Raises
    ------
    AssertionError
        If the condition has a dimension.
    TypeError
        If the condition is one of Python's booleans, or cannot be an array.

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> from theano.scan_module import until
    >>> values, _ = theano.scan(lambda v: (2 * v, until(v > 3)), outputs_info=T.ones(()), n_steps=9)
    >>> theano.function([], values)()
    array([2., 4., 8.])
    """

    def __init__(self, condition: Any):
        if isinstance(condition, bool):
            raise TypeError(
                f"until: expected a scalar variable, got {condition}, which Python computed when the"
                " step was built, as it does of `a == b` and `not a`; write T.eq(a, b) and"
                " T.eq(a, 0), and T.constant(0) for what is never true"
            )
        try:
            self.condition = as_tensor_variable(condition)
        except NotImplementedError:
            raise TypeError(f"until: expected a scalar variable, got {condition!r}") from None
        if self.condition.ndim != 0:
            raise AssertionError(
                f"until: expected one boolean, got {self.condition}, {self.condition.type}; reduce"
                " it to one with T.all or T.any"
            )
