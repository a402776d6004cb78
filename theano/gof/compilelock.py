"""The lock on the folder of compiled code, by Theano 1.0's names."""

from contextlib import ExitStack
from pathlib import Path

from theano.pytensor_internals.functions.compiling import force_unlock, lock_ctx

__all__ = ["force_unlock", "get_lock", "lock_ctx", "release_lock"]

# those that `get_lock` holds, the last one last
_held: list[ExitStack] = []


def get_lock(lock_dir: str | Path | None = None) -> None:
    """Wait for the lock, and hold it until `release_lock` is called as often as this.

    Parameters
    ----------
    lock_dir : path, optional
        The folder; by default that of compiled code.
    """
    held = ExitStack()
    held.enter_context(lock_ctx(lock_dir))
    _held.append(held)


def release_lock() -> None:
    """Give back what `get_lock` took last.

    Raises
    ------
    RuntimeError
        Nothing is held.
    """
    if not _held:
        raise RuntimeError("release_lock: get_lock was not called before")
    _held.pop().close()
