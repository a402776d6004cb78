"""Ways in which a file of a cache can be other than what was written there.

A cache is a folder; a damage changes one file of it, and takes the others of its kind to mix it with.
"""

from __future__ import annotations

import os
import pickle
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from theano.rewriting.disk.sealing import opened, seal_of

ANOTHER_USER = 12345


class Calls:
    """Pickled, it has a function called when it is read."""

    def __init__(self, function: Callable, *arguments: object):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def put(path: Path, content: bytes) -> None:
    """Put another file in place of one that a process may have loaded."""
    beside = path.with_name(f"{path.name}.damaged")
    beside.write_bytes(content)
    beside.chmod(0o600)
    os.replace(beside, path)


def _sealed(content: bytes, path: Path) -> bytes:
    return content + seal_of(content, path.name)


def _other(path: Path, others: Sequence[Path], random: np.random.Generator) -> Path:
    found = [other for other in others if other != path and other.suffix == path.suffix]
    return found[random.integers(len(found))] if found else path


def truncate(path: Path, others: Sequence[Path], random: np.random.Generator) -> None:
    """The file ends early."""
    content = path.read_bytes()
    put(path, content[: random.integers(len(content))])


def flip(path: Path, others: Sequence[Path], random: np.random.Generator) -> None:
    """Some bits are others."""
    content = bytearray(path.read_bytes())
    for _ in range(random.integers(1, 5)):
        content[random.integers(len(content))] ^= 1 << int(random.integers(8))
    put(path, bytes(content))


def swap(path: Path, others: Sequence[Path], random: np.random.Generator) -> None:
    """Two files have each other's names."""
    other = _other(path, others, random)
    mine, theirs = path.read_bytes(), other.read_bytes()
    put(path, theirs)
    put(other, mine)


def empty(path: Path, others: Sequence[Path], random: np.random.Generator) -> None:
    """The file holds nothing."""
    put(path, b"")


def foreign_owner(path: Path, others: Sequence[Path], random: np.random.Generator) -> None:
    """The file is another user's, or one that others can write."""
    if os.geteuid() == 0 and random.integers(2):
        os.chown(path, ANOTHER_USER, ANOTHER_USER)
    else:
        path.chmod(0o666)


def sealed_noise(path: Path, others: Sequence[Path], random: np.random.Generator) -> None:
    """Any bytes, with a seal that fits."""
    noise = random.bytes(int(random.integers(2000)))
    put(path, _sealed(zlib.compress(noise) if random.integers(2) else noise, path))


def sealed_other(path: Path, others: Sequence[Path], random: np.random.Generator) -> None:
    """Replace the content with that of another file of its kind, and add a seal that fits."""
    other = _other(path, others, random)
    content = opened(other.read_bytes(), other.name)
    put(path, _sealed(content or b"", path))


def sealed_call(path: Path, others: Sequence[Path], random: np.random.Generator) -> None:
    """A pickle that has a function called, which leaves a file, with a seal that fits."""
    mark = str(path.parent / "called")
    calls = [
        Calls(os.system, f"touch {mark}"),
        Calls(open, mark, "w"),
        Calls(exec, f"open({mark!r}, 'w')"),
        Calls(np.memmap, mark, "u1", "w+", 0, (1,)),
        Calls(getattr, Calls(__import__, "os"), "getcwd"),
    ]
    content = pickle.dumps(calls[random.integers(len(calls))])
    put(path, _sealed(zlib.compress(content), path))


def sealed_values(path: Path, others: Sequence[Path], random: np.random.Generator) -> None:
    """A pickle of plain values, with a seal that fits."""
    values = [None, [], (path.name, None), (path.name, [], [], [], [], 0), [path.name] * 6, {1: 2}]
    content = pickle.dumps(values[random.integers(len(values))])
    put(path, _sealed(zlib.compress(content), path))


def sealed_half(path: Path, others: Sequence[Path], random: np.random.Generator) -> None:
    """Truncate the content, with a seal that fits; a truncated library is not loaded."""
    content = opened(path.read_bytes(), path.name) or b""
    put(path, _sealed(content[: random.integers(len(content) + 1)], path))


def other_thing(path: Path, others: Sequence[Path], random: np.random.Generator) -> None:
    """A folder, a pipe, or a link that leads nowhere, to the file itself or to another."""
    kind = random.integers(5)
    target = _other(path, others, random)
    path.unlink()
    if kind == 0:
        path.mkdir()
    elif kind == 1:
        os.mkfifo(path)
    else:
        path.symlink_to((path.parent / "nowhere", path, target)[kind - 2])


DAMAGES = (
    *(truncate, flip, swap, empty, foreign_owner, sealed_noise, sealed_other, sealed_call),
    *(sealed_values, sealed_half, other_thing),
)
