"""Texts of C code that are filled in from a dictionary."""

from collections.abc import Mapping
from typing import Any


def render_string(string: str, sub: Mapping[str, Any]) -> str:
    """Fill in a text.

    Parameters
    ----------
    string : str
        A text with places such as ``%(name)s``.
    sub : mapping
        What goes there.

    Raises
    ------
    ValueError
        A place cannot be filled in; the message has the text up to that place.

    Examples
    --------
    >>> render_string("%(x)s = %(y)d;", {"x": "a", "y": 3})
    'a = 3;'
    """
    try:
        return string % sub
    except (KeyError, TypeError, ValueError) as error:
        ends = range(len(string) + 1)
        wrong = next(
            (string[:end] for end in ends if _fails_alike(string[:end], sub, error)), string
        )
        raise ValueError(f"{wrong}<<<< caused {type(error).__name__}: {error}") from error


def _fails_alike(string: str, sub: Mapping[str, Any], error: Exception) -> bool:
    try:
        string % sub
    except (KeyError, TypeError, ValueError) as found:
        return str(found) == str(error)
    return False
