"""Programs on disk, next to the rewritten graphs that they were made from.

A program follows from its graph. Nodes are written as their positions in the order of computation,
and variables as the nodes that compute them, so that a file holds no graph.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.link.native.graph.partition import Part
from theano.link.native.lowering.segment import Passed, SegmentCall
from theano.link.native.program import Program
from theano.pytensor_internals.graphs.graph import features_of, protected_inputs
from theano.pytensor_internals.graphs.order import order_of
from theano.rewriting.disk import admitted
from theano.rewriting.disk.cached_graphs import CachedAs
from theano.rewriting.disk.sealed_files import read_sealed, write_sealed

_log = logging.getLogger(__name__)

# an input by its position; a result by the positions of its node and among the node's results
Place = int | tuple[int, int] | None


class CachedProgram:
    """The place of a graph's program on disk.

    A graph that is not stored itself has no program there either.

    Parameters
    ----------
    in_columns
        The inputs that the program reads in Fortran's order.
    """

    def __init__(self, fgraph: FunctionGraph, in_columns: Collection[Variable]):
        features = (f for f in features_of(fgraph) if isinstance(f, CachedAs) and f.name)
        self._graph = next(features, None)
        if self._graph is not None:
            self._places = _Places(fgraph)
            columns = [k for k, variable in enumerate(fgraph.inputs) if variable in in_columns]
            wiring = f"{self._graph.name} {self._places.wiring()} {columns}"
            key = hashlib.sha256(wiring.encode()).hexdigest()[:32]
            self._path = self._graph.folder / f"program-{key}.pickle"

    def read(self) -> Program | None:
        """Return what is stored; None if nothing is, or if it cannot be read."""
        content = None if self._graph is None else read_sealed(self._path)
        if content is None:
            return None
        try:
            name, program = admitted.read(content)
            if name != self._path.name or not isinstance(program, Program):
                raise ValueError("it is another program")
            return _with_nodes(program, self._places)
        except Exception as why:
            # what it takes to read a program was not there, such as a class of an exception
            _log.warning("the program in %s cannot be read: %s", self._path, why)
            return None

    def write(self, program: Program | None) -> None:
        """Store the graph, if it is not stored yet, and its program, if there is one to store."""
        if self._graph is None or not self._graph.write() or program is None:
            return
        try:
            named = self._path.name, _without_nodes(program, self._places)
            write_sealed(self._path.parent, self._path.name, admitted.written(named))
        except (OSError, pickle.PicklingError, TypeError, AttributeError) as why:
            _log.debug("a program is not stored: %s", why)


class _Places:
    """The nodes of a graph, and where its variables come from."""

    def __init__(self, fgraph: FunctionGraph):
        self.fgraph = fgraph
        self.nodes: list[Apply] = order_of(fgraph.outputs)
        self.of_node = {node: k for k, node in enumerate(self.nodes)}
        self.of_input = {variable: k for k, variable in enumerate(fgraph.inputs)}

    def wiring(self) -> Any:
        """Return what a program depends on besides the graph as it is stored, and the order of nodes."""
        fgraph = self.fgraph
        protected = protected_inputs(fgraph)
        return (
            [(type(node.op).__name__, [*map(self.of, node.inputs)]) for node in self.nodes],
            [self.of(variable) for variable in fgraph.outputs],
            sorted((fgraph.update_mapping or {}).items()),
            protected is not None,
            [(isinstance(v, SharedVariable), v in (protected or ())) for v in fgraph.inputs],
        )

    def of(self, variable: Any) -> Place:
        """Return where a variable comes from; none for a constant."""
        if variable is None or variable.owner is None:
            return None if variable is None else self.of_input.get(variable)
        return self.of_node[variable.owner], variable.index

    def variable(self, place: Any) -> Variable | None:
        """Return the variable of a place."""
        if isinstance(place, tuple):
            return self.nodes[place[0]].outputs[place[1]]
        return None if place is None else self.fgraph.inputs[place]


def _without_nodes(program: Program, places: _Places) -> Program:
    of = places.of_node
    return _changed(program, lambda node: of[node], lambda passed: places.of(passed.variable))


def _with_nodes(program: Program, places: _Places) -> Program:
    return _changed(
        program,
        lambda position: places.nodes[position],
        lambda passed: places.variable(passed.variable),
    )


def _changed(
    program: Program, node: Callable[[Any], Any], variable: Callable[[Passed], Any]
) -> Program:
    """Return the program with something in place of its nodes and variables."""

    def passed(arrays: tuple[Passed, ...]) -> tuple[Passed, ...]:
        return tuple(replace(array, variable=variable(array)) for array in arrays)

    def called(segment: SegmentCall | None) -> SegmentCall | None:
        if segment is None:
            return None
        return replace(
            segment,
            nodes=tuple(map(node, segment.nodes)),
            inputs=passed(segment.inputs),
            outputs=passed(segment.outputs),
        )

    return replace(
        program,
        parts=[
            Part(tuple(map(node, part.nodes)), part.native, part.reason) for part in program.parts
        ],
        segments=[*map(called, program.segments)],
        reasons={node(which): why for which, why in program.reasons.items()},
    )
