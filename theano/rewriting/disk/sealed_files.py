"""Files of a folder on disk that are there whole or not at all, and are seen to be damaged."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import zlib
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from theano.configparser import config
from theano.rewriting.disk.building_folders import building_folder
from theano.rewriting.disk.own_folders import make_own_folder, read_own
from theano.rewriting.disk.sealing import opened, seal_of

MEBIBYTE = 2**20
# Windows writes to no library that is loaded, and macOS ends a process whose signed library was written to.
LOADED_FILES_MAY_GROW = sys.platform == "linux"
# How often all files of a full folder are looked at while as much is written as it may have: to
# look at ten thousand takes a tenth of a second, so it is not done for each file that is put there.
LOOKS = 256
# what of the size stays free then, for what is written until the next look
FREE = 1 / 16


def write_sealed(folder: Path, name: str, content: bytes | memoryview) -> None:
    """Put a file into a folder, which is made if it is not there.

    Parameters
    ----------
    folder, name
        The file. The files of the folder that were not used for longest may go.

    Raises
    ------
    OSError
        If it cannot be written. Nothing is left of it then.
    """
    if not make_own_folder(folder):
        return
    with building_folder(folder) as work:
        made = work / name
        made.write_bytes(zlib.compress(content, 1))
        put_sealed(made, folder)


def put_sealed(made: Path, folder: Path) -> None:
    """Seal a file that is ready, and put it into a folder under its name."""
    name, content = made.name, made.read_bytes()
    seal = seal_of(content, name)
    if LOADED_FILES_MAY_GROW:
        # added at the end: a library may be in use already
        with made.open("ab") as file:
            file.write(seal)
    else:
        made = made.with_name(f"{name}.sealed")
        made.write_bytes(content + seal)
    made.chmod(0o600)
    size = made.stat().st_size
    try:
        # a file is there whole, for processes that read it at the same time
        os.replace(made, folder / name)
    except PermissionError:
        # Windows replaces no library that another process has loaded
        if not is_sealed(folder / name):
            raise
    most = config.cache_size * MEBIBYTE
    if most and _is_time_to_look(name, size, most):
        keep_to_size(folder, most * (1 - FREE))


def _is_time_to_look(name: str, size: int, most: float) -> bool:
    """Return whether all files are to be looked at: by chance, the likelier the larger the file is.

    The chance lies in the name, which ends with a hash: no process knows what others write.
    """
    return zlib.crc32(name.encode()) < size * LOOKS / most * 2**32


def keep_to_size(folder: Path, most: float) -> None:
    """Remove the files of a folder that were not used for longest, until it has no more bytes."""
    # numbers and no paths: this happens in the midst of calls, and a folder may have ten thousand
    used, sizes = array("q"), array("q")
    for _, about in _files_of(folder):
        used.append(about.st_mtime_ns)
        sizes.append(about.st_size)
    last_of_removed = _last_of_removed(np.asarray(used), np.asarray(sizes), most)
    if last_of_removed is None:
        return
    for path, about in _files_of(folder):
        if about.st_mtime_ns <= last_of_removed:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _files_of(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                about = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(about.st_mode):
                    yield entry.path, about


def _last_of_removed(used: np.ndarray, sizes: np.ndarray, most: float) -> int | None:
    """When the last of the files that must go was used, but for the file that was used last."""
    excess = sizes.sum() - most
    if excess <= 0 or len(used) < 2:
        return None
    oldest_first = np.argsort(used, kind="stable")
    gained = np.cumsum(sizes[oldest_first])
    last = min(int(np.searchsorted(gained, excess)), len(used) - 2)
    return int(used[oldest_first[last]])


def read_sealed(path: Path) -> bytes | None:
    """Return what was written to a file; None where there is none that is whole."""
    packed = _content(path)
    if packed is None:
        return None
    try:
        return zlib.decompress(packed)
    except zlib.error:
        return None


def is_sealed(path: Path) -> bool:
    """Return whether a file is there as it was put, under this name; it then counts as used."""
    return _content(path) is not None


def _content(path: Path) -> bytes | None:
    written = read_own(path)
    content = None if written is None else opened(written, path.name)
    if content is not None:
        with contextlib.suppress(OSError):
            os.utime(path)
    return content
