"""Python's garbage collector while a graph is compiled: called less often.

A graph is many small objects that refer to each other and stay. Each collection walks through
all of them and finds little; with Python's usual threshold that is a fifth of compilation.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# new objects between collections; Python's default is 700
OBJECTS_BETWEEN_COLLECTIONS = 50_000
# so many of them between those of what outlived one, and of these between those of everything, the
# imported modules too; Python's default is 10
COLLECTIONS_BETWEEN_OLDER = 100


@contextmanager
def rare_collections() -> Iterator[None]:
    """Compile with few collections; a collector that is off stays off."""
    before = gc.get_threshold()
    if before[0] == 0 or before[0] >= OBJECTS_BETWEEN_COLLECTIONS:
        yield
        return
    older = (max(each, COLLECTIONS_BETWEEN_OLDER) for each in before[1:])
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *older)
    try:
        yield
    finally:
        gc.set_threshold(*before)
