"""The name of a graph on disk: a hash of all that decides its compiled form.

That is the graph, the rewrites, the flags, and the versions of code. The graph is described as data, in
the order of computation: each operation, the numbers of what it reads, and the types, names and
lines of what it makes. Pickling its nodes and variables themselves took 1.6 to 2.4 times as long.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import platform
import re
import sys
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply, Constant, NominalVariable, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.type import Type
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from theano.configparser import config as own_config
from theano.pytensor_internals.functions.configuration import names_of_flags, value_of_flag
from theano.pytensor_internals.graphs.graph import Scratchpad, features_of, properties_of
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.rewriting import (
    EquilibriumGraphRewriter,
    RewriteDatabaseQuery,
    Rewriter,
    SequentialGraphRewriter,
)
from theano.rewriting.disk.admitted import PACKAGES
from theano.rewriting.disk.graph_pickles import GraphPickler, check_known, lasting

# flags of the C++ compiler's, which PyTensor would look for, and of places on disk
_NOT_OF_GRAPHS = (
    *("blas", "cxx", "gcc", "cmodule", "compile", "base_compiledir", "unpickle"),
    "cache_size",
)

# a larger constant is not copied once more
LARGEST_DESCRIBED = 1000

# of a sequence of rewrites: what they are called
_LABELS = "labels_in_names_of_graphs"

_ADDRESS = re.compile(r" at 0x\w+")


def name_of(fgraph: FunctionGraph, rewriter: SequentialGraphRewriter) -> str:
    """Return a hash of a graph and of all that decides its compiled form.

    Raises
    ------
    NotStored, pickle.PicklingError, RecursionError, TypeError, AttributeError
        If the graph holds what is not known to stay the same under its name.
    """
    features = sorted(type(feature).__name__ for feature in features_of(fgraph))
    protected = [
        [v in getattr(feature, "protected", ()) for v in fgraph.inputs]
        for feature in features_of(fgraph)
    ]
    about = [
        (fgraph.update_mapping, features, protected),
        _rewrites(rewriter),
        _flags(),
        _code(),
        _versions_of_packages(),
    ]
    file = io.BytesIO()
    pickler = _NamePickler(file, fgraph.inputs)
    inputs = [(variable.type, variable.name) for variable in fgraph.inputs]
    graph = _as_data(fgraph.inputs, in_order(fgraph), fgraph.outputs, {})
    pickler.dump([about, inputs, graph])
    return hashlib.sha256(file.getbuffer()).hexdigest()[:32]


# ---- the graph ----


class _NamePickler(GraphPickler):
    """Writes what a graph is called: how many variables there were before it is left out."""

    def inner_graph(self, graph: FunctionGraph) -> tuple[Any, ...]:
        """Return what is written of a loop's step."""
        types: dict[Any, int] = {}
        places = [_described(variable, types) for variable in graph.inputs]
        return places, *_as_data(graph.inputs, in_order(graph), graph.outputs, types)

    def refuse(self, value: object) -> Any:
        """Nothing: what a graph is called is not read."""
        return NotImplemented

    def reducer_override(self, value: object) -> Any:
        written = super().reducer_override(value)
        if written is not NotImplemented or Variable not in type(value).__mro__:
            return written
        written = value.__reduce_ex__(5)
        if isinstance(written, str) or len(written) < 3 or not isinstance(written[2], dict):
            return written
        make, arguments, state, *rest = written
        return make, arguments, {**state, "auto_name": None}, *rest


def _as_data(
    inputs: Sequence[Variable],
    order: Sequence[Apply],
    outputs: Sequence[Variable],
    types: dict[Any, int],
) -> tuple[Any, ...]:
    """Return a graph in which numbers stand for variables, by their identity, and for types, by value."""
    numbers = {id(variable): number for number, variable in enumerate(inputs)}
    described: list[Any] = []

    def number_of(variable: Variable) -> int:
        number = numbers.get(id(variable))
        if number is None:
            number = numbers[id(variable)] = len(numbers)
            described.append(_described_constant(variable, types))
        return number

    for node in order:
        read = [number_of(variable) for variable in node.inputs]
        made = []
        for variable in node.outputs:
            numbers[id(variable)] = len(numbers)
            made.append(_described(variable, types))
        described.append((_described_op(node.op), read, made, _described_tag(node.tag)))
    results = [number_of(variable) for variable in outputs]
    return described, results, list(types)


def _described(variable: Variable, types: dict[Any, int]) -> tuple[Any, ...]:
    """Return what describes a variable next to what it is computed from."""
    number = types.setdefault(_described_type(variable.type), len(types))
    return _described_kind(variable), number, variable.name, _described_tag(variable.tag)


def _described_kind(variable: Variable) -> Any:
    kind = type(variable)
    if kind is TensorVariable:
        return None
    # the class of a step's places is made for each type
    return variable.id if is_a(variable, NominalVariable) else kind


def _described_constant(variable: Variable, types: dict[Any, int]) -> Any:
    if not is_a(variable, Constant):
        return variable
    return *_described(variable, types), _described_data(variable.data)


def _described_op(op: Op) -> Any:
    """Return what identifies an operation: of a frequent one what it is made with, which takes less than to pickle it."""
    return ("DimShuffle", *properties_of(op).values()) if type(op) is DimShuffle else op


def _described_data(data: Any) -> Any:
    """Return what identifies the value of a constant; to pickle an array takes some times as long as its bytes."""
    plain = type(data) is np.ndarray and data.dtype.kind in "biufc" and data.flags.c_contiguous
    if plain and data.size <= LARGEST_DESCRIBED:
        return "ndarray", data.dtype.str, data.shape, data.tobytes()
    return data


def _described_type(kind: Type) -> Any:
    return (kind.dtype, kind.shape, kind.name) if type(kind) is TensorType else kind


def _described_tag(tag: Scratchpad) -> dict[str, Any] | None:
    return lasting(tag) or None


# ---- what else decides ----
def _rewrites(rewriter: Rewriter) -> tuple[str, ...]:
    # the rewrites of a mode are one object for all functions
    own = vars(rewriter)
    if _LABELS not in own:
        own[_LABELS] = tuple(_labels(rewriter, {}))
    return own[_LABELS]


def _labels(rewriter: Any, known: dict[int, list[str]]) -> list[str]:
    """Return what a rewriter and its parts are called, in order; `known` are those of parts, by identity."""
    found = known.get(id(rewriter))
    if found is None:
        found = known[id(rewriter)] = [_label(rewriter)]
        parts = [_labels(part, known) for part in _parts_in_order(rewriter)]
        if is_a(rewriter, EquilibriumGraphRewriter):
            ruled = [_labels(p, known) for p in rewriter.node_tracker.get_rewriters()]
            parts += sorted(ruled, key=itemgetter(0))
        for part in parts:
            found.extend(part)
    return found


def _label(rewriter: Rewriter) -> str:
    check_known(type(rewriter))
    function = getattr(rewriter, "fn", None)
    if function is not None:
        check_known(function)
    text = "" if is_a(rewriter, SequentialGraphRewriter) else _ADDRESS.sub("", str(rewriter))
    return f"{type(rewriter).__name__} {getattr(rewriter, 'name', '')} {text}"


def _parts_in_order(rewriter: Any) -> list[Any]:
    if is_a(rewriter, SequentialGraphRewriter):
        return list(rewriter.data)
    if is_a(rewriter, EquilibriumGraphRewriter):
        return [
            *rewriter.global_rewriters,
            *rewriter.final_rewriters,
            *rewriter.cleanup_rewriters,
        ]
    if is_a(getattr(rewriter, "node_rewriter", None), Rewriter):
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


def _as_text(value: object) -> str:
    """Return the value of a flag, the same in each process; a mode's own text has addresses."""
    if not isinstance(value, Mode):
        return str(value)
    asked = value.provided_optimizer
    if isinstance(asked, RewriteDatabaseQuery):
        parts = (asked.include, asked.require, asked.exclude)
        asked = [sorted(map(str, part or ())) for part in parts]
    return f"{type(value).__name__} {value.provided_linker} {asked}"


@functools.cache
def _code() -> tuple:
    """Return what makes programs: the versions of Python and NumPy, and when this package was written."""
    times = sorted(_times_of_code(os.fspath(Path(__file__).parents[2])))
    return (platform.python_version(), np.__version__, times)


def _versions_of_packages() -> list[tuple[str, str]]:
    """Return the versions of packages whose rewrites and operations a graph may have, if they are imported."""
    there = [(name, sys.modules[name]) for name in PACKAGES if name in sys.modules]
    return [(name, str(getattr(module, "__version__", ""))) for name, module in there]


def _times_of_code(folder: str) -> Iterator[tuple[str, int]]:
    """Yield each file of code and when it was written; pathlib takes three times as long."""
    folders = [folder]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".inc")):
                    yield entry.path, entry.stat().st_mtime_ns
                elif entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
