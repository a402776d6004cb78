"""Python's garbage collector while a graph is made and compiled: called less often.

A graph is many small objects that refer to each other and stay. Each collection walks through
all of them and finds little; with Python's usual threshold that is a fifth of compilation. What
was made in the meantime counts as old afterwards, without a walk through it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# new objects between collections; Python's default is 700
OBJECTS_BETWEEN_COLLECTIONS = 1_000_000
# After so many objects that nobody looked at, all are looked at: some compilation's are garbage.
OBJECTS_BETWEEN_FULL_COLLECTIONS = 2_000_000

_not_looked_at = 0


@contextmanager
def rare_collections() -> Iterator[None]:
    """Compile with few collections; a collector that is off stays off."""
    before = gc.get_threshold()
    if not gc.isenabled() or before[0] == 0 or before[0] >= OBJECTS_BETWEEN_COLLECTIONS:
        yield
        return
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *before[1:])
    try:
        yield
    finally:
        _count_as_old()
        gc.set_threshold(*before)


def _count_as_old() -> None:
    """Have Python take all objects for old ones, or look at all of them if it is time to."""
    global _not_looked_at
    _not_looked_at += gc.get_count()[0]
    if _not_looked_at > OBJECTS_BETWEEN_FULL_COLLECTIONS:
        gc.collect()
        _not_looked_at = 0
    elif not gc.get_freeze_count():
        # together these move objects between generations; what a program has frozen stays so
        gc.freeze()
        gc.unfreeze()
