"""Folders in which files are made before they appear where they are looked for.

The process that makes one holds a lock on a file in it, which ends with the process, however that
ends. The next process that makes one removes those that nobody holds.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from theano.support.data_classes import dataclass

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PREFIX = "theano-building-"
_LOCK = "lock"
# Nobody takes so long from making a folder to holding it, or to build in one without locks.
SECONDS_TO_HOLD = 60
SECONDS_TO_BUILD = 86400

# folders in which this process has looked for what others left, by the process' number
_looked_at: set[tuple[int, Path]] = set()


@dataclass(frozen=True)
class BuildingFolder:
    """A folder that this process holds."""

    path: Path
    lock: int

    def remove(self) -> None:
        """Remove it, and what is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.close(self.lock)


def make_building_folder(place: Path | None = None) -> BuildingFolder:
    """Make a folder that only the user may enter.

    Parameters
    ----------
    place
        Where, which is made if it is not there; by default, where the system keeps temporary files.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    place = Path(tempfile.gettempdir()) if place is None else place
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (os.getpid(), place) not in _looked_at:
        _looked_at.add((os.getpid(), place))
        remove_leftovers(place)
    made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    try:
        lock = os.open(made / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        shutil.rmtree(made, ignore_errors=True)
        raise
    _hold(lock)
    return BuildingFolder(made, lock)


@contextlib.contextmanager
def building_folder(place: Path | None = None) -> Iterator[Path]:
    """Make a folder that is gone in the end."""
    made = make_building_folder(place)
    try:
        yield made.path
    finally:
        made.remove()


def remove_leftovers(place: Path) -> None:
    """Remove the folders of processes that are no more."""
    # one entry after the other: a list of a folder with ten thousand files takes 5 MB amid a call
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and _is_left_over(Path(entry.path)):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_left_over(path: Path) -> bool:
    try:
        about = path.stat()
        age = time.time() - about.st_mtime
        if hasattr(os, "geteuid") and about.st_uid != os.geteuid():
            return False
        if fcntl is None:
            return age > SECONDS_TO_BUILD
        if age < SECONDS_TO_HOLD:
            return False
        if not (path / _LOCK).exists():
            return True
        lock = os.open(path / _LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        return _hold(lock)
    finally:
        os.close(lock)


def _hold(lock: int) -> bool:
    """Lock a file, until it is closed; return whether no other process holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
