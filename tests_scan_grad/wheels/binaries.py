"""Requirements of a library on the system that loads it, read from its bytes: ELF, Mach-O, PE."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

MACHINES = {
    ("elf", 62): "x86_64",
    ("elf", 183): "aarch64",
    ("mach-o", 0x01000007): "x86_64",
    ("mach-o", 0x0100000C): "arm64",
    ("pe", 0x8664): "AMD64",
}


@dataclass(frozen=True)
class Binary:
    """A library.

    Attributes
    ----------
    machine
        As ``platform.machine()`` names it.
    needs
        The oldest release that loads it: of glibc, or of macOS; none for Windows.
    libraries
        The libraries that it loads.
    own_name
        The name that it has for those linked to it; on macOS alone.
    undefined
        The symbols that it takes from other libraries; on macOS alone.
    """

    machine: str
    needs: tuple[int, ...]
    libraries: frozenset[str]
    own_name: str = ""
    undefined: frozenset[str] = frozenset()


def read(content: bytes) -> Binary:
    """Return what a library is; ValueError where it is none that is known."""
    if content[:4] == b"\x7fELF":
        return _elf(content)
    if content[:4] == b"\xcf\xfa\xed\xfe":
        return _mach_o(content)
    if content[:2] == b"MZ":
        return _pe(content)
    raise ValueError(f"no library: {content[:8]!r}")


def _elf(content: bytes) -> Binary:
    versions = re.findall(rb"GLIBC_(\d+)\.(\d+)", content)
    names = re.findall(rb"\0((?:lib|ld-)[\w.+-]+\.so[.\d]*)(?=\0)", content)
    machine = MACHINES["elf", struct.unpack_from("<H", content, 18)[0]]
    needs = max((int(a), int(b)) for a, b in versions)
    return Binary(machine, needs, frozenset(name.decode() for name in names))


# load commands of Mach-O
_SYMBOLS, _LIBRARY, _OWN_NAME, _BUILD_VERSION = 0x2, 0xC, 0xD, 0x32


def _mach_o(content: bytes) -> Binary:
    machine = MACHINES["mach-o", struct.unpack_from("<I", content, 4)[0]]
    count, place = struct.unpack_from("<I", content, 16)[0], 32
    libraries, own, needs, undefined = set(), "", (), set()
    for _ in range(count):
        command, size = struct.unpack_from("<II", content, place)
        if command in (_LIBRARY, _OWN_NAME):
            start = place + struct.unpack_from("<I", content, place + 8)[0]
            name = content[start : place + size].split(b"\0")[0].decode()
            own = name if command == _OWN_NAME else own
            libraries |= {name} if command == _LIBRARY else set()
        elif command == _BUILD_VERSION:
            version = struct.unpack_from("<I", content, place + 12)[0]
            needs = (version >> 16, version >> 8 & 255)
        elif command == _SYMBOLS:
            undefined = set(_undefined(content, *struct.unpack_from("<IIII", content, place + 8)))
        place += size
    return Binary(machine, needs, frozenset(libraries), own, frozenset(undefined))


def _undefined(content: bytes, place: int, count: int, names: int, size: int) -> list[str]:
    found = []
    for k in range(count):
        name, kind = struct.unpack_from("<IB", content, place + 16 * k)
        # of external symbols those without a section
        if kind & 1 and not kind & 0x0E:
            found.append(content[names + name : names + size].split(b"\0")[0].decode())
    return found


def _pe(content: bytes) -> Binary:
    head = struct.unpack_from("<I", content, 0x3C)[0]
    machine = MACHINES["pe", struct.unpack_from("<H", content, head + 4)[0]]
    names = re.findall(rb"[\w.-]+\.(?:dll|DLL)(?=\0)", content)
    return Binary(machine, (), frozenset(name.decode().lower() for name in names))
