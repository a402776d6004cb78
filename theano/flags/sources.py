"""Where the user sets flags: the files named by THEANORC, and the variable THEANO_FLAGS."""

import configparser as ini
import os
import shlex
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from theano.flags.flag import Flag, TheanoConfigWarning, caller_stacklevel, check_value
from theano.words.nearest_name import did_you_mean

# What the user set of flags that are not known yet: `AddConfigVar` may make them known.
THEANO_FLAGS_DICT: dict[str, str] = {}

# Of files of flags, whatever the locale says; some editors begin a file with a mark of it.
_ENCODING = "utf-8-sig"


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
        if not raw.read(path, _ENCODING):
            continue
        # Theano lets values refer to these as %(USER)s and so on.
        interpolated = ini.ConfigParser(
            {name: os.environ.get(name, "") for name in ("USER", "LSCRATCH", "TMPDIR", "TEMP")}
            | {"PID": str(os.getpid())}
        )
        interpolated.read(path, _ENCODING)
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
