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


@contextmanager
def rare_collections() -> Iterator[None]:
    """Compile with few collections; a collector that is off stays off."""
    youngest, *older = gc.get_threshold()
    if youngest == 0 or youngest >= OBJECTS_BETWEEN_COLLECTIONS:
        yield
        return
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *older)
    try:
        yield
    finally:
        gc.set_threshold(youngest, *older)
