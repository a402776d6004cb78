"""Object files of x86-64 in the format ELF, as LLVM writes them: laid out as one block, and relocated.

The format is that of the System V ABI and its supplement for AMD64 (section 4.4.1, relocation types).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

_PAGE = 4096
# kinds of sections, their flags, the section of symbols that are somewhere else
_CONTENT, _SYMBOLS, _RELOCATIONS, _ZEROS = 1, 2, 4, 8
_WRITTEN, _LOADED = 1, 2
_ELSEWHERE, _FIRST_RESERVED = 0, 0xFF00
# what is put in: an address; how far it is; how far a jump to it is; how far a cell with it is
_ADDRESS, _DISTANCE, _WIDE_DISTANCE, _JUMP = 1, 2, 24, 4
_CELLS = (9, 41, 42)
# `jmp *2(%rip)`, up to the cell with the address
_STUB = b"\xff\x25\x02\x00\x00\x00\x66\x90"
_STUB_AND_CELL = 16


class NotLoadable(Exception):
    """An object file holds what is not known here."""


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    begin: int
    size: int
    link: int
    info: int
    align: int
    each: int


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int


class _Relocation(NamedTuple):
    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


class ObjectFile:
    """An object file as one block of code and data.

    Attributes
    ----------
    size, constant
        How many bytes the block has, and how many of them, from the first on, nobody writes.

    Raises
    ------
    NotLoadable
        When something in it is not known here.
    """

    def __init__(self, content: bytes):
        self._content = content
        if content[:6] != b"\x7fELF\x02\x01" or content[18:20] != b"\x3e\x00":
            raise NotLoadable("another format")
        (table,) = struct.unpack_from("<Q", content, 40)
        (count,) = struct.unpack_from("<H", content, 60)
        self._sections = [
            _Section(*struct.unpack_from("<IIQQQQIIQQ", content, table + 64 * k))
            for k in range(count)
        ]
        self._symbols = list(self._all_symbols())
        self._relocations = list(self._all_relocations())
        # by number of section
        self._places: dict[int, int] = {}
        end = _aligned(self._lay_out(0, _LOADED), _STUB_AND_CELL)
        reached = sorted({r.symbol for r in self._relocations if self._needs_stub(r)})
        self._stubs = {symbol: end + _STUB_AND_CELL * k for k, symbol in enumerate(reached)}
        self.size = self.constant = end + _STUB_AND_CELL * len(reached)
        written = _aligned(self.constant, _PAGE)
        end = self._lay_out(written, _LOADED | _WRITTEN)
        if end > written:
            self.constant, self.size = written, end

    def place(self, name: str) -> int:
        """Return where in the block a function or a variable begins."""
        return next(
            self._places[one.section] + one.value
            for one in self._symbols
            if one.name == name and one.section in self._places
        )

    def at(self, address: int, address_of: Callable[[str], int]) -> bytes:
        """Return the block as it is at an address.

        Parameters
        ----------
        address_of
            Where a function of others is.
        """
        block = bytearray(self.size)
        for number, place in self._places.items():
            section = self._sections[number]
            if section.kind != _ZEROS:
                end = section.begin + section.size
                block[place : place + section.size] = self._content[section.begin : end]

        def place_of(symbol: int) -> int:
            """Return how far from the block's beginning a symbol is."""
            name, section, value = self._symbols[symbol]
            if section == _ELSEWHERE:
                return address_of(name) - address
            return self._places[section] + value

        for symbol, stub in self._stubs.items():
            cell = address + place_of(symbol)
            block[stub : stub + _STUB_AND_CELL] = _STUB + struct.pack("<Q", cell)
        for number, offset, kind, symbol, addend in self._relocations:
            at = self._places[number] + offset
            if kind == _ADDRESS:
                struct.pack_into("<Q", block, at, address + place_of(symbol) + addend)
                continue
            if kind in _CELLS:
                target = self._stubs[symbol] + len(_STUB)
            else:
                target = self._stubs[symbol] if self._is_elsewhere(symbol) else place_of(symbol)
            form = "<q" if kind == _WIDE_DISTANCE else "<i"
            struct.pack_into(form, block, at, target + addend - at)
        return bytes(block)

    def _is_elsewhere(self, symbol: int) -> bool:
        return self._symbols[symbol].section == _ELSEWHERE

    def _needs_stub(self, one: _Relocation) -> bool:
        if one.kind == _JUMP:
            return self._is_elsewhere(one.symbol)
        return one.kind in _CELLS

    def _lay_out(self, end: int, flags: int) -> int:
        """Add the sections with some flags to the block, from a place on; return where the last one ends."""
        for number, section in enumerate(self._sections):
            if section.flags & (_LOADED | _WRITTEN) == flags and section.size:
                self._places[number] = _aligned(end, section.align)
                end = self._places[number] + section.size
        return end

    def _all_symbols(self) -> Iterator[_Symbol]:
        table = next((one for one in self._sections if one.kind == _SYMBOLS), None)
        if table is None:
            return
        names = self._sections[table.link].begin
        for at in range(table.begin, table.begin + table.size, 24):
            name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", self._content, at)
            end = self._content.index(b"\0", names + name)
            yield _Symbol(self._content[names + name : end].decode(), section, value)

    def _all_relocations(self) -> Iterator[_Relocation]:
        known = (_ADDRESS, _DISTANCE, _WIDE_DISTANCE, _JUMP, *_CELLS)
        for section in self._sections:
            if section.kind != _RELOCATIONS or not self._sections[section.info].flags & _LOADED:
                continue
            for at in range(section.begin, section.begin + section.size, 24):
                offset, info, addend = struct.unpack_from("<QQq", self._content, at)
                kind, symbol = info & 0xFFFFFFFF, info >> 32
                is_far = kind in (_DISTANCE, _WIDE_DISTANCE) and self._is_elsewhere(symbol)
                if kind not in known or is_far or self._symbols[symbol].section >= _FIRST_RESERVED:
                    raise NotLoadable(f"a relocation of kind {kind} to {self._symbols[symbol]}")
                yield _Relocation(section.info, offset, kind, symbol, addend)


def _aligned(place: int, align: int) -> int:
    return -(-place // max(align, 1)) * max(align, 1)
