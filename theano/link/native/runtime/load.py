"""Load the C runtime: the installed one, else the one in this user's cache, else build it there."""

import ctypes
import tempfile
import threading
from pathlib import Path

from pytensor.configdefaults import config

from theano.link.native.runtime.build import (
    SOURCES,
    build,
    find_compiler,
    find_library,
)

_lock = threading.Lock()
_loaded: ctypes.CDLL | None = None


class NoCompiler(RuntimeError):
    """There is no C compiler, and no library that was built before."""


def cache_folder() -> Path:
    """Folder of what the native engine compiles: ``native`` in the flag ``base_compiledir``."""
    return Path(config.base_compiledir) / "native"


def symbol(name: str) -> int:
    """Address of a function of the runtime.

    Parameters
    ----------
    name : str
        Name in ``runtime.h``, such as ``"tn_gemm_packed_f32"``.

    Raises
    ------
    AttributeError
        If the runtime has no such function.
    """
    address = ctypes.cast(getattr(library(), name), ctypes.c_void_p).value
    assert address is not None
    return address


def library() -> ctypes.CDLL:
    """The loaded runtime, built first where need be.

    Raises
    ------
    NoCompiler
        If there is no C compiler.
    BuildError
        If the compiler fails.
    """
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = _load(SOURCES, cache_folder())
        return _loaded


def _load(installed: Path, cache: Path) -> ctypes.CDLL:
    compiler = find_compiler()
    # what was installed may come from another machine's compiler
    path = find_library(installed, None) or find_library(cache, compiler)
    if path is not None:
        return ctypes.CDLL(str(path))
    if compiler is None:
        raise NoCompiler(
            "the native engine needs a C compiler, and neither cc, gcc nor clang (nor what the "
            "environment variable CC names) was found. Install one: 'apt install gcc' on Debian "
            "and Ubuntu, 'dnf install gcc' on Fedora, 'xcode-select --install' on macOS, 'conda "
            "install c-compiler' in a conda environment."
        )
    try:
        return ctypes.CDLL(str(build(cache, compiler)))
    except OSError:
        # A cache folder that is read-only or full: this process builds for itself.
        with tempfile.TemporaryDirectory(prefix="theano-native-") as own:
            return ctypes.CDLL(str(build(Path(own), compiler)))
