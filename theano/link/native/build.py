"""Compile C text to a library: with the system's compiler, and once for each text.

The cache is a folder of libraries named by a hash of the text, the compiler and its flags. A
library appears there whole, by a rename, so that processes that compile the same text at the
same time do not disturb one another; it ends with a hash of itself, so that a damaged one is
seen and built again.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from theano.link.native.ir import CannotLower
from theano.link.native.runtime.build import find_compiler, is_whole, seal
from theano.link.native.runtime.load import cache_folder

FLAGS = (
    "-std=gnu11",
    "-march=native",
    "-ftree-vectorize",
    "-fvect-cost-model=dynamic",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fPIC",
)


# A loop of a few numbers runs up to a tenth faster with -O2, larger ones up to a twentieth; it takes
# the compiler a third longer, which the user of a long program waits for.
LINES_OF_A_LONG_PROGRAM = 2500
OPTIMIZED = ("-O2",)
OPTIMIZED_FAST = ("-O1", "-finline-small-functions")


def flags_for(source: str) -> tuple[str, ...]:
    """The compiler's flags for a text."""
    long = source.count("\n") > LINES_OF_A_LONG_PROGRAM
    return (*FLAGS, *(OPTIMIZED_FAST if long else OPTIMIZED))


@functools.cache
def _compiler_version(path: str) -> str:
    """What tells one compiler from the next of the same name, without running it."""
    compiler = Path(path).resolve()
    about = compiler.stat()
    return f"{compiler} {about.st_size} {about.st_mtime_ns}"


@functools.cache
def _processor() -> str:
    """What -march=native depends on: a cache may be shared by unlike machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() + platform.machine()
    return next((line for line in lines if line.startswith("flags")), platform.machine())


def library(source: str, parts: int = 1) -> ctypes.CDLL:
    """The library of a C text, compiled unless the cache holds it.

    Parameters
    ----------
    parts
        As how many texts it may be compiled side by side, with TN_PART as the number of each.

    Raises
    ------
    CannotLower
        When there is no compiler, or it fails.
    """
    path = find_compiler()
    if path is None:
        raise CannotLower("anything, because no C compiler was found")
    flags = flags_for(source)
    identity = "\0".join((source, path, _compiler_version(path), _processor(), *flags))
    name = f"loop-{hashlib.sha256(identity.encode()).hexdigest()[:32]}.so"
    folder = cache_folder()
    if is_whole(folder / name):
        return ctypes.CDLL(str(folder / name))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return ctypes.CDLL(str(_compile(path, source, parts, folder, name)))
    except OSError:
        # A folder that is read-only or full: this process builds for itself.
        with tempfile.TemporaryDirectory(prefix="theano-native-") as own:
            return ctypes.CDLL(str(_compile(path, source, parts, Path(own), name)))


def _compile(compiler: str, source: str, parts: int, folder: Path, name: str) -> Path:
    flags = flags_for(source)
    with tempfile.TemporaryDirectory(prefix="building-", dir=folder) as work:
        text, made = Path(work) / "loop.c", Path(work) / name
        text.write_text(source)
        if parts == 1 or len(os.sched_getaffinity(0)) == 1:
            _run([[compiler, *flags, "-shared", str(text), "-o", str(made), "-lm"]])
        else:
            objects = [str(text.with_name(f"{part}.o")) for part in range(parts)]
            _run(
                [compiler, *flags, "-c", f"-DTN_PART={part}", str(text), "-o", target]
                for part, target in enumerate(objects)
            )
            _run([[compiler, *flags, "-shared", *objects, "-o", str(made), "-lm"]])
        seal(made)
        os.replace(made, folder / name)
    return folder / name


def _run(commands: Iterable[list[str]]) -> None:
    """Run commands of the compiler at the same time; what one complains of is an error."""
    running = [
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for command in commands
    ]
    complaints = [(process.communicate()[1], process.returncode) for process in running]
    for complaint, status in complaints:
        if status and "No space left on device" in complaint:
            raise OSError(complaint)
        if status:
            raise CannotLower(f"what the C compiler refuses: {complaint.strip()[:2000]}")
