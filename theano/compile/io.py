"""Descriptions of the inputs and outputs of a compiled function."""

import warnings

from pytensor.compile.io import In as PyTensorIn
from pytensor.compile.io import Out, SymbolicInput, SymbolicOutput
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable

from theano.pytensor_internals.functions.linking import Container

__all__ = ["In", "Out", "Param", "SymbolicInput", "SymbolicOutput"]


class In(PyTensorIn):
    """An input of a function, with what the function may do to it.

    Parameters
    ----------
    variable : Variable
        The variable that takes the value passed.
    name : str, optional
        Name as a keyword argument; by default the variable's.
    value : optional
        Default of the argument. With `update`, the state's first value: it is kept between calls.
    update : Variable, optional
        What replaces the value after each call.
    mutable : bool, optional
        Whether the function may overwrite the value passed; by default whether there is an update.
    strict : bool, optional
        Whether the value passed must have exactly the variable's type.
    allow_downcast : bool, optional
        True lets a value lose precision, False does not, None does so for Python floats only.
    autoname : bool, optional
        Whether the variable's name is the default of `name`.
    implicit : bool, optional
        Whether callers may not pass a value.
    borrow : bool, optional
        Whether an output may share memory with the value passed; by default `mutable`.
    shared : bool, optional
        For internal use.

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> x, y = T.scalars("x", "y")
    >>> f = theano.function([x, theano.In(y, value=10)], x + y)
    >>> float(f(1)), float(f(1, 2))
    (11.0, 3.0)
    """

    def __init__(
        self,
        variable: Variable,
        name: str | None = None,
        value: object = None,
        update: Variable | None = None,
        mutable: bool | None = None,
        strict: bool = False,
        allow_downcast: bool | None = None,
        autoname: bool = True,
        implicit: bool | None = None,
        borrow: bool | None = None,
        shared: bool = False,
    ):
        stored = isinstance(value, Container | SharedVariable)
        self.has_default = value is not None and not stored
        super().__init__(
            variable,
            name=name,
            value=value if stored else None,
            update=update,
            mutable=mutable,
            strict=strict,
            allow_downcast=allow_downcast,
            autoname=autoname,
            implicit=False if self.has_default else implicit,
            borrow=borrow,
            shared=shared,
        )
        if self.has_default:
            self.value = variable.type.filter(value, strict=strict, allow_downcast=allow_downcast)
            self.implicit = bool(implicit)


class Param(In):
    """The older name of `In`, whose `value` it calls `default`. Deprecated."""

    def __init__(
        self,
        variable: Variable,
        default: object = None,
        name: str | None = None,
        mutable: bool = False,
        strict: bool = False,
        allow_downcast: bool | None = None,
        implicit: bool | None = None,
        borrow: bool | None = None,
    ):
        warnings.warn(
            "The Param class is deprecated. Replace Param(default=N) by theano.In(value=N)",
            stacklevel=2,
        )
        super().__init__(
            variable,
            name=name,
            value=default,
            mutable=mutable,
            strict=strict,
            allow_downcast=allow_downcast,
            implicit=implicit,
            borrow=borrow,
        )
