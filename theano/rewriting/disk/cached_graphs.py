"""Rewritten graphs on disk: a graph that was rewritten once is read the next time.

The name of a file is a hash of all that decides the compiled form of a graph (`graph_names.py`). Graphs are
written as their nodes in the order of computation, so that long graphs need no deep recursion.
"""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytensor.compile.ops import DeepCopyOp, ViewOp
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph, Output
from pytensor.graph.type import Type

from theano.pytensor_internals.graphs.graph import (
    AlreadyThere,
    DestroyHandler,
    Feature,
    features_of,
    replace_at_once,
)
from theano.pytensor_internals.graphs.order import order_of
from theano.pytensor_internals.graphs.rewriting import SequentialGraphRewriter
from theano.pytensor_internals.graphs.untraced import untraced
from theano.rewriting.disk.graph_names import name_of
from theano.rewriting.disk.graph_pickles import (
    NOT_STORABLE,
    GraphPickler,
    GraphUnpickler,
    NotCached,
)
from theano.rewriting.disk.sealed_files import read_sealed, write_sealed
from theano.rewriting.imports import InSequence

_log = logging.getLogger(__name__)

# Rewriting that takes less is not worth a file.
SECONDS_WORTH_CACHING = 0.03


class CachedGraphs(InSequence):
    """Rewrites whose results are kept in a folder.

    Parameters
    ----------
    rewriter
        The rewrites.
    folder
        Where the results are, and are put.
    """

    def __init__(self, rewriter: SequentialGraphRewriter, folder: Path):
        super().__init__(*rewriter.data, failure_callback=rewriter.failure_callback)
        self.name, self._folder, self._of = rewriter.name, folder, rewriter

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Nothing yet: a graph that is read needs none of what rewrites ask for."""

    def apply(self, fgraph: FunctionGraph) -> Any:
        """Rewrite the graph, or make it what is stored of it."""
        try:
            if _carried(fgraph):
                raise NotCached("a graph that was rewritten before")
            name = f"graph-{name_of(fgraph, self._of)}.pickle"
        except NOT_STORABLE as why:
            _log.debug("a graph is not stored: %s", why)
            name = None
        if name is None:
            # not where the exception is handled: it would be reported with those of the rewrites
            return self._rewritten(fgraph)
        inputs = list(fgraph.inputs)
        if _read(self._folder / name, fgraph, inputs):
            fgraph.attach_feature(CachedAs(self._folder, name))
            return None
        start = time.perf_counter()
        result = self._rewritten(fgraph)
        if time.perf_counter() - start > SECONDS_WORTH_CACHING:
            outputs = list(fgraph.outputs)
            write = functools.partial(_write, self._folder, name, fgraph, inputs, outputs)
            fgraph.attach_feature(CachedAs(self._folder, name, write))
        return result

    def _rewritten(self, fgraph: FunctionGraph) -> Any:
        super().add_requirements(fgraph)
        return super().apply(fgraph)


class CachedAs(Feature):
    """The location of a rewritten graph on disk, for what else is kept of it.

    Parameters
    ----------
    write
        What puts it there, if it is not there yet; return whether that was possible.

    Attributes
    ----------
    folder, name
        The file; the name is None once more than copies of results were added to the graph.
    """

    def __init__(self, folder: Path, name: str | None, write: Callable[[], bool] | None = None):
        self.folder, self.name, self._write = folder, name, write

    def write(self) -> bool:
        """Put the graph on disk, when there is time for it; return whether it is there."""
        write, self._write = self._write, None
        if self.name is not None and write is not None and not write():
            self.name = None
        return self.name is not None

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Forget the name if a node was added that computes."""
        if not isinstance(node.op, DeepCopyOp | ViewOp):
            self.name = None

    def on_change_input(self, fgraph, node, i, variable, new_variable, reason=None) -> None:
        """Forget the name if a node reads something else; results may be copies of others."""
        if not isinstance(node.op, Output):
            self.name = None

    def clone(self) -> CachedAs:
        """Return the same for a copy of the graph."""
        return CachedAs(self.folder, self.name)


# ---- files ----


def _write(
    folder: Path,
    name: str,
    fgraph: FunctionGraph,
    inputs: list[Variable],
    outputs: list[Variable],
) -> bool:
    """Put the graph into a file, with the outputs that it had when it was rewritten."""
    features = _carried(fgraph)
    # what features remember comes first, in the order of computation, too
    before = order_of([variable for feature in features for variable in feature.remembered()])
    handled = hasattr(fgraph, "destroyers")
    file = io.BytesIO()
    try:
        order = order_of(outputs)
        GraphPickler(file, inputs).dump([name, before, order, outputs, features, handled])
        write_sealed(folder, name, file.getbuffer())
        return True
    except (*NOT_STORABLE, OSError) as why:
        _log.debug("a graph is not stored: %s", why)
        return False


def _read(path: Path, fgraph: FunctionGraph, inputs: list[Variable]) -> bool:
    """Make the graph what the file holds; return whether there is one that can be read."""
    content = read_sealed(path)
    if content is None:
        return False
    file = io.BytesIO(content)
    # no line of the user's makes what is read
    try:
        with untraced:
            name, _, _, outputs, features, handled = GraphUnpickler(file, inputs).load()
        nodes = _checked_nodes(fgraph, inputs, outputs, features)
        if name != path.name:
            raise NotCached(f"it is the graph {name}")
    except Exception as why:
        # what it takes to read a graph was not there, such as a class that is defined later
        _log.warning("the graph in %s cannot be read: %s", path, why)
        return False
    if not replace_at_once(fgraph, outputs, nodes):
        _replace(fgraph, outputs)
    if handled:
        with contextlib.suppress(AlreadyThere):
            fgraph.attach_feature(DestroyHandler())
    for feature in features:
        fgraph.attach_feature(feature)
    return True


def _replace(fgraph: FunctionGraph, outputs: list[Variable]) -> None:
    for old in list(dict.fromkeys(fgraph.outputs)):
        for node, position in list(fgraph.clients[old]):
            if isinstance(node.op, Output):
                new = outputs[node.op.idx]
                fgraph.change_node_input(node, position, new, reason="read from disk")


def _checked_nodes(
    fgraph: FunctionGraph, inputs: list[Variable], outputs: Any, features: Any
) -> list[Apply]:
    """Return the nodes of what was read, in order; NotStored where it can't be put in the graph's place."""
    types = [variable.type for variable in fgraph.outputs]
    if len(outputs) != len(types) or not all(map(_is_in_type, types, outputs)):
        raise NotCached("its results are of other types")
    nodes = order_of(outputs)
    read = {v for node in nodes for v in node.inputs} | set(outputs)
    made = {v for node in nodes for v in node.outputs}
    known = {*inputs, *made}
    if not all(v in known or isinstance(v, Constant) for v in read):
        raise NotCached("it reads what is not there")
    if not all(isinstance(feature, Feature) for feature in features):
        raise NotCached("what it remembers is unknown")
    return nodes


def _is_in_type(wanted: Type, variable: Variable) -> bool:
    return isinstance(variable, Variable) and bool(wanted.is_super(variable.type))


def _carried(fgraph: FunctionGraph) -> list[Any]:
    """Return the features of a graph that go where it goes; they list the variables they remember."""
    return [feature for feature in features_of(fgraph) if hasattr(feature, "remembered")]
