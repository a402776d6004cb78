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
from pathlib import Path

from theano.link.native.ir import CannotLower
from theano.link.native.runtime.build import find_compiler, is_whole, seal
from theano.link.native.runtime.load import cache_folder

FLAGS = (
    "-std=gnu11",
    "-O2",
    "-march=native",
    "-ftree-vectorize",
    "-fvect-cost-model=dynamic",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fPIC",
    "-shared",
)


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


def library(source: str) -> ctypes.CDLL:
    """The library of a C text, compiled unless the cache holds it.

    Raises
    ------
    CannotLower
        When there is no compiler, or it fails.
    """
    path = find_compiler()
    if path is None:
        raise CannotLower("anything, because no C compiler was found")
    identity = "\0".join((source, path, _compiler_version(path), _processor(), *FLAGS))
    name = f"loop-{hashlib.sha256(identity.encode()).hexdigest()[:32]}.so"
    folder = cache_folder()
    if is_whole(folder / name):
        return ctypes.CDLL(str(folder / name))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return ctypes.CDLL(str(_compile(path, source, folder, name)))
    except OSError:
        # A folder that is read-only or full: this process builds for itself.
        with tempfile.TemporaryDirectory(prefix="theano-native-") as own:
            return ctypes.CDLL(str(_compile(path, source, Path(own), name)))


def _compile(compiler: str, source: str, folder: Path, name: str) -> Path:
    with tempfile.TemporaryDirectory(prefix="building-", dir=folder) as work:
        made = Path(work) / name
        command = [compiler, *FLAGS, "-x", "c", "-", "-o", str(made), "-lm"]
        answer = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        if answer.returncode:
            if "No space left on device" in answer.stderr:
                raise OSError(answer.stderr)
            raise CannotLower(f"what the C compiler refuses: {answer.stderr.strip()[:2000]}")
        seal(made)
        os.replace(made, folder / name)
    return folder / name
