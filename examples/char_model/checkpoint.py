"""Checkpoints that are either whole or absent: one file, replaced in one step."""

import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from char_model.errors import InputError

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
    """Make the folder and rehearse a save in it, without touching the checkpoint there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
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
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        progress = json.loads(str(arrays.pop(PROGRESS_KEY)))
    except FileNotFoundError:
        return None
    except (zipfile.BadZipFile, EOFError, KeyError, ValueError) as error:
        raise InputError(
            f"the checkpoint {path} is truncated or damaged ({error}); "
            "put a good copy in its place, or start over with --fresh"
        ) from error
    except OSError as error:
        raise InputError(f"cannot read the checkpoint {path}: {error.strerror}") from error
    return Checkpoint(arrays, progress)


def _write_beside(folder: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint to a temporary file of the folder, down to the disk."""
    # The process number keeps two runs that share a folder out of each other's file.
    temporary = folder / f"{FILE_NAME}.{os.getpid()}.tmp"
    progress = np.array(json.dumps(checkpoint.progress))
    try:
        with temporary.open("wb") as file:
            np.savez(file, **checkpoint.arrays, **{PROGRESS_KEY: progress})
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


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
