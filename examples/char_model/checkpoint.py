"""Checkpoints that are either whole or absent: one file, replaced in one step."""

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from char_model.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

FILE_NAME = "checkpoint.npz"
PROGRESS_KEY = "progress.json"


@dataclass(frozen=True)
class Checkpoint:
    """Arrays by name, and everything else as values that JSON holds exactly."""

    arrays: dict[str, np.ndarray]
    progress: dict


def file_in(folder: Path) -> Path:
    """Return the path of the checkpoint file of a folder."""
    return folder / FILE_NAME


def save(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint, replacing the folder's last one only once the new one is on disk.

    Raises
    ------
    InputError
        If the folder cannot be written or is full. The last checkpoint is then untouched.
    """
    try:
        temporary = _write_beside(folder, checkpoint)
        os.replace(temporary, file_in(folder))
        _flush_folder(folder)
    except OSError as error:
        raise InputError(_cannot_write(folder, error)) from error


def require_writable(folder: Path, checkpoint: Checkpoint) -> None:
    """Make the folder and rehearse a save in it, without touching the checkpoint there.

    What saves that were killed have left in it is removed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(folder)
        _write_beside(folder, checkpoint).unlink()
    except OSError as error:
        raise InputError(_cannot_write(folder, error)) from error


def load(folder: Path) -> Checkpoint | None:
    """Return the folder's checkpoint, or None where there is none yet.

    Raises
    ------
    InputError
        If the file cannot be read, is truncated or damaged, or is no checkpoint.
    """
    path = file_in(folder)
    try:
        with path.open("rb") as file:
            return _read(file)
    except FileNotFoundError:
        return None
    except OSError as error:
        # a damaged file may have the reader seek to where nothing can be
        why = error.strerror or error
        raise InputError(f"cannot read the checkpoint {path}: {why}") from error
    except Exception as error:
        # whatever the readers of the formats inside raise
        raise InputError(
            f"the checkpoint {path} is truncated or damaged ({error or type(error).__name__}); "
            "put a good copy in its place, or start over with --fresh"
        ) from error


def _read(file: BinaryIO) -> Checkpoint:
    if not file.seekable():
        raise ValueError("no regular file")
    stored = np.load(file, allow_pickle=False)
    if not isinstance(stored, np.lib.npyio.NpzFile):
        raise ValueError("one array in place of many")
    with stored:
        arrays = {name: stored[name] for name in stored.files}
    progress = json.loads(str(arrays.pop(PROGRESS_KEY)))
    if not isinstance(progress, dict):
        raise ValueError(f"{PROGRESS_KEY} holds no table")
    return Checkpoint(arrays, progress)


def _write_beside(folder: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint to a temporary file of the folder, down to the disk."""
    # The process number keeps two runs that share a folder out of each other's file.
    temporary = folder / f"{FILE_NAME}.{os.getpid()}.tmp"
    progress = np.array(json.dumps(checkpoint.progress))
    try:
        with temporary.open("wb") as file:
            _hold(file)
            np.savez(file, **checkpoint.arrays, **{PROGRESS_KEY: progress})
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of processes that are no more."""
    for path in folder.glob(f"{FILE_NAME}.*.tmp"):
        number = path.name.removeprefix(f"{FILE_NAME}.").removesuffix(".tmp")
        if fcntl is None or not number.isdecimal() or Path("/proc", number).exists():
            continue
        # a process of another machine that shares the folder holds its file
        with contextlib.suppress(OSError), path.open("rb+") as file:
            if _hold(file):
                path.unlink()


def _hold(file: BinaryIO) -> bool:
    """Lock a file until it is closed; return whether no other process holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _flush_folder(folder: Path) -> None:
    """Make the replaced name durable, where the system lets a folder be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _cannot_write(folder: Path, error: OSError) -> str:
    kept = " (the last checkpoint is kept)" if file_in(folder).exists() else ""
    return f"cannot write a checkpoint in {folder}: {error.strerror}{kept}"
