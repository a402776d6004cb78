"""Files of a folder on disk that are there whole or not at all, and are seen to be damaged."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import zlib
from pathlib import Path

# The files of one kind that were not read for longest go when there are more.
MOST_FILES = 100
_DIGEST = hashlib.sha256().digest_size


def write_sealed(folder: Path, name: str, content: bytes | memoryview) -> None:
    """Put a file into a folder, which is made if it is not there.

    Parameters
    ----------
    folder, name
        The file. Of those whose name begins as this one does up to a hyphen the oldest may go.
    """
    packed = zlib.compress(content, 1)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as made:
        made.write(hashlib.sha256(packed).digest() + packed)
    # a file is there whole, for processes that read it at the same time
    os.replace(made.name, folder / name)
    _remove_old(folder, name.partition("-")[0])


def _remove_old(folder: Path, kind: str) -> None:
    files = sorted(folder.glob(f"{kind}-*"), key=lambda path: path.stat().st_mtime)
    for path in files[:-MOST_FILES]:
        path.unlink(missing_ok=True)


def read_sealed(path: Path) -> bytes | None:
    """Return what was written to a file; None where there is none that is whole."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, packed = content[:_DIGEST], content[_DIGEST:]
    if hashlib.sha256(packed).digest() != digest:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return zlib.decompress(packed)
