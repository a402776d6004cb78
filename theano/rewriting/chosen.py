"""The rewrites that a query chooses, arranged once for all functions that ask for the same.

To choose and arrange them took a fifth of what a small function takes to be compiled.
"""

from __future__ import annotations

from functools import lru_cache

from pytensor.configdefaults import config

from theano.pytensor_internals.graphs.rewriting import (
    GraphRewriter,
    RewriteDatabase,
    RewriteDatabaseQuery,
)
from theano.rewriting.arranged import arranged
from theano.rewriting.layered_database import LayeredDB

QUERIES_KEPT = 16

Tags = tuple[str, ...]


def chosen(database: RewriteDatabase, query: RewriteDatabaseQuery) -> GraphRewriter:
    """Return the rewrites that a query chooses, arranged; the same object for an equal query.

    It is shared by all functions and threads: what rewriters know of a graph is not kept in them.
    """
    if query.subquery or query.extra_rewrites or not isinstance(database, LayeredDB):
        return arranged(database.query(query))
    tags = tuple(query.include), tuple(query.require), tuple(query.exclude)
    # which the database reads
    flags = config.optdb__max_use_ratio, config.optdb__position_cutoff
    numbers = database.numbers_of_entries()
    return _kept(database, query.name, *tags, query.position_cutoff, flags, numbers)


@lru_cache(maxsize=QUERIES_KEPT)
def _kept(
    database: LayeredDB,
    name: str | None,
    include: Tags,
    require: Tags,
    exclude: Tags,
    position_cutoff: float,
    flags: tuple[float, float],
    numbers_of_entries: tuple[tuple[int, ...], ...],
) -> GraphRewriter:
    """Return what a query chooses; chosen again when a rewrite was registered, or its tags changed."""
    query = RewriteDatabaseQuery(include, require, exclude, position_cutoff=position_cutoff)
    query.name = name
    return arranged(database.query(query))
