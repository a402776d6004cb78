"""`dataclass` as Python's, whose methods are written when they are first needed.

Python compiles the text of six methods for each class when it is imported, which was a third of what
the import of this package's engine took. Here the classes share all but the initializer, and that
is made when the first object is, of one code for all classes with as many fields. Nor are annotations
looked through for what is no field, which Python does for each of a thousand.
"""

import abc
import dataclasses
import inspect
import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass

__all__ = ["dataclass"]

# An object that is frozen is written past its class. To write into its dictionary takes half the time,
# and before Python 3.13 makes reading from it slower.
FIELDS_IN_DICT = sys.version_info >= (3, 13)


def _with_fields(cls: type, eq: bool, frozen: bool) -> type:
    """Return the class with the fields that its annotations name, and with methods that know them."""
    explicit = vars(cls)
    has_hash = explicit.get("__hash__") is not None
    if not _find_fields(cls):
        _by_python(cls)
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    methods: dict[str, Any] = {"__repr__": _repr_of(fields), "__init__": _first_init(cls, frozen)}
    if eq:
        values = _values_of([field.name for field in fields if field.compare])
        methods |= {"__eq__": _equality_by(values)}
        if not has_hash:
            # what can change has no hash
            methods["__hash__"] = _hash_by(values) if frozen else None
    if frozen:
        methods |= _refusals(cls, {field.name for field in fields})
    for name, method in methods.items():
        if name not in explicit or name == "__hash__":
            setattr(cls, name, method)
    return cls


_by_python = dataclasses.dataclass(init=False, repr=False, eq=False)


@_by_python
class _Example:
    """A class with all that Python's decorator leaves in one, whatever the fields."""

    value: int


_A_FIELD = vars(_Example)["__dataclass_fields__"]["value"]
_SAME_IN_ALL = {
    name: value
    for name, value in vars(_Example).items()
    if name in ("__dataclass_params__", "__replace__")
}
# what Python's decorator looks for in each annotation, which takes most of its time
_NO_FIELDS = ("ClassVar", "InitVar", "KW_ONLY")


def _find_fields(cls: type) -> bool:
    """Give a class its fields as Python's decorator does, if all are plain; whether they are."""
    explicit = vars(cls)
    annotations = inspect.get_annotations(cls)
    own: dict[str, Field] = {}
    for name, kind in annotations.items():
        default: Any = getattr(cls, name, MISSING)
        field: Field = default if isinstance(default, Field) else dataclasses.field(default=default)
        plain = isinstance(kind, str) and not any(word in kind for word in _NO_FIELDS)
        if not plain or field.kw_only is not MISSING or _is_odd(field.default):
            return False
        own[name] = field
    if any(isinstance(value, Field) and name not in own for name, value in explicit.items()):
        return False
    fields: dict[str, Field] = {}
    for base in reversed(cls.__mro__[1:]):
        fields |= getattr(base, "__dataclass_fields__", {})
    for name, field in own.items():
        field.name, field.type, field.kw_only = name, annotations[name], False
        field._field_type = _A_FIELD._field_type  # type: ignore[attr-defined]
        if explicit.get(name) is field:
            if field.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, field.default)
    given = tuple(name for name, field in (fields | own).items() if field.init)
    same = {"__match_args__": given, **_SAME_IN_ALL, "__dataclass_fields__": fields | own}
    for name, value in same.items():
        if name not in explicit or name.startswith("__dataclass"):
            setattr(cls, name, value)
    abc.update_abstractmethods(cls)
    return True


def _is_odd(default: object) -> bool:
    """Return whether a default is refused by Python's decorator, or a slot of the class."""
    return default.__class__.__hash__ is None or isinstance(default, MemberDescriptorType)


def _values_of(names: list[str]) -> Callable[[Any], Any]:
    """Return what returns the values of these attributes of an object."""
    return attrgetter(*names) if names else lambda one: ()


def _equality_by(values: Callable[[Any], Any]) -> Callable:
    def __eq__(self: object, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return __eq__


def _hash_by(values: Callable[[Any], Any]) -> Callable:
    def __hash__(self: object) -> int:
        return hash(values(self))

    return __hash__


def _repr_of(fields: tuple[Field, ...]) -> Callable:
    names = [field.name for field in fields if field.repr]

    @recursive_repr()
    def __repr__(self: object) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return __repr__


def _refusals(cls: Any, names: set[str]) -> dict[str, Callable]:
    """Methods that refuse to change the fields, and any attribute of objects of the class itself."""

    def __setattr__(self: object, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _first_init(cls: Any, frozen: bool) -> Callable:
    """Return an initializer that puts a faster one in its place."""

    def __init__(self: object, *args: Any, **kwargs: object) -> None:
        cls.__init__ = _init_of(cls, frozen)
        cls.__init__(self, *args, **kwargs)

    return __init__


def _init_of(cls: Any, frozen: bool) -> Callable:
    """Return the initializer of a class: the one of all classes with such fields, with other names in it."""
    names: dict[str, str] = {}
    known: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    defaults: list[Any] = []
    # of each field, whether it is a parameter, and whether something makes it where none is given
    kinds: list[tuple[bool, bool]] = []
    for field in dataclasses.fields(cls):
        made = field.default_factory is not MISSING
        if not (made or field.init):
            # it is the attribute of the class, or set after all others
            continue
        k = len(kinds)
        names[f"_{k}"] = field.name
        kinds.append((field.init, made))
        if made:
            known[f"_factory_{k}"] = field.default_factory
        if field.init and (made or field.default is not MISSING):
            defaults.append(MISSING if made else field.default)
        elif defaults and field.init:
            raise TypeError(f"{cls.__name__}.{field.name} has no default, and follows one that has")
    code = _code_of_init(frozen, tuple(kinds), hasattr(cls, "__post_init__"))
    own = code.replace(
        co_varnames=tuple(names.get(name, name) for name in code.co_varnames),
        co_names=tuple(names.get(name, name) for name in code.co_names),
        co_consts=tuple(names.get(each, each) for each in code.co_consts),
        co_qualname=f"{cls.__qualname__}.__init__",
    )
    return FunctionType(own, known, "__init__", tuple(defaults))


@cache
def _code_of_init(frozen: bool, kinds: tuple[tuple[bool, bool], ...], more: bool) -> CodeType:
    """Return the code of an initializer whose fields have numbers; `more` is what comes after it.

    To compile one takes longer than to put other names into a few.
    """
    parameters, lines = ["self"], []
    if frozen and FIELDS_IN_DICT and kinds:
        lines.append("_fields = self.__dict__")
    for k, (given, made) in enumerate(kinds):
        value = f"_factory_{k}()" if made else f"_{k}"
        if given:
            parameters.append(f"_{k}")
            value = f"{value} if _{k} is _MISSING else _{k}" if made else value
        if frozen and FIELDS_IN_DICT:
            lines.append(f"_fields['_{k}'] = {value}")
        else:
            lines.append(f"_set(self, '_{k}', {value})" if frozen else f"self._{k} = {value}")
    if more:
        lines.append("self.__post_init__()")
    text = f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"])
    found: dict[str, Any] = {}
    exec(text, found)
    return found["__init__"].__code__


if not TYPE_CHECKING:

    def dataclass(cls: type | None = None, /, *, eq: bool = True, frozen: bool = False) -> Any:
        """Make a class one of data, as `dataclasses.dataclass` does.

        Parameters
        ----------
        cls : type, optional
            Without it, what is returned takes it.
        eq : bool
            Whether objects are equal whose fields are.
        frozen : bool
            Whether fields may not be assigned.

        Returns
        -------
        type or callable
        """
        if cls is None:
            return lambda cls: _with_fields(cls, eq, frozen)
        return _with_fields(cls, eq, frozen)
