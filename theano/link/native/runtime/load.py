"""Load the C runtime: an installed one, else the one in this user's cache, else build it there.

A library appears in a folder whole, by a rename, so that processes that build at once do not disturb
one another, and is sealed.
"""

import ctypes
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import distributions
from pathlib import Path

from pytensor.configdefaults import config

from theano.link.native.runtime.build import (
    SOURCES,
    BuildError,
    Command,
    compile_library,
    find_compiler,
    hash_of_compiler,
    hash_of_sources,
    library_name,
    what_is_wrong_with,
)
from theano.rewriting.disk import sealed_files
from theano.rewriting.disk.building_folders import building_folder
from theano.rewriting.disk.own_folders import is_own_folder, make_own_folder
from theano.rewriting.disk.sealed_files import is_sealed, put_sealed
from theano.rewriting.disk.sealing import opened

_DISTRIBUTION = "theano-scan"

_log = logging.getLogger(__name__)
_lock = threading.RLock()
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
    """Return the loaded runtime, built first where need be.

    Raises
    ------
    NoCompiler
        If there is no C compiler.
    BuildError
        If the compiler fails, or cannot be run.
    """
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = _load(_installed_folders(), cache_folder())
        return _loaded


def is_built() -> bool:
    """Return whether the runtime is there, or was built in this process, without building it."""
    if _loaded is not None:
        return True
    cached = is_own_folder(cache_folder()) and _in_cache(cache_folder(), None)
    return bool(cached) or any(
        path for folder in _installed_folders() for path in folder.glob(library_name("*"))
    )


def open_library(path: Path, mark: str) -> ctypes.CDLL | None:
    """Load a library that has a symbol of that name; None where there is none that can be loaded."""
    if what_is_wrong_with(path):
        return None
    try:
        library = ctypes.CDLL(str(path))
        # not as a function, which would keep the library until the next collection
        ctypes.c_char.in_dll(library, mark)
    except (OSError, ValueError):
        return None
    return library


def in_cache_or_elsewhere(folder: Path, make: Callable[[Path], ctypes.CDLL]) -> ctypes.CDLL:
    """Make a library in the user's cache, or in a folder that is gone afterwards.

    The cache may be read-only, full, or another user's.
    """
    try:
        if make_own_folder(folder):
            return make(folder)
    except OSError:
        pass
    with building_folder() as elsewhere:
        return make(elsewhere)


def load_and_keep(
    made: Path, folder: Path, opened: Callable[[Path], ctypes.CDLL | None]
) -> ctypes.CDLL | None:
    """Load a library that was made, and put it into a folder; None where it cannot be loaded.

    It is loaded from where it is made, unless that would keep the folder there from being removed.
    """
    if not sealed_files.LOADED_FILES_MAY_GROW:
        put_sealed(made, folder)
        return opened(folder / made.name)
    loaded = opened(made)
    if loaded is not None:
        put_sealed(made, folder)
    return loaded


def _installed_folders() -> Iterator[Path]:
    """Yield where a library may lie that was installed: next to the sources, then in other packages.

    What runs in a clone finds the library of the package that was installed from it.
    """
    yield SOURCES
    here = SOURCES.relative_to(SOURCES.parents[3])
    for distribution in distributions(name=_DISTRIBUTION):
        yield Path(str(distribution.locate_file(str(here))))


def _in_cache(cache: Path, compiler: Command | None) -> list[Path]:
    """Return the compiler's library in the cache; without a compiler, each that is there."""
    if compiler is None:
        return sorted(cache.glob(library_name("*")))
    return [cache / library_name(hash_of_compiler(compiler))]


def _load(installed: Iterable[Path], cache: Path) -> ctypes.CDLL:
    compiler = find_compiler()
    # what was installed may come from another machine's compiler
    for folder in installed:
        for path in sorted(folder.glob(library_name("*"))):
            if opened(path.read_bytes(), path.name) is not None and (found := _opened(path)):
                return found
    try:
        if is_own_folder(cache):
            for path in _in_cache(cache, compiler):
                if is_sealed(path) and (found := _opened(path)):
                    return found
        if compiler is not None:
            command = compiler
            return in_cache_or_elsewhere(cache, lambda folder: build(folder, command))
    except OSError as error:
        raise BuildError(f"the C compiler {compiler} cannot be run: {error}") from error
    raise NoCompiler(
        "the native engine needs a C compiler, and neither cc, gcc nor clang (nor what the "
        "environment variable CC names) was found. Install one: 'pip install ziglang' on any "
        "platform, 'apt install gcc' on Debian and Ubuntu, 'dnf install gcc' on Fedora, "
        "'xcode-select --install' on macOS."
    )


def build(folder: Path, compiler: Command) -> ctypes.CDLL:
    """Compile the runtime, put it into a folder, and load it.

    Raises
    ------
    OSError
        If the folder cannot be written, or the compiler cannot be started.
    BuildError
        If the compiler fails.
    """
    if sys.stderr is not None and sys.stderr.isatty():
        # somebody waits
        by = " ".join(compiler)
        _log.warning("compiling the C runtime, once for this version, by %s: up to a minute", by)
    with building_folder(folder) as work:
        made = work / library_name(hash_of_compiler(compiler))
        compile_library(compiler, made)
        loaded = load_and_keep(made, folder, _opened)
        if loaded is None:
            raise BuildError(f"what {' '.join(compiler)} made from the runtime cannot be loaded")
    # the same, by the name that it has now
    return _opened(folder / made.name) or loaded


def _opened(path: Path) -> ctypes.CDLL | None:
    """Return the runtime's library, if it was made from these sources."""
    library = open_library(path, "tn_sources")
    if library is None:
        return None
    made_of = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(library, "tn_sources")))
    return library if made_of.decode(errors="replace") == hash_of_sources() else None


def _forget_other_threads() -> None:
    """After a fork the child has this thread only: nobody else holds its locks."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
