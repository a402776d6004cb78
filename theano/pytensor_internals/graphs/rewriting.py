"""Internals of how PyTensor rewrites graphs: rewriters, their databases, patterns."""
# ruff: noqa: F401 -- this file re-exports

import sys
from collections.abc import Callable, Iterator
from operator import attrgetter

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import (
    CheckStackTraceRewriter,  # raises an error where a rewrite lost the user's lines
    EquilibriumGraphRewriter,  # applies node rewriters until none changes anything
    FromFunctionGraphRewriter,  # a graph rewriter of a function
    GraphRewriter,  # `apply(graph)`, `add_requirements(graph)`, `rewrite(graph)`
    MergeFeature,  # notes which nodes and constants are equal
    MergeOptimizer,  # makes equal nodes one
    NodeProcessingGraphRewriter,  # applies one node rewriter to nodes; `node_rewriter`
    NodeRewriter,  # `transform(graph, node)`, `tracks()`
    PatternNodeRewriter,  # replaces a pattern by another
    Rewriter,  # base of both kinds: `name`
    SequentialGraphRewriter,  # a list of graph rewriters: `data`
    SequentialNodeRewriter,  # a list of node rewriters: `rewrites`
    SubstitutionNodeRewriter,  # replaces one operator by another
    WalkingGraphRewriter,  # applies a node rewriter from inputs to outputs or back
    check_stack_trace,  # whether variables of a function have the user's lines
    copy_stack_trace,  # (from, to): gives new variables the user's lines of old ones
    dfs_rewriter,  # a WalkingGraphRewriter from outputs that follows new nodes
    in2out,  # a WalkingGraphRewriter from inputs to outputs
    node_rewriter,  # the decorator that makes a NodeRewriter of a function
    out2in,  # a WalkingGraphRewriter from outputs to inputs
    pre_constant_merge,  # makes equal constants of a graph one, before it is rewritten
    pre_greedy_node_rewriter,  # applies node rewriters to a graph that is not a FunctionGraph
)
from pytensor.graph.rewriting.db import (
    EquilibriumDB,  # gives an EquilibriumGraphRewriter
    RewriteDatabase,  # `register`, `query`; entries by name and tag in `__db__`
    RewriteDatabaseQuery,  # `include`, `require`, `exclude`, `subquery`, `extra_rewrites`
    SequenceDB,  # gives a SequentialGraphRewriter, by position
)
from pytensor.graph.rewriting.unify import (
    OpPattern,  # `match_op(op)`: operations of a class that have some attributes
)


def names_in(database: RewriteDatabase) -> set[str]:
    """Return the names, not the tags, of what is registered in a database."""
    return database._names


# the dict of an OrderedSet, whose own methods are functions in Python
_entries = attrgetter("values")


def nested_databases(*databases: RewriteDatabase) -> Iterator[RewriteDatabase]:
    """Yield databases, and those that are in them, each once."""
    waiting, seen = list(databases), set()
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            named = [entry for name in names_in(each) for entry in _entries(each.__db__[name])]
            waiting += [entry for entry in named if isinstance(entry, RewriteDatabase)]


def numbers_of_entries(*databases: RewriteDatabase) -> tuple[tuple[int, ...], ...]:
    """Return how many rewrites each name and tag has in databases, and in those that are in them.

    A query adds the tags that it asks for, without a rewrite, behind the others: they do not count.
    """
    return tuple(map(_numbers_of_entries, nested_databases(*databases)))


def _numbers_of_entries(database: RewriteDatabase) -> tuple[int, ...]:
    numbers = [*map(len, map(_entries, database.__db__.values()))]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def excluding_what_lacks(
    query: RewriteDatabaseQuery, *databases: RewriteDatabase
) -> RewriteDatabaseQuery:
    """Return a query that excludes the rewrites without the tags that another query requires.

    PyTensor's databases raise an AttributeError for a query that requires tags: their sets cannot
    be intersected.
    """
    lacking = {
        name
        for database in nested_databases(*databases)
        for name in names_in(database)
        for entry in database.__db__[name]
        if any(entry not in database.__db__.get(tag, ()) for tag in query.require)
    }
    made = query.excluding(*sorted(lacking))
    made.require = type(made.require)()
    return made


if sys.version_info >= (3, 12):

    def pattern_question(
        rewriter: PatternNodeRewriter,
    ) -> Callable[[FunctionGraph, Apply], bool] | None:
        """Return None: nothing would be quicker than to match the pattern."""
        return None

else:
    from theano.pytensor_internals.before_3_3.patterns import pattern_question
