"""Rewritten graphs on disk: a graph that was rewritten once is read the next time.

The name of a file is a hash of all that decides what becomes of a graph: the graph, the rewrites,
the flags, and the versions. Graphs are described by pickling their nodes in the order of
computation, so that long graphs need no deep recursion. What a graph holds may come from this
package, PyTensor, PyMC and NumPy only: code of the user's may change while its name stays.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import logging
import os
import pickle
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from pytensor.compile.mode import Mode
from pytensor.compile.ops import DeepCopyOp, ViewOp
from pytensor.configdefaults import config
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph, Output
from pytensor.graph.traversal import toposort
from pytensor.graph.type import Type
from pytensor.scalar.basic import ScalarConstant, ScalarType
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorConstant

from theano.configparser import config as own_config
from theano.pytensor_base.functions.configuration import names_of_flags, value_of_flag
from theano.pytensor_base.graphs.graph import (
    HISTORY,
    AlreadyThere,
    DestroyHandler,
    Feature,
    Scratchpad,
    features_of,
)
from theano.pytensor_base.graphs.rewriting import (
    EquilibriumGraphRewriter,
    RewriteDatabaseQuery,
    Rewriter,
    SequentialGraphRewriter,
)
from theano.pytensor_base.graphs.scan import step_of
from theano.schedule.disk import admitted
from theano.schedule.disk.admitted import PACKAGES
from theano.schedule.disk.sealed_files import read_sealed, write_sealed

_log = logging.getLogger(__name__)

# Rewriting that takes less is not worth a file.
SECONDS_WORTH_STORING = 0.03

_KNOWN_CODE = {
    *PACKAGES,
    "numpy",
    "builtins",
    "collections",
    "copyreg",
    "functools",
    "pathlib",
}
# flags of the C++ compiler's, which PyTensor would look for, and of places on disk
_NOT_OF_GRAPHS = (
    *("blas", "cxx", "gcc", "cmodule", "compile", "base_compiledir", "unpickle"),
    "cache_size",
)


# what most of a graph consists of, which is neither an input nor code
_AS_THEY_ARE = frozenset(
    {Apply, TensorType, ScalarType, TensorConstant, ScalarConstant, np.ndarray}
)

_ADDRESS = re.compile(r" at 0x\w+")


class NotStored(Exception):
    """A graph holds what is not known to stay the same under its name."""


_NOT_STORABLE = (NotStored, pickle.PicklingError, RecursionError, TypeError, AttributeError)


class StoredGraphs(SequentialGraphRewriter):
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
        self.name, self._folder = rewriter.name, folder

    def apply(self, fgraph: FunctionGraph) -> Any:
        """Rewrite the graph, or make it what is stored of it."""
        try:
            name = f"graph-{_hash_of(fgraph, self)}.pickle"
        except _NOT_STORABLE as why:
            _log.debug("a graph is not stored: %s", why)
            name = None
        if name is None:
            # not where the exception is handled: it would be told of with those of the rewrites
            return super().apply(fgraph)
        inputs = list(fgraph.inputs)
        if _read(self._folder / name, fgraph, inputs):
            fgraph.attach_feature(StoredAs(self._folder, name))
            return None
        start = time.perf_counter()
        result = super().apply(fgraph)
        if time.perf_counter() - start > SECONDS_WORTH_STORING:
            outputs = list(fgraph.outputs)
            write = functools.partial(_write, self._folder, name, fgraph, inputs, outputs)
            fgraph.attach_feature(StoredAs(self._folder, name, write))
        return result


class StoredAs(Feature):
    """Where a rewritten graph is on disk, for what else is kept of it.

    Parameters
    ----------
    write
        What puts it there, if it is not there yet; answers whether that was possible.

    Attributes
    ----------
    folder, name
        The file; the name is None once more than copies of results were added to the graph.
    """

    def __init__(self, folder: Path, name: str | None, write: Callable[[], bool] | None = None):
        self.folder, self.name, self._write = folder, name, write

    def write(self) -> bool:
        """Put the graph on disk, when there is time for it; answers whether it is there."""
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

    def clone(self) -> StoredAs:
        """Return the same for a copy of the graph."""
        return StoredAs(self.folder, self.name)


# ---- what a graph is called ----


class _Pickler(admitted.Pickler):
    """Writes inputs as their positions, and refuses code that is not known."""

    def __init__(self, file: io.BytesIO, inputs: Sequence[Variable]):
        super().__init__(file)
        self._positions = {id(variable): k for k, variable in enumerate(inputs)}

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if kind is Scratchpad:
            return _tag, ({k: v for k, v in vars(value).items() if k != HISTORY},)
        if kind in _AS_THEY_ARE:
            return NotImplemented
        position = self._positions.get(id(value))
        if position is not None:
            return given_input, (position,)
        if isinstance(value, FunctionGraph):
            return _inner_graph, _parts_of(value)
        if isinstance(value, type | FunctionType):
            _check_known(value)
        return self.refuse(value)

    def refuse(self, value: Any) -> Any:
        """Refuse what could not be read."""
        return super().reducer_override(value)


class _KeyPickler(_Pickler):
    """Writes what a graph is called: how many variables there were before it is left out."""

    def refuse(self, value: Any) -> Any:
        """Nothing: what a graph is called is not read."""
        return NotImplemented

    def reducer_override(self, value: Any) -> Any:
        written = super().reducer_override(value)
        if written is not NotImplemented or not isinstance(value, Variable):
            return written
        written = value.__reduce_ex__(5)
        if isinstance(written, str) or len(written) < 3 or not isinstance(written[2], dict):
            return written
        make, arguments, state, *rest = written
        return make, arguments, {**state, "auto_name": None}, *rest


def _check_known(code: Any) -> None:
    if (code.__module__ or "builtins").partition(".")[0] not in _KNOWN_CODE:
        raise NotStored(f"{code.__module__}.{code.__qualname__} may change")


def given_input(position: int) -> Variable:
    """Stands in a file for an input; readers put the graph's own in its place."""
    raise RuntimeError(f"input {position} of a stored graph is read without its graph")


def _tag(attributes: dict) -> Scratchpad:
    tag = Scratchpad()
    vars(tag).update(attributes)
    return tag


def _parts_of(graph: FunctionGraph) -> tuple:
    return list(graph.inputs), graph.toposort(), list(graph.outputs)


def _inner_graph(inputs: list, order: list, outputs: list) -> FunctionGraph:
    # of a loop: those of other operators are frozen in 3.3
    return step_of(inputs, outputs)


def _hash_of(fgraph: FunctionGraph, rewriter: SequentialGraphRewriter) -> str:
    if _carried(fgraph):
        raise NotStored("a graph that was rewritten before")
    features = sorted(type(feature).__name__ for feature in features_of(fgraph))
    protected = [
        [v in getattr(feature, "protected", ()) for v in fgraph.inputs]
        for feature in features_of(fgraph)
    ]
    about = [
        [(v.type, v.name) for v in fgraph.inputs],
        (fgraph.update_mapping, features, protected),
        _rewrites(rewriter),
        _flags(),
        _code(),
        _versions_of_packages(),
    ]
    file = io.BytesIO()
    _KeyPickler(file, fgraph.inputs).dump([about, *_parts_of(fgraph)[1:]])
    return hashlib.sha256(file.getbuffer()).hexdigest()[:32]


def _rewrites(rewriter: Rewriter) -> list[str]:
    return _labels(rewriter, {})


def _labels(rewriter: Any, known: dict[int, list[str]]) -> list[str]:
    """What a rewriter and its parts are called, in order; `known` are those of parts, by identity."""
    found = known.get(id(rewriter))
    if found is None:
        found = known[id(rewriter)] = [_label(rewriter)]
        parts = [_labels(part, known) for part in _parts_in_order(rewriter)]
        if isinstance(rewriter, EquilibriumGraphRewriter):
            ruled = [_labels(p, known) for p in rewriter.node_tracker.get_rewriters()]
            parts += sorted(ruled, key=itemgetter(0))
        for part in parts:
            found.extend(part)
    return found


def _label(rewriter: Rewriter) -> str:
    _check_known(type(rewriter))
    function = getattr(rewriter, "fn", None)
    if function is not None:
        _check_known(function)
    text = "" if isinstance(rewriter, SequentialGraphRewriter) else _ADDRESS.sub("", str(rewriter))
    return f"{type(rewriter).__name__} {getattr(rewriter, 'name', '')} {text}"


def _parts_in_order(rewriter: Any) -> list[Any]:
    if isinstance(rewriter, SequentialGraphRewriter):
        return list(rewriter.data)
    if isinstance(rewriter, EquilibriumGraphRewriter):
        return [
            *rewriter.global_rewriters,
            *rewriter.final_rewriters,
            *rewriter.cleanup_rewriters,
        ]
    if isinstance(getattr(rewriter, "node_rewriter", None), Rewriter):
        return [rewriter.node_rewriter]
    return list(getattr(rewriter, "rewrites", ()))


def _flags() -> list[tuple[str, str]]:
    own = [
        (name, str(own_config.read(name)))
        for name, flag in own_config.flags.items()
        if not (flag.pytensor or flag.no_effect or name.startswith(_NOT_OF_GRAPHS))
    ]
    return own + [
        (name, _as_text(value_of_flag(name)))
        for name in names_of_flags()
        if not name.startswith(_NOT_OF_GRAPHS)
    ]


def _as_text(value: Any) -> str:
    """The value of a flag, the same in each process; a mode's own text has addresses."""
    if not isinstance(value, Mode):
        return str(value)
    asked = value.provided_optimizer
    if isinstance(asked, RewriteDatabaseQuery):
        parts = (asked.include, asked.require, asked.exclude)
        asked = [sorted(map(str, part or ())) for part in parts]
    return f"{type(value).__name__} {value.provided_linker} {asked}"


@functools.cache
def _code() -> tuple:
    """What makes programs: the versions of Python and NumPy, and when this package was written."""
    times = sorted(_times_of_code(os.fspath(Path(__file__).parents[2])))
    return (platform.python_version(), np.__version__, times)


def _versions_of_packages() -> list[tuple[str, str]]:
    """The versions of packages whose rewrites and operations a graph may have, if they are imported."""
    there = [(name, sys.modules[name]) for name in PACKAGES if name in sys.modules]
    return [(name, str(getattr(module, "__version__", ""))) for name, module in there]


def _times_of_code(folder: str) -> Iterator[tuple[str, int]]:
    """Yield each file of code and when it was written; pathlib takes three times as long."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _times_of_code(entry.path)
            elif entry.name.endswith((".py", ".inc")):
                yield entry.path, entry.stat().st_mtime_ns


# ---- files ----


class _Unpickler(admitted.Unpickler):
    """Reads a graph whose inputs are there."""

    def __init__(self, file: io.BytesIO, inputs: Sequence[Variable]):
        super().__init__(file)
        self._inputs = inputs

    def find_class(self, module: str, name: str) -> Any:
        if name == given_input.__name__ and module == __name__:
            return self._inputs.__getitem__
        return super().find_class(module, name)


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
    before = toposort([variable for feature in features for variable in feature.remembered()])
    handled = hasattr(fgraph, "destroyers")
    file = io.BytesIO()
    try:
        order = list(toposort(outputs))
        _Pickler(file, inputs).dump([name, list(before), order, outputs, features, handled])
        write_sealed(folder, name, file.getbuffer())
        return True
    except (*_NOT_STORABLE, OSError) as why:
        _log.debug("a graph is not stored: %s", why)
        return False


def _read(path: Path, fgraph: FunctionGraph, inputs: list[Variable]) -> bool:
    """Make the graph what the file holds; answers whether there is one that can be read."""
    content = read_sealed(path)
    if content is None:
        return False
    file = io.BytesIO(content)
    # no line of the user's makes what is read
    try:
        with config.change_flags(traceback__limit=0):
            name, _, _, outputs, features, handled = _Unpickler(file, inputs).load()
        _check_fits(fgraph, inputs, outputs, features)
        if name != path.name:
            raise NotStored(f"it is the graph {name}")
    except Exception as why:
        # what it takes to read a graph was not there, such as a class that is defined later
        _log.warning("the graph in %s cannot be read: %s", path, why)
        return False
    for old in list(dict.fromkeys(fgraph.outputs)):
        for node, position in list(fgraph.clients[old]):
            if isinstance(node.op, Output):
                new = outputs[node.op.idx]
                fgraph.change_node_input(node, position, new, reason="read from disk")
    if handled:
        with contextlib.suppress(AlreadyThere):
            fgraph.attach_feature(DestroyHandler())
    for feature in features:
        fgraph.attach_feature(feature)
    return True


def _check_fits(fgraph: FunctionGraph, inputs: list[Variable], outputs: Any, features: Any) -> None:
    """Whether what was read can be put in the place of a graph; NotStored where it cannot."""
    types = [variable.type for variable in fgraph.outputs]
    if len(outputs) != len(types) or not all(map(_is_in_type, types, outputs)):
        raise NotStored("its results are of other types")
    nodes = list(toposort(outputs))
    read = {v for node in nodes for v in node.inputs} | set(outputs)
    made = {v for node in nodes for v in node.outputs}
    known = {*inputs, *made}
    if not all(v in known or isinstance(v, Constant) for v in read):
        raise NotStored("it reads what is not there")
    if not all(isinstance(feature, Feature) for feature in features):
        raise NotStored("what it remembers is unknown")


def _is_in_type(wanted: Type, variable: Any) -> bool:
    return isinstance(variable, Variable) and bool(wanted.is_super(variable.type))


def _carried(fgraph: FunctionGraph) -> list[Any]:
    """The features of a graph that go where it goes; they tell what variables they remember."""
    return [feature for feature in features_of(fgraph) if hasattr(feature, "remembered")]
