"""The runtime for another processor, compiled by a cross compiler and run by an emulator."""

from __future__ import annotations

import ctypes
import shutil
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from theano.link.native.runtime import build

COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
# in the order of emulated_runtime.c
NUMBER, REAL, MEMORY, SAME = range(4)

_OF_BOTH = (
    *("exp", "expm1", "log", "log1p", "tanh", "sigmoid", "softplus"),
    *("panel_width", "packed_size", "pack_b", "gemm_packed", "gemm"),
    *("correlation_work", "correlate"),
)
NAMES = ("tn_set_threads", *(f"tn_{name}_{real}" for name in _OF_BOTH for real in ("f32", "f64")))


class Pointer(ctypes.c_void_p):
    """The address of an array, and the array."""

    def __init__(self, array: np.ndarray):
        super().__init__(array.ctypes.data)
        self.array = array


def is_there() -> bool:
    """Whether a cross compiler and an emulator are installed."""
    return all(map(shutil.which, (COMPILER, EMULATOR)))


class Library:
    """Functions of the runtime in an emulated process, as ctypes has those of a library.

    Attributes
    ----------
    objects
        The object files of the runtime, for other programs.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="emulated-")
        folder = Path(self._folder.name)
        (folder / "functions.inc").write_text("".join(f"FUNCTION({name})\n" for name in NAMES))
        sources = [str(path) for path in build.c_files()]
        command = [COMPILER, *build.FLAGS, '-DTN_SOURCES=""', "-c", *sources]
        subprocess.run(command, cwd=folder, check=True)
        self.objects = [str(path) for path in sorted(folder.glob("*.o"))]
        made, source = folder / "program", Path(__file__).with_name("emulated_runtime.c")
        command = [COMPILER, "-std=gnu11", "-O1", "-static", "-pthread", f"-I{folder}"]
        command += [f"-I{build.SOURCES}", str(source), *self.objects, "-lm"]
        subprocess.run([*command, "-o", str(made)], check=True)
        self._process = subprocess.Popen(
            [EMULATOR, str(made)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
        self._folder.cleanup()

    def __getattr__(self, name: str) -> _Function:
        return _Function(self, NAMES.index(name))

    def call(self, number: int, arguments: list[Any]) -> int:
        """Call a function; memory that it is given is as it left it."""
        heads, contents, places = [], [], {}
        for k, argument in enumerate(arguments):
            kind, value = _passed(argument)
            if kind == MEMORY and value in places:
                kind, value = SAME, places[value]
            elif kind == MEMORY:
                places[value] = k
                address, size = value
                contents.append(ctypes.string_at(address, size))
                value = size
            heads.append(struct.pack("<qq", kind, value))
        request = struct.pack("<qq", number, len(arguments))
        self._process.stdin.write(b"".join((request, *heads, *contents)))
        self._process.stdin.flush()
        (answer,) = struct.unpack("<q", self._read(8))
        for address, size in places:
            ctypes.memmove(address, self._read(size), size)
        return answer

    def _read(self, size: int) -> bytes:
        found = self._process.stdout.read(size)
        assert len(found) == size, "the emulated process ended"
        return found


@dataclass
class _Function:
    library: Library
    number: int
    restype: Any = None

    def __call__(self, *arguments: Any) -> int:
        return self.library.call(self.number, list(arguments))


def _passed(argument: Any) -> tuple[int, Any]:
    """What an argument is, and its value: of memory where it is, and how many bytes."""
    if isinstance(argument, Pointer):
        low, high = np.lib.array_utils.byte_bounds(argument.array)
        return MEMORY, (low, high - low if argument.array.size else 0)
    if isinstance(argument, ctypes.Array):
        return MEMORY, (ctypes.addressof(argument), ctypes.sizeof(argument))
    if isinstance(argument, ctypes.c_float | ctypes.c_double):
        return REAL, int.from_bytes(bytes(argument).ljust(8, b"\0"), "little", signed=True)
    return NUMBER, getattr(argument, "value", argument)
