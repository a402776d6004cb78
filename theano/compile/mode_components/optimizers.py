"""Selections of rewrites by the names that Theano 1.0 gave them."""

from collections.abc import Iterable
from typing import Any

from theano.compile.mode_components.linkers import unknown_name
from theano.configdefaults import config
from theano.pytensor_internals.functions.compiling import OPT_MERGE, OPT_NONE, asked_rewrites
from theano.pytensor_internals.graphs.rewriting import GraphRewriter, RewriteDatabaseQuery
from theano.rewriting.arranged import arranged
from theano.rewriting.database import FAST_COMPILE_TAG, FAST_RUN_TAG, FEW_OPERANDS
from theano.rewriting.rewrites.of_pytensor.left_out import FROM_EVERY_MODE, OF_INNER_GRAPHS


def _query(
    name: str, include: Iterable[str], exclude: Iterable[str] = (), **kwargs: Any
) -> RewriteDatabaseQuery:
    query = RewriteDatabaseQuery(
        include=list(include),
        exclude=[*exclude, *FROM_EVERY_MODE],
        **kwargs,
    )
    query.name = name
    return query


_FAST_RUN = ("fast_run", FAST_RUN_TAG)
_FAST_COMPILE = ("fast_compile", FAST_COMPILE_TAG)

OPT_FAST_RUN = _query("OPT_FAST_RUN", _FAST_RUN)
OPT_FAST_RUN_STABLE = _query("OPT_FAST_RUN_STABLE", _FAST_RUN, require=["stable"])
OPT_FAST_COMPILE = _query("OPT_FAST_COMPILE", _FAST_COMPILE)
OPT_STABILIZE = _query("OPT_STABILIZE", _FAST_RUN, position_cutoff=1.5000001)
OPT_O2 = _query("OPT_O2", (*_FAST_COMPILE, "fusion"))
OPT_O3 = _query("OPT_O3", _FAST_RUN, exclude=["inplace"])
OPT_UNSAFE = _query("OPT_UNSAFE", (*_FAST_RUN, "unsafe"), exclude=["inplace"])

predefined_optimizers = {
    None: OPT_NONE,
    "None": OPT_NONE,
    "merge": OPT_MERGE,
    "o4": OPT_FAST_RUN,
    "o3": OPT_O3,
    "o2": OPT_O2,
    "o1": OPT_FAST_COMPILE,
    "unsafe": OPT_UNSAFE,
    "fast_compile": OPT_FAST_COMPILE,
    "fast_run": OPT_FAST_RUN,
    "fast_run_stable": OPT_FAST_RUN_STABLE,
    "stabilize": OPT_STABILIZE,
}


def register_optimizer(name: str, query: RewriteDatabaseQuery) -> None:
    """Give a query of rewrites a name that `Mode` accepts; a taken name is a ValueError."""
    if name in predefined_optimizers:
        raise ValueError(f"Optimizer name already taken: {name}")
    predefined_optimizers[name] = query


def resolve_optimizer(optimizer: object) -> object:
    """Return the query that a name stands for, and anything that is not a name unchanged."""
    if optimizer == "default":
        optimizer = config.optimizer
    if optimizer is not None and not isinstance(optimizer, str):
        return optimizer
    if optimizer not in predefined_optimizers:
        raise unknown_name("optimizer", optimizer, map(str, predefined_optimizers))
    return predefined_optimizers[optimizer]


def rewriter_of(mode: Any, without: Iterable[str] = ()) -> GraphRewriter:
    """Return the rewriter of a mode that runs operations one by one, and compiles steps by themselves.

    Parameters
    ----------
    mode
        The mode.
    without
        Names and tags of rewrites that it leaves out.
    """
    asked = asked_rewrites(mode)
    if not isinstance(asked, RewriteDatabaseQuery):
        return asked
    return arranged(mode.optdb.query(for_python(asked).excluding(*OF_INNER_GRAPHS, *without)))


def for_python(asked: RewriteDatabaseQuery) -> RewriteDatabaseQuery:
    """Return the query for operations that Python runs, if it asks for any rewrite."""
    return asked.including(FEW_OPERANDS) if asked.include else asked
