"""The runtime for another processor or system, compiled by a cross compiler and run by an emulator."""

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


@dataclass(frozen=True)
class Machine:
    """A processor and a system that another one stands for.

    Attributes
    ----------
    compilers
        Commands of which the first that is there compiles for it; ``zig`` stands for that of ``ziglang``.
    emulators
        Programs of which the first that is there runs what was compiled.
    options
        What programs are compiled and linked with.
    """

    compilers: tuple[tuple[str, ...], ...]
    emulators: tuple[str, ...]
    options: tuple[str, ...] = ()

    def compiler(self) -> build.Command | None:
        """Return the command of the cross compiler."""
        for name, *rest in self.compilers:
            found = build.zig() if name == "zig" else shutil.which(name) and (shutil.which(name),)
            if found:
                return (*found, *rest)
        return None

    def emulator(self) -> str | None:
        """Return the path of the emulator."""
        return next(filter(None, map(shutil.which, self.emulators)), None)

    def lacks(self) -> str | None:
        """Return what is not installed; None where all is."""
        if self.emulator() is None:
            return f"{self.emulators[0]} is not installed"
        return None if self.compiler() else f"no compiler for {self.compilers} is installed"


ARM = Machine(
    (("aarch64-linux-gnu-gcc",), ("zig", "-target", "aarch64-linux-musl")),
    ("qemu-aarch64",),
    ("-static",),
)
# Debian keeps it where no path leads
WINDOWS = Machine(
    (("zig", "-target", "x86_64-windows-gnu"),), ("wine64", "wine", "/usr/lib/wine/wine64")
)
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


class Library:
    """Functions of the runtime in an emulated process, as ctypes has those of a library.

    Attributes
    ----------
    objects
        The object files of the runtime, for other programs.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        # a path as users may have it
        self._folder = tempfile.TemporaryDirectory(
            prefix="emulated für ", ignore_cleanup_errors=True
        )
        folder = Path(self._folder.name)
        (folder / "functions.inc").write_text("".join(f"FUNCTION({name})\n" for name in NAMES))
        compiler = machine.compiler()
        assert compiler is not None
        self.objects = [str(path) for path in build.compile_objects(compiler, folder)]
        made, source = folder / "program.exe", Path(__file__).with_name("emulated_runtime.c")
        command = [*compiler, *machine.options, "-std=gnu11", "-O1", "-pthread", f"-I{folder}"]
        command += [f"-I{build.SOURCES}", str(source), *self.objects, "-lm"]
        subprocess.run([*command, "-o", str(made)], check=True)
        self._process = subprocess.Popen(
            [machine.emulator(), str(made)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
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
    """Return the kind of an argument and its value; of memory, the address and size in bytes."""
    if isinstance(argument, Pointer):
        low, high = np.lib.array_utils.byte_bounds(argument.array)
        return MEMORY, (low, high - low if argument.array.size else 0)
    if isinstance(argument, ctypes.Array):
        return MEMORY, (ctypes.addressof(argument), ctypes.sizeof(argument))
    if isinstance(argument, ctypes.c_float | ctypes.c_double):
        return REAL, int.from_bytes(bytes(argument).ljust(8, b"\0"), "little", signed=True)
    return NUMBER, getattr(argument, "value", argument)
