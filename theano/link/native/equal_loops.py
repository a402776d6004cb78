"""Loops that do the same, such as the layers of a network, become one C function.

Half of the time that a C compiler takes for a stack of layers goes to equal functions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_COMMENT = re.compile(r"/\*.*?\*/")


class EqualLoops:
    """The loops of a program that were written, by their text without names and comments."""

    def __init__(self) -> None:
        self._written: dict[tuple[str, ...], str] = {}

    def lines(self, name: str, lines: Sequence[str]) -> list[str]:
        """A loop's lines, or the one that says as which other loop it is called.

        Parameters
        ----------
        name
            The name of the loop's C function; the names of its parts begin with it.
        lines
            Its definition.
        """
        # A loop that calls loops of its own is told from another by what they do, which is elsewhere.
        if any(re.search(rf"\b{name}_l\d", line) for line in lines):
            return list(lines)
        text = tuple(
            re.sub(rf"\b{name}(?=_part\b|_work\b|\b)", "loop", _COMMENT.sub("", line))
            for line in lines
        )
        first = self._written.setdefault(text, name)
        return list(lines) if first == name else [f"#define {name} {first}"]
