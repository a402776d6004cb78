"""Python's garbage collector while a graph is made and compiled: called less often.

A graph is many small objects that refer to each other and stay. Each collection walks through
all of them and finds little; with Python's usual threshold that is a fifth of compilation. What
was made in the meantime counts as old afterwards, without a walk through it.

A function that nobody has any more goes at once, with its program and its memory, but its graph
does not: an operation and its results refer to each other. So the objects of such graphs are
counted, and all objects are looked at once these are the greater part.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from theano.support.data_classes import dataclass

# new objects between collections; Python's default is 700
OBJECTS_BETWEEN_COLLECTIONS = 1_000_000
# Garbage is collected when there is so many times as much of it as there are other objects: the
# walk through those, which finds nothing, is then a small part of what making the garbage took.
GARBAGE_TO_OTHERS = 2
# After so many new objects all are looked at, for not all garbage was a function's; after more of
# them where there are many others, so that collections stay the same small part of the time.
OBJECTS_BETWEEN_FULL_COLLECTIONS = 2_000_000
NEW_TO_OTHERS = 0.5
# Rewriting and lowering leave nodes and statements that refer to each other. Collected when a function
# is compiled, among what is new only, they leave their room to the next function; later they are
# among objects that stay, and their room is lost. Of large functions they are the smaller part.
MOST_OBJECTS_COLLECTED_AT_ONCE = 50_000
# Python 3.12 itself has a few hundred immortal objects frozen; a program freezes all that it has.
FROZEN_BY_PYTHON = 2000


@dataclass
class Objects:
    """The numbers of objects, as far as they are known without counting all.

    Attributes
    ----------
    old
        Those that there were at the last full collection; None until somebody had to know: to
        count them takes a hundredth of a second.
    new
        Made by compilations since then.
    unclaimed
        Made since the last function was.
    dead
        Made for functions that have died since the last full collection.
    """

    old: int | None = None
    new: int = 0
    unclaimed: int = 0
    dead: int = 0


_objects = Objects()


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


def counted_when_it_dies(function: object) -> Any:
    """Return the function; what was made since the one before it is garbage when it dies."""
    finalizer = weakref.finalize(function, _count_as_dead, _objects.unclaimed)
    finalizer.atexit = False
    _objects.unclaimed = 0
    return function


def _count_as_dead(objects: int) -> None:
    _objects.dead += objects


def _count_as_old() -> None:
    """Have Python take all objects for old ones, or look at all of them if it is time to."""
    made = gc.get_count()[0]
    if made < MOST_OBJECTS_COLLECTED_AT_ONCE:
        made -= gc.collect(0)
    _objects.new += made
    _objects.unclaimed += made
    if _much_is_garbage() or _objects.new > _new_between_full_collections():
        gc.collect()
        _objects.old, _objects.new, _objects.dead = len(gc.get_objects()), 0, 0
    elif gc.get_freeze_count() < FROZEN_BY_PYTHON:
        # together these move objects between generations; what a program has frozen stays so
        gc.freeze()
        gc.unfreeze()


def _new_between_full_collections() -> float:
    return max(OBJECTS_BETWEEN_FULL_COLLECTIONS, NEW_TO_OTHERS * (_objects.old or 0))


def _much_is_garbage() -> bool:
    if _objects.dead <= GARBAGE_TO_OTHERS * (_objects.new - _objects.dead):
        return False
    if _objects.old is None:
        _objects.old = len(gc.get_objects()) - _objects.new
    return _objects.dead > GARBAGE_TO_OTHERS * (_objects.old + _objects.new - _objects.dead)
