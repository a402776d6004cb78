"""Flags: their sources, their checks, and the object `theano.config`.

A flag's value comes, in rising order of precedence, from its default, from the files named by
THEANORC (``~/.theanorc``), from the environment variable THEANO_FLAGS, and from assignment.
The table of flags itself is in `theano.configdefaults`.
"""

import functools
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from theano.flags.flag import Flag, Kind, TheanoConfigWarning, caller_stacklevel, check_value
from theano.flags.forwarding import forward_to_pytensor, pytensor_config, read_from_pytensor
from theano.flags.kinds import (
    Anything,
    Boolean,
    BoolParam,
    Choice,
    ConfigParam,
    EnumStr,
    FloatParam,
    IntParam,
    Number,
    StrParam,
    Text,
    TypedParam,
)
from theano.flags.sources import (
    THEANO_FLAGS_DICT,
    config_files,
    parse_config_string,
    read_files,
    user_settings,
)
from theano.support.formatting.nearest_name import did_you_mean

__all__ = [
    "THEANO_FLAGS_DICT",
    "AddConfigVar",
    "Anything",
    "BoolParam",
    "Boolean",
    "Choice",
    "ConfigParam",
    "EnumStr",
    "Flag",
    "FloatParam",
    "IntParam",
    "Kind",
    "Number",
    "Section",
    "StrParam",
    "Text",
    "TheanoConfigParser",
    "TheanoConfigWarning",
    "TypedParam",
    "caller_stacklevel",
    "change_flags",
    "check_value",
    "config",
    "config_files",
    "forward_to_pytensor",
    "parse_config_string",
    "read_files",
    "user_settings",
]


class Section:
    """A group of flags: `theano.config` itself, or one of its sections such as `config.scan`."""

    __slots__ = ("_prefix", "_root")

    def __init__(self, root: "TheanoConfigParser", prefix: str):
        object.__setattr__(self, "_root", root)
        object.__setattr__(self, "_prefix", prefix)

    def __getattr__(self, option: str) -> Any:
        if option.startswith("__"):
            raise AttributeError(option)
        return self._root.read(self._prefix + option)

    def __setattr__(self, option: str, value: object) -> None:
        self._root.assign(self._prefix + option, value)

    def __copy__(self) -> "Section":
        # there is one value of each flag: a copy reads it, too
        return self

    def __deepcopy__(self, memo: dict) -> "Section":
        return self

    def __dir__(self) -> list[str]:
        inside = [n for n in self._root.flags if n.startswith(self._prefix)]
        return sorted({n[len(self._prefix) :].split(".")[0] for n in inside})


class TheanoConfigParser(Section):
    """All flags. Read and assign them as attributes: ``config.floatX``, ``config.scan.save``.

    Raises
    ------
    AttributeError
        When the name is not a flag; the message names the nearest flag.
    ValueError
        When a value is not valid; the message names the valid ones.
    """

    __slots__ = ("_sections", "_values", "_warned", "_watchers", "flags")

    def __init__(self) -> None:
        super().__init__(self, "")
        for name, value in (
            ("flags", {}),
            ("_sections", {}),
            ("_values", {}),
            ("_warned", set()),
            ("_watchers", {}),
        ):
            object.__setattr__(self, name, value)

    def add(self, flag: Flag) -> None:
        """Make a flag known; its default holds until it is set."""
        if flag.name in self.flags:
            raise AttributeError(f"This name is already taken: {flag.name}")
        self.flags[flag.name] = flag
        parts = flag.name.split(".")[:-1]
        for end in range(1, len(parts) + 1):
            prefix = ".".join(parts[:end])
            self._sections[prefix] = Section(self, prefix + ".")

    def flag(self, name: str) -> Flag:
        """Return the row of a flag; an unknown name is an AttributeError naming the nearest."""
        try:
            return self.flags[name]
        except KeyError:
            hint = did_you_mean(name, self.flags)
            raise AttributeError(f"theano.config has no flag {name!r}{hint}") from None

    def read(self, name: str) -> Any:
        """Return the value of a flag, or the section of that name."""
        if name in self._sections:
            return self._sections[name]
        flag = self.flag(name)
        if flag.pytensor:
            value = read_from_pytensor(flag.pytensor)
            # folders are text in Theano
            return str(value) if isinstance(value, PurePath) else value
        return self._values.get(name, flag.default)

    def assign(self, name: str, value: object) -> None:
        """Set a flag, as ``config.name = value`` does."""
        flag = self.flag(name)
        if not flag.mutable:
            raise AttributeError(
                f"Can't change the value of {name!r} after initialization: "
                f"set THEANO_FLAGS={name}=... before the program starts"
            )
        checked = check_value(flag, value)
        if flag.pytensor:
            self.warn_of_no_effect(flag, checked)
            setattr(pytensor_config(), flag.pytensor, checked)
        else:
            self.keep(flag, checked)

    def keep(self, flag: Flag, value: object) -> None:
        """Store a checked value of a flag that PyTensor does not hold, and notify its watcher.

        What the watcher refuses, by an error, is not stored.
        """
        if value != flag.default:
            self.warn_of_no_effect(flag, value)
        before = self.read(flag.name)
        self._values[flag.name] = value
        try:
            if flag.name in self._watchers:
                self._watchers[flag.name](value)
        except Exception:
            self._values[flag.name] = before
            raise

    def warn_of_no_effect(self, flag: Flag, value: object) -> None:
        """Warn once of a flag that was set and changes nothing, with what does instead."""
        if not flag.no_effect or flag.name in self._warned or value in ("", False):
            return
        self._warned.add(flag.name)
        warnings.warn(
            f"The flag {flag.name}={value} has no effect: {flag.no_effect}",
            TheanoConfigWarning,
            stacklevel=caller_stacklevel(),
        )

    def watch(self, name: str, action: Callable[[Any], None]) -> None:
        """Call `action` with the value of the flag now and whenever it is set."""
        self._watchers[self.flag(name).name] = action
        action(self.read(name))

    def change_flags(self, args: object = (), **kwargs: object) -> "change_flags":
        """Return a context manager, also a decorator, that sets flags and restores them."""
        return change_flags(args, _config=self, **kwargs)

    def __str__(self) -> str:
        return "\n".join(
            f"{name} ({flag.kind})\n    Doc:  {flag.doc}\n    Value:  {self.read(name)}\n"
            for name, flag in self.flags.items()
        )


class ConfigVariable:
    """One flag, as programs that go through all of them read and set it.

    Attributes
    ----------
    fullname : str
        The flag's name, with dots between section and option.
    doc : str
        What the flag does.
    """

    def __init__(self, flag: Flag):
        self.fullname, self.doc = flag.name, flag.doc

    def __repr__(self) -> str:
        return f"ConfigVariable({self.fullname})"

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return config.read(self.fullname)

    def __set__(self, instance: object, value: object) -> None:
        config.assign(self.fullname, value)


def __getattr__(name: str) -> Any:
    if name == "_config_var_list":
        return [ConfigVariable(flag) for flag in config.flags.values()]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class change_flags:
    """Set flags within a ``with`` block or a decorated function, then restore them.

    Parameters
    ----------
    args : mapping or iterable of pairs
        Names with dots, and their values: ``change_flags({"scan.save": "all"})``.
    **kwargs
        Names without dots; two underscores stand for a dot: ``change_flags(scan__save="all")``.

    Examples
    --------
    >>> import theano
    >>> with theano.change_flags(exception_verbosity="high"):
    ...     theano.config.exception_verbosity
    'high'
    """

    def __init__(self, args: Any = (), _config: TheanoConfigParser | None = None, **kwargs: object):
        self._config = config if _config is None else _config
        self.new_vals = dict(args)
        self.new_vals.update({name.replace("__", "."): value for name, value in kwargs.items()})
        for name in self.new_vals:
            self._config.flag(name)
        self._saved: list[dict[str, Any]] = []

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def with_flags(*args: object, **kwargs: object) -> Any:
            with self:
                return function(*args, **kwargs)

        return with_flags

    def __enter__(self) -> None:
        self._saved.append({name: self._config.read(name) for name in self.new_vals})
        try:
            for name, value in self.new_vals.items():
                self._config.assign(name, value)
        except Exception:
            self.__exit__()
            raise

    def __exit__(self, *exception: object) -> None:
        for name, value in self._saved.pop().items():
            if self._config.read(name) != value:
                self._config.assign(name, value)


config = TheanoConfigParser()


def AddConfigVar(
    name: str, doc: str, configparam: ConfigParam, root: object = None, in_c_key: bool = True
) -> None:
    """Add a flag to `theano.config`; its value is what the user set, or the default.

    Parameters
    ----------
    name : str
        Full name, with dots between section and option.
    doc : str
        What the flag does.
    configparam : ConfigParam
        The default and what values may be: `StrParam`, `IntParam`, `EnumStr` and so on.
    root, in_c_key : optional
        Arguments of Theano 1.0; no compiled code depends on flags that programs add.

    Raises
    ------
    AttributeError
        When there is a flag of that name.
    ValueError
        When the value is not valid.
    """
    flag = Flag(name, None, configparam, doc, mutable=configparam.allow_override)
    if name in THEANO_FLAGS_DICT:
        value = check_value(flag, THEANO_FLAGS_DICT.pop(name), " set by the user")
    else:
        default = configparam.default
        value = check_value(flag, default() if callable(default) else default)
    config.add(replace(flag, default=value))
