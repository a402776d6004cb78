"""The user's settings of flags: the files named by THEANORC, and the variable THEANO_FLAGS."""

import configparser as ini
import os
import shlex
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from theano.flags.flag import Flag, TheanoConfigWarning, caller_stacklevel, check_value
from theano.support.formatting.nearest_name import did_you_mean

# What the user set of flags that are not known yet: `AddConfigVar` may make them known.
THEANO_FLAGS_DICT: dict[str, str] = {}

# Of files of flags, whatever the locale says; some editors begin a file with a mark of it.
_ENCODING = "utf-8-sig"


def parse_config_string(text: str) -> dict[str, str]:
    """Read ``name=value,name=value``; the last value of a name wins."""
    splitter = shlex.shlex(text, posix=True)
    splitter.whitespace = ","
    splitter.whitespace_split = True
    if os.sep == "\\":
        # a part of a path, not what quotes the next character
        splitter.escape = ""
    values = {}
    try:
        pairs = list(splitter)
    except ValueError as error:
        # shlex says that a quotation mark is not closed, or that nothing follows a backslash
        raise ValueError(
            f"THEANO_FLAGS: {str(error).lower()} in {text!r}; expected flag=value,flag=value, with "
            "commas within quotation marks"
        ) from None
    for pair in (part.strip() for part in pairs):
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
    configparser.Error
        When a file cannot be read; it names the file and the line.
    """
    spelled = {name.lower(): name for name in flags}
    values = {}
    for path in paths:
        raw = ini.RawConfigParser()
        if not _read(raw, path):
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


def _read(parser: ini.RawConfigParser, path: str) -> bool:
    """Read a file of flags if it is there; an error names the file, the line and what is expected."""
    try:
        return bool(parser.read(path, _ENCODING))
    except ini.DuplicateSectionError as error:
        place, wrong = error.lineno, f"the section [{error.section}] is there twice"
    except ini.DuplicateOptionError as error:
        place, wrong = error.lineno, f"{error.option} is set twice in [{error.section}]"
    except ini.ParsingError as error:
        # of a line before the first section there is no list
        listed = getattr(error, "errors", None)
        place = listed[0][0] if listed else error.lineno  # type: ignore[attr-defined]
        wrong = (
            f"{_line(path, place)!r}; expected a section such as [global] or [scan], and below it "
            "lines such as floatX = float32"
        )
    except UnicodeDecodeError as error:
        place, wrong = _not_text(path), f"the file is not text in UTF-8 ({error.reason})"
    raise ini.Error(f"{path}, line {place}: {wrong}") from None


def _line(path: str, place: int) -> str:
    return Path(path).read_text(_ENCODING).splitlines()[place - 1].strip()


def _not_text(path: str) -> int:
    """Return the number of the first line that is not UTF-8."""
    lines = Path(path).read_bytes().splitlines()
    return next(k for k, line in enumerate(lines, 1) if "\ufffd" in line.decode(errors="replace"))


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
