"""Kernels on the host: compiled with a stand-in for the device, and launched."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from theano.link.cuda.kernel import HUNG, Kernel
from theano.link.cuda.model import Device

STAND_IN = Path(__file__).with_name("stand_in.h")
# so few blocks and lanes that each lane is a thread
SMALL = Device(blocks=2, lanes=3)
COMPILER = shutil.which("g++") or shutil.which("clang++")
FLAGS = ("-std=c++17", "-O1", "-ffp-contract=off", "-pthread")

needs_compiler = pytest.mark.skipif(
    COMPILER is None, reason="there is no C++ compiler to stand in for a device"
)


class Hung(Exception):
    """Blocks waited in vain for others."""


@cache
def _folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="kernels_on_the_host")


def built(kernel: Kernel, flags: Sequence[str], more: str = "") -> Path:
    """Return what a C++ compiler makes of a kernel, and of more text after it."""
    text = f"{kernel.source}\nSTAND_IN_LAUNCH({kernel.name})\n{more}"
    key = hashlib.sha256(repr((text, *flags)).encode()).hexdigest()[:20]
    folder = Path(_folder().name)
    made, source = folder / key, folder / f"{key}.cpp"
    if not made.exists():
        source.write_text(text)
        stand_in = f'-DTK_STAND_IN="{STAND_IN}"'
        command = [COMPILER, *FLAGS, *flags, stand_in, source, "-o", made]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:3000]
    return made


@cache
def _library(path: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(path))


def launch(
    kernel: Kernel,
    arrays: Sequence[np.ndarray],
    rows: Sequence[int],
    steps: int,
    absent: int = 0,
    flags: Sequence[str] = (),
) -> int:
    """Run a kernel on arrays, which it changes; return how many steps it made.

    Parameters
    ----------
    absent
        How many of the blocks never start.

    Raises
    ------
    Hung
        If blocks waited in vain for others.
    """
    library = _library(built(kernel, ("-shared", "-fPIC", *flags)))
    count = len(arrays)
    result, barriers = (ctypes.c_int64 * 2)(), (ctypes.c_uint * 2)()
    work = np.full(kernel.work_bytes, 0xFF, np.uint8)
    library.launch(
        (ctypes.c_void_p * max(count, 1))(*(a.ctypes.data for a in arrays)),
        (ctypes.c_int64 * max(count, 1))(*rows),
        ctypes.c_int64(count),
        ctypes.c_int64(steps),
        result,
        ctypes.c_void_p(work.ctypes.data),
        barriers,
        kernel.blocks,
        absent,
        ctypes.c_int64(max(kernel.own_bytes, 1)),
    )
    done, status = result
    if status == HUNG:
        raise Hung
    if status:
        error = kernel.errors[-1 - status]
        raise error.kind(error.text)
    return done


def run_sanitized(
    kernel: Kernel,
    arrays: Sequence[np.ndarray],
    rows: Sequence[int],
    steps: int,
    sanitizer: str,
    flags: Sequence[str] = (),
) -> None:
    """Run a kernel as a program of its own, compiled with a sanitizer and more flags.

    Raises
    ------
    AssertionError
        With what the sanitizer has found.
    """
    main = f'#include "{STAND_IN.with_name("stand_in_main.h")}"'
    program = built(kernel, ("-g1", f"-fsanitize={sanitizer}", *flags), main)
    numbers = [len(arrays), steps, kernel.blocks, max(kernel.own_bytes, 1), kernel.work_bytes]
    with tempfile.NamedTemporaryFile(dir=_folder().name) as file:
        file.write(np.asarray(numbers, np.int64).tobytes())
        for array, count in zip(arrays, rows, strict=True):
            file.write(np.asarray([count, array.nbytes], np.int64).tobytes() + array.tobytes())
        file.flush()
        done = subprocess.run([program, file.name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    assert done.stdout.split() == [str(steps), "0"]
