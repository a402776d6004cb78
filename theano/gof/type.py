"""Types of variables, by Theano 1.0's names; the base class of those that users write."""
# ruff: noqa: F401 -- this file re-exports

from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.type import Type as PureType

from theano.gof.graph import Constant
from theano.gof.instances import including_instances_of
from theano.gof.utils import hashtype
from theano.pytensor_internals.functions.c_code import (
    CDataType,
    CDataTypeConstant,
    CEnumType,
    CLinkerType,
    EnumList,
    EnumType,
    Generic,
    generic,
)
from theano.pytensor_internals.functions.c_code import CType as _PyTensorCType
from theano.pytensor_internals.graphs.graph import MethodNotDefined
from theano.pytensor_internals.python_helpers import Singleton


@including_instances_of(_PyTensorCType)
class Type(_PyTensorCType):
    """The base class of a type that a user writes.

    A subclass defines `filter`, which checks or converts a value. `Variable` and `Constant` may
    name the classes of its variables and constants. A subclass that defines `__eq__` alone is
    hashed by its class.

    Raises
    ------
    MethodNotDefined
        A value is given to a variable whose type defines no `filter`.

    Examples
    --------
    >>> import theano
    >>> class Text(theano.gof.Type):
    ...     def filter(self, value, strict=False, allow_downcast=None):
    ...         if not isinstance(value, str):
    ...             raise TypeError("a string is expected")
    ...         return value
    ...     def __eq__(self, other):
    ...         return type(self) is type(other)
    >>> Text()("x").type == Text()
    True
    """

    Variable: type = Variable
    Constant: type = Constant
    constant_type = Constant  # type: ignore[assignment]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        defined = vars(cls)
        if "Variable" in defined:
            cls.variable_type = defined["Variable"]
        if "Constant" in defined:
            cls.constant_type = defined["Constant"]
        if "__eq__" in defined and defined.get("__hash__") is None:
            # Python takes away the inherited one, but graphs are hashed by their types.
            cls.__hash__ = hashtype  # type: ignore[method-assign, assignment]

    def filter(self, data, strict=False, allow_downcast=None):
        raise MethodNotDefined("filter", type(self), type(self).__name__)

    def c_declare(self, name, sub, check_input=True):
        raise MethodNotDefined("c_declare", type(self), type(self).__name__)

    def c_init(self, name, sub):
        raise MethodNotDefined("c_init", type(self), type(self).__name__)

    def c_extract(self, name, sub, check_input=True, **kwargs):
        raise MethodNotDefined("c_extract", type(self), type(self).__name__)

    def c_cleanup(self, name, sub):
        raise MethodNotDefined("c_cleanup", type(self), type(self).__name__)

    def c_sync(self, name, sub):
        raise MethodNotDefined("c_sync", type(self), type(self).__name__)

    def c_code_cache_version(self):
        return ()


class SingletonType(Type, Singleton):
    """A type without properties, of which each class has one instance."""
