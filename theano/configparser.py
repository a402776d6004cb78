"""How flags work: their sources, their checks, and the object `theano.config`.

A flag's value comes, in rising order of precedence, from its default, from the files named by
THEANORC (``~/.theanorc``), from the environment variable THEANO_FLAGS, and from assignment.
The table of flags itself is in `theano.configdefaults`.
"""

import configparser as ini
import functools
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from theano.flag_kinds import (
    Anything,
    BoolParam,
    Choice,
    ConfigParam,
    EnumStr,
    FloatParam,
    IntParam,
    Number,
    StrParam,
    Text,
    Truth,
    TypedParam,
)
from theano.nearest_name import did_you_mean

__all__ = [
    "THEANO_FLAGS_DICT",
    "AddConfigVar",
    "Anything",
    "BoolParam",
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
    "Truth",
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

# What the user set of flags that are not known yet: `AddConfigVar` may make them known.
THEANO_FLAGS_DICT: dict[str, str] = {}


class TheanoConfigWarning(Warning):
    """A flag is accepted but cannot do what it asks for."""


Kind = Choice | Truth | Number | Text | Anything | ConfigParam


@dataclass(frozen=True)
class Flag:
    """One row of the table of flags.

    Attributes
    ----------
    name : str
        Full name, with dots between section and option.
    default : object
        The value when nothing is set; None for a flag that PyTensor holds.
    kind : Kind
        Which values are valid.
    doc : str
        What the flag does.
    pytensor : str or None
        The PyTensor flag that holds this one's value: read from it and, when set, forwarded to it.
    mutable : bool
        Whether it can be assigned after import.
    no_effect : str
        Why another value than the default changes nothing; empty for a flag that works.
    """

    name: str
    default: Any
    kind: Kind
    doc: str
    pytensor: str | None = None
    mutable: bool = True
    no_effect: str = ""


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
            return getattr(_pytensor_config(), flag.pytensor)
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
            setattr(_pytensor_config(), flag.pytensor, checked)
        else:
            self.keep(flag, checked)

    def keep(self, flag: Flag, value: object) -> None:
        """Store a checked value of a flag that PyTensor does not hold, and tell its watcher."""
        if flag.no_effect and value != flag.default and flag.name not in self._warned:
            self._warned.add(flag.name)
            warnings.warn(
                f"The flag {flag.name}={value} has no effect: {flag.no_effect}",
                TheanoConfigWarning,
                stacklevel=caller_stacklevel(),
            )
        self._values[flag.name] = value
        if flag.name in self._watchers:
            self._watchers[flag.name](value)

    def watch(self, name: str, action: Callable[[Any], None]) -> None:
        """Call `action` with the value of the flag now and whenever it is set."""
        self._watchers[self.flag(name).name] = action
        action(self.read(name))

    def change_flags(self, args: Any = (), **kwargs: Any) -> "change_flags":
        """Return a context manager, also a decorator, that sets flags and restores them."""
        return change_flags(args, _config=self, **kwargs)

    def __str__(self) -> str:
        with warnings.catch_warnings():
            # PyTensor looks for a BLAS, and warns that it is slow without; the native engine is not
            warnings.simplefilter("ignore")
            return "\n".join(
                f"{name} ({flag.kind})\n    Doc:  {flag.doc}\n    Value:  {self.read(name)}\n"
                for name, flag in self.flags.items()
            )


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

    def __init__(self, args: Any = (), _config: TheanoConfigParser | None = None, **kwargs: Any):
        self._config = config if _config is None else _config
        self.new_vals = dict(args)
        self.new_vals.update({name.replace("__", "."): value for name, value in kwargs.items()})
        for name in self.new_vals:
            self._config.flag(name)
        self._saved: list[dict[str, Any]] = []

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def with_flags(*args: Any, **kwargs: Any) -> Any:
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


def check_value(flag: Flag, raw: object, source: str = "") -> Any:
    """Return the value that `raw` means for this flag; a ValueError says what is valid."""
    try:
        return flag.kind.read(raw)
    except ValueError as error:
        raise ValueError(
            f'Invalid value ("{raw}") for configuration variable "{flag.name}"{source}: {error}'
        ) from None


def parse_config_string(text: str) -> dict[str, str]:
    """Read ``name=value,name=value``; the last value of a name wins."""
    splitter = shlex.shlex(text, posix=True)
    splitter.whitespace = ","
    splitter.whitespace_split = True
    values = {}
    for pair in (part.strip() for part in splitter):
        name, equals, value = pair.partition("=")
        if not equals:
            message = f"Config key {name!r} has no value, ignoring it"
            warnings.warn(message, TheanoConfigWarning, stacklevel=caller_stacklevel())
        else:
            values[name.strip()] = value.strip()
    return values


def config_files() -> list[str]:
    """Return the files that may hold flags; a later one has precedence."""
    listed = os.environ.get("THEANORC", "~/.theanorc").split(os.pathsep)
    if "THEANORC" not in os.environ and sys.platform == "win32":
        listed.append("~/.theanorc.txt")
    return [os.path.expanduser(path) for path in listed if path]


def read_files(paths: Iterable[str], flags: Mapping[str, Flag]) -> dict[str, tuple[str, str]]:
    """Return ``{flag: (raw value, source)}`` from ini files; names there ignore case.

    Raises
    ------
    ValueError
        When a file sets a flag that does not exist, and whose name is near that of another.
    """
    spelled = {name.lower(): name for name in flags}
    values = {}
    for path in paths:
        raw = ini.RawConfigParser()
        if not raw.read(path):
            continue
        # Theano lets values refer to these as %(USER)s and so on.
        interpolated = ini.ConfigParser(
            {name: os.environ.get(name, "") for name in ("USER", "LSCRATCH", "TMPDIR", "TEMP")}
            | {"PID": str(os.getpid())}
        )
        interpolated.read(path)
        for section in raw.sections():
            for option in raw.options(section):
                full = option if section == "global" else f"{section}.{option}"
                try:
                    value = interpolated.get(section, option)
                except ini.InterpolationError:
                    value = raw.get(section, option)
                if full.lower() in spelled:
                    values[spelled[full.lower()]] = (value, f" in {path}")
                else:
                    _keep_for_later(full, value, path, flags)
    return values


def user_settings(flags: Mapping[str, Flag]) -> dict[str, Any]:
    """Return the checked values that the user's files and THEANO_FLAGS give.

    Raises
    ------
    ValueError
        When a name is near that of a flag, or a value is not valid for its flag.
    """
    settings = read_files(config_files(), flags)
    for name, raw in parse_config_string(os.environ.get("THEANO_FLAGS", "")).items():
        if name in flags:
            settings[name] = (raw, " in THEANO_FLAGS")
        else:
            _keep_for_later(name, raw, "THEANO_FLAGS", flags)
    return {name: check_value(flags[name], raw, src) for name, (raw, src) in settings.items()}


def _keep_for_later(name: str, raw: str, source: str, flags: Mapping[str, Flag]) -> None:
    """Keep what the user set of an unknown flag; a name near a known one is an error."""
    hint = did_you_mean(name, flags)
    if hint:
        raise ValueError(f"{source}: no flag {name!r}{hint}")
    message = f"{source}: Theano does not recognise the flag {name!r}, unless AddConfigVar adds it"
    warnings.warn(message, TheanoConfigWarning, stacklevel=caller_stacklevel())
    THEANO_FLAGS_DICT[name] = raw


def forward_to_pytensor(settings: Mapping[str, Any]) -> None:
    """Give PyTensor the flags that the user set; `settings` has PyTensor's names.

    PyTensor reads some of them while it is imported, so they go through its environment variable
    when it is not imported yet, and by assignment otherwise.
    """
    if not settings:
        return
    if "pytensor" not in sys.modules:
        before = os.environ.get("PYTENSOR_FLAGS")
        ours = [f"{name}={shlex.quote(str(value))}" for name, value in settings.items()]
        os.environ["PYTENSOR_FLAGS"] = ",".join(([before] if before else []) + ours)
        try:
            _pytensor_config()
        finally:
            if before is None:
                del os.environ["PYTENSOR_FLAGS"]
            else:
                os.environ["PYTENSOR_FLAGS"] = before
        return
    config_of_pytensor = _pytensor_config()
    from theano.pytensor_base.configuration import is_mutable

    for name, value in settings.items():
        if str(getattr(config_of_pytensor, name)) == str(value):
            continue
        if is_mutable(name):
            setattr(config_of_pytensor, name, value)
        else:
            warnings.warn(
                f"The flag {name.replace('__', '.')}={value} came too late, because pytensor was "
                "imported first: import theano before pytensor",
                TheanoConfigWarning,
                stacklevel=caller_stacklevel(),
            )


def _pytensor_config() -> Any:
    from pytensor.configdefaults import config as config_of_pytensor

    return config_of_pytensor


def caller_stacklevel() -> int:
    """Return the stacklevel, for our caller's warning, of the user's line that led there."""
    inside = (os.path.dirname(__file__) + os.sep, f"{os.sep}pytensor{os.sep}", "<frozen importlib")
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and any(part in frame.f_code.co_filename for part in inside):
        level, frame = level + 1, frame.f_back
    return level


config = TheanoConfigParser()


def AddConfigVar(
    name: str, doc: str, configparam: ConfigParam, root: Any = None, in_c_key: bool = True
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
