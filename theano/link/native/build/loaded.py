"""Libraries of programs in this process: of the system's loader, or of LLVM."""

from __future__ import annotations

import ctypes
from typing import Protocol


class InProcess(Protocol):
    """A library that was compiled in this process."""

    def address(self, name: str) -> int:
        """Return where a function or a variable is."""


Library = ctypes.CDLL | InProcess


def address_in(library: Library, name: str) -> int:
    """Return where a function or a variable of a library is."""
    if isinstance(library, ctypes.CDLL):
        # `library.name` refers to itself, and would keep the library until the next collection
        return ctypes.addressof(ctypes.c_char.in_dll(library, name))
    return library.address(name)
