"""Pages of machine code: many programs share one mapping of memory, each on pages of its own.

A mapping of its own for each program, as LLVM's linker makes them, takes three pages and three of
the 65,530 mappings that Linux grants a process.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import threading
from bisect import insort
from collections import deque
from collections.abc import Callable

MAPPING_BYTES = 1 << 20

# mmap has no such names on Windows
_WRITABLE, _EXECUTABLE = 1 | 2, 1 | 4


class _Mapping:
    """A piece of memory, and which runs of its pages are free: their first pages and lengths."""

    def __init__(self, pages: int):
        self.memory = mmap.mmap(
            -1, pages * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=_WRITABLE
        )
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.pages, self.free = pages, [(0, pages)]
        # what was dropped at a time when the list of free pages may have been in use
        self.dropped: deque[tuple[int, int]] = deque()

    def take(self, pages: int) -> int | None:
        """Return the first of so many pages, which are free no longer; None where there is no room."""
        for k, (first, count) in enumerate(self.free):
            if count >= pages:
                self.free[k : k + 1] = [(first + pages, count - pages)] if count > pages else []
                return first
        return None

    def give_back(self, first: int, pages: int) -> None:
        """Make pages free, in one run with those that adjoin."""
        insort(self.free, (first, pages))
        joined: list[tuple[int, int]] = []
        for begin, count in self.free:
            if joined and sum(joined[-1]) == begin:
                joined[-1] = joined[-1][0], joined[-1][1] + count
            else:
                joined.append((begin, count))
        self.free = joined

    def collect(self) -> None:
        """Give back what was dropped."""
        while self.dropped:
            self.give_back(*self.dropped.popleft())

    def protect(self, first: int, pages: int, access: int) -> None:
        """Set what may be done with pages."""
        address = self.address + first * mmap.PAGESIZE
        if _libc().mprotect(
            ctypes.c_void_p(address), ctypes.c_size_t(pages * mmap.PAGESIZE), access
        ):
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))

    def drop(self, first: int, pages: int) -> None:
        """Give pages to the system, from whatever thread collects garbage, within whatever call."""
        self.protect(first, pages, _WRITABLE)
        self.memory.madvise(mmap.MADV_DONTNEED, first * mmap.PAGESIZE, pages * mmap.PAGESIZE)
        self.dropped.append((first, pages))


class CodePages:
    """The machine code of a program, in memory for as long as somebody has this.

    Parameters
    ----------
    relocated
        Returns the code, and data behind it, as they are at an address.
    size, constant
        How many bytes that are, and how many of them, from the first on, nobody writes: whole
        pages, unless it is all.

    Raises
    ------
    OSError
        When the system does not let this process make memory executable.
    """

    def __init__(self, relocated: Callable[[int], bytes], size: int, constant: int):
        pages = -(-size // mmap.PAGESIZE)
        with _changing:
            mapping, first = _taken(pages)
            begin = first * mmap.PAGESIZE
            self.address = mapping.address + begin
            try:
                mapping.memory[begin : begin + size] = relocated(self.address)
                mapping.protect(first, -(-constant // mmap.PAGESIZE), _EXECUTABLE)
            except BaseException:
                mapping.drop(first, pages)
                raise
        self._mapping, self._run = mapping, (first, pages)

    def __del__(self, _is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        # at the end of the process the modules that this needs are gone, and the pages go anyway
        if hasattr(self, "_mapping") and not _is_ending():
            self._mapping.drop(*self._run)


_mappings: list[_Mapping] = []
_changing = threading.Lock()


def _taken(pages: int) -> tuple[_Mapping, int]:
    """Return where so many pages are, which are no longer free."""
    for mapping in _mappings:
        mapping.collect()
    _mappings[:] = [one for one in _mappings if one.free != [(0, one.pages)]] or _mappings[:1]
    for mapping in _mappings:
        first = mapping.take(pages)
        if first is not None:
            return mapping, first
    _mappings.append(_Mapping(max(pages, MAPPING_BYTES // mmap.PAGESIZE)))
    first = _mappings[-1].take(pages)
    assert first is not None
    return _mappings[-1], first


_c: list[ctypes.CDLL] = []


def _libc() -> ctypes.CDLL:
    if not _c:
        _c.append(ctypes.CDLL(None, use_errno=True))
    return _c[0]


def _begin_in_child() -> None:
    """After a fork: the thread that held the lock is the parent's."""
    global _changing
    _changing = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)
