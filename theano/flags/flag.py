"""A flag: its name, default, valid values and description; and the warnings that flags give."""

import os
import sys
from pathlib import Path
from typing import Any

from theano.flags.kinds import Anything, Boolean, Choice, ConfigParam, Number, Text
from theano.support.data_classes import dataclass

Kind = Choice | Boolean | Number | Text | Anything | ConfigParam


class TheanoConfigWarning(Warning):
    """A flag is accepted but cannot do what it asks for."""


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


def check_value(flag: Flag, raw: object, source: str = "") -> Any:
    """Return the value that `raw` means for this flag; a ValueError says what is valid."""
    try:
        return flag.kind.read(raw)
    except ValueError as error:
        raise ValueError(
            f'Invalid value ("{raw}") for configuration variable "{flag.name}"{source}: {error}'
        ) from None


def caller_stacklevel() -> int:
    """Return the stacklevel, for our caller's warning, of the user's line that led there."""
    inside = (
        str(Path(__file__).parents[1]) + os.sep,
        f"{os.sep}pytensor{os.sep}",
        f"{os.sep}jax{os.sep}_src{os.sep}",
        "<frozen importlib",
    )
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and any(part in frame.f_code.co_filename for part in inside):
        level, frame = level + 1, frame.f_back
    return level
