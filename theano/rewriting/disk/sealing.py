"""A seal: what a file holds is whole, and was written under the name that the file has.

It is a hash of both at the end of the file, where the loader of libraries does not look. It is no
secret: who may write into a user's folder is the user alone (`own_folders.py`).
Installing the package uses this file by itself: it imports nothing but Python's own modules.
"""

import hashlib

_BYTES = hashlib.sha256().digest_size


def seal_of(content: bytes, name: str) -> bytes:
    """Return what is added to a file of that name."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


def opened(written: bytes, name: str) -> bytes | None:
    """Return what was sealed; None where it is damaged or was sealed under another name."""
    content, seal = written[:-_BYTES], written[-_BYTES:]
    return content if seal == seal_of(content, name) else None
