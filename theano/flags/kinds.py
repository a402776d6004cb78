"""Kinds of flags, by the values that they may have: those of the table, and those by which programs add flags."""

from collections.abc import Callable, Iterable
from typing import Any

from theano.support.data_classes import dataclass
from theano.support.formatting.nearest_name import did_you_mean


@dataclass(frozen=True)
class Choice:
    """A string out of a fixed set."""

    options: tuple[str, ...]

    def read(self, raw: object) -> str:
        value = str(raw)
        if value in self.options:
            return value
        raise ValueError(
            f"valid values are {listed(self.options)}{did_you_mean(value, self.options)}"
        )

    def __str__(self) -> str:
        return " | ".join(self.options)


@dataclass(frozen=True)
class Boolean:
    """A boolean, written True, true, 1, False, false or 0."""

    def read(self, raw: object) -> bool:
        if str(raw) in ("True", "true", "1"):
            return True
        if str(raw) in ("False", "false", "0"):
            return False
        raise ValueError(
            f"valid values are True and False{did_you_mean(str(raw), ('True', 'False'))}"
        )

    def __str__(self) -> str:
        return "True | False"


@dataclass(frozen=True)
class Number:
    """An integer or a float, optionally with a least value, and with a greatest."""

    kind: type
    least: float | None = None
    most: float | None = None

    def read(self, raw: object) -> Any:
        try:
            value = self.kind(raw)
        except (TypeError, ValueError):
            raise ValueError(f"expected {self}") from None
        too_small = self.least is not None and value < self.least
        if too_small or (self.most is not None and value > self.most):
            raise ValueError(f"expected {self}")
        return value

    def __str__(self) -> str:
        if self.most is not None:
            return f"{self.kind.__name__} from {self.least} to {self.most}"
        return self.kind.__name__ + ("" if self.least is None else f" >= {self.least}")


@dataclass(frozen=True)
class Text:
    """Any string; with a pattern check when one is given."""

    check: Callable[[str], str | None] | None = None
    meaning: str = "str"

    def read(self, raw: object) -> str:
        value = str(raw)
        complaint = self.check(value) if self.check else None
        if complaint:
            raise ValueError(complaint)
        return value

    def __str__(self) -> str:
        return self.meaning


@dataclass(frozen=True)
class Anything:
    """A value that is checked where it is used."""

    meaning: str

    def read(self, raw: object) -> object:
        return raw

    def __str__(self) -> str:
        return self.meaning


class ConfigParam:
    """The default of a flag that a program adds, and what its values may be.

    Parameters
    ----------
    default : object or callable
        The value when the user set nothing, or what computes it.
    filter : callable, optional
        Returns the value that is meant by what the user gave; raises ValueError if none is.
    allow_override : bool, optional
        Whether the flag can be assigned.
    """

    def __init__(
        self,
        default: object,
        filter: Callable[[Any], Any] | None = None,
        allow_override: bool = True,
    ):
        self.default, self.filter, self.allow_override = default, filter, allow_override

    def read(self, raw: object) -> Any:
        return self.filter(raw) if self.filter is not None else raw

    def __str__(self) -> str:
        return type(self).__name__


class EnumStr(ConfigParam):
    """A flag that is the string `default` or one of `options`, after `convert` if it is given."""

    def __init__(
        self,
        default: str,
        *options: str,
        convert: Callable[[Any], Any] | None = None,
        allow_override: bool = True,
    ):
        self.all = (default, *options)
        if not all(isinstance(option, str) for option in self.all):
            raise ValueError(f"Valid values for an EnumStr should be strings, got {self.all}")
        choice = Choice(self.all)

        def chosen(raw: object) -> str:
            return choice.read(convert(raw) if convert is not None else raw)

        super().__init__(default, chosen, allow_override)

    def __str__(self) -> str:
        return " | ".join(self.all)


class TypedParam(ConfigParam):
    """A flag that `mytype` makes of what the user gave, and that `is_valid` accepts."""

    def __init__(
        self,
        default: object,
        mytype: Callable[[Any], Any],
        is_valid: Callable[[Any], bool] | None = None,
        allow_override: bool = True,
    ):
        self.mytype = mytype

        def typed(raw: object) -> Any:
            value = mytype(raw)
            if is_valid is not None and not is_valid(value):
                raise ValueError(f"{value!r} is not valid")
            return value

        super().__init__(default, typed, allow_override)

    def __str__(self) -> str:
        return getattr(self.mytype, "__name__", str(self.mytype))


def _param_of(mytype: Callable[[Any], Any], doc: str) -> Callable[..., TypedParam]:
    def param(
        default: object,
        is_valid: Callable[[Any], bool] | None = None,
        allow_override: bool = True,
    ) -> TypedParam:
        return TypedParam(default, mytype, is_valid, allow_override)

    param.__doc__ = doc
    return param


StrParam = _param_of(str, "A flag that is a string.")
IntParam = _param_of(int, "A flag that is an integer.")
FloatParam = _param_of(float, "A flag that is a float.")
BoolParam = _param_of(Boolean().read, "A flag that is a boolean.")


def listed(options: Iterable[str]) -> str:
    return ", ".join(repr(option) for option in options)
