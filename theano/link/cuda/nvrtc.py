"""NVRTC, NVIDIA's compiler as a library: from a kernel's source to code for a device."""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import hashlib
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from theano.link.native.runtime.load import cache_folder
from theano.rewriting.disk.sealed_files import read_sealed, write_sealed

# where wheels of NVIDIA's have the library, in the package `nvidia`
_IN_WHEELS = ("cu*/lib/libnvrtc.so.*", "cuda_nvrtc/lib/libnvrtc.so.*")


class CompilationFailed(Exception):
    """NVRTC refused a source; the text is its log."""


class NoCompiler(Exception):
    """NVRTC is not installed."""


def compiled(source: str, architecture: str) -> bytes:
    """Return a kernel's code for an architecture, such as ``sm_90``.

    Raises
    ------
    NoCompiler
        If NVRTC is not installed.
    CompilationFailed
        With the compiler's log.
    """
    nvrtc, program = library(), ctypes.c_void_p()
    _check(
        nvrtc.nvrtcCreateProgram(
            ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None
        )
    )
    try:
        options = ["--std=c++17", f"--gpu-architecture={architecture}"]
        given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if nvrtc.nvrtcCompileProgram(program, len(options), given):
            raise CompilationFailed(_text(nvrtc, program, "ProgramLog").decode())
        return _text(nvrtc, program, "CUBIN")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def kept_code(source: str, architecture: str) -> bytes:
    """Return the same, from the cache of what the native engine compiles if it is there.

    Raises
    ------
    NoCompiler, CompilationFailed
        As `compiled`.
    """
    words = "\0".join((source, architecture, _version()))
    name = f"kernel-{hashlib.sha256(words.encode()).hexdigest()[:32]}.cubin"
    code = read_sealed(cache_folder() / name)
    if code is None:
        code = compiled(source, architecture)
        # a cache that cannot be written is none
        with contextlib.suppress(OSError):
            write_sealed(cache_folder(), name, code)
    return code


def _version() -> str:
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return f"{major.value}.{minor.value}"


def _text(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    """Return one of the results of a program."""
    size = ctypes.c_size_t()
    _check(getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    _check(getattr(nvrtc, f"nvrtcGet{what}")(program, text))
    return text.raw


def _check(status: int) -> None:
    if status:
        raise CompilationFailed(f"NVRTC returned {status}")


@cache
def library() -> ctypes.CDLL:
    """Return NVRTC, of a wheel or of the system.

    Raises
    ------
    NoCompiler
        If there is none.
    """
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    raise NoCompiler("NVRTC is not installed: pip install nvidia-cuda-nvrtc")


def _candidates() -> Iterator[str]:
    found = importlib.util.find_spec("nvidia")
    for folder in (found.submodule_search_locations or []) if found else []:
        for pattern in _IN_WHEELS:
            yield from map(str, sorted(Path(folder).glob(pattern), reverse=True))
    name = ctypes.util.find_library("nvrtc")
    if name is not None:
        yield name
