"""Files that are read from disk and run belong to the user, and nobody else can write them."""

from __future__ import annotations

import functools
import os
import stat
import warnings
from pathlib import Path

from theano.configparser import caller_stacklevel

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def make_own_folder(folder: Path) -> bool:
    """Make a folder that only the user may enter, if it is not there.

    Returns
    -------
    bool
        Whether it may be used; where it may not, one warning says why.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return is_own_folder(folder)


def is_own_folder(folder: Path) -> bool:
    """Return whether a folder is there, belongs to the user, and nobody else can write into it."""
    try:
        about = folder.stat()
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and _is_own(about, folder)


def read_own(path: Path) -> bytes | None:
    """Return what a file of the user's holds; None where there is no such file."""
    if not is_own_folder(path.parent):
        return None
    # neither a link to elsewhere nor a pipe, at which opening would wait, is a file
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or not _is_own(about, path):
                return None
            return file.read()
    except OSError:
        return None


def _is_own(about: os.stat_result, path: Path) -> bool:
    if not hasattr(os, "geteuid"):
        return True
    if about.st_uid != os.geteuid():
        _warn(path, f"it belongs to another user ({about.st_uid}, and this is {os.geteuid()})")
        return False
    if about.st_mode & _WRITABLE_BY_OTHERS:
        _warn(path, f"other users can write it; 'chmod go-w {path}' ends that")
        return False
    return True


@functools.cache
def _warn(path: Path, why: str) -> None:
    warnings.warn(
        f"{path} is not used, because {why}. What is compiled is kept for the next process in the "
        "folder of the flag base_compiledir, such as THEANO_FLAGS=base_compiledir=~/.theano",
        stacklevel=caller_stacklevel(),
    )
