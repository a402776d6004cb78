"""A loop's step: a graph that is frozen when loops are compared, and rewritten where it is run.

PyTensor freezes a step when its loop is made, and a mode's rewrites of steps replace the loop. Here
a step stays as it is: engines prepare it themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

from pytensor.compile.mode import Mode
from pytensor.configdefaults import config
from pytensor.graph.basic import Apply, NominalVariable, Variable
from pytensor.graph.fg import FrozenFunctionGraph, FunctionGraph
from pytensor.scan.op import Scan

from theano.pytensor_internals.functions.python_machine import PythonVMLinker, mode_of_step
from theano.pytensor_internals.graphs.graph import node_like
from theano.pytensor_internals.graphs.order import in_order


class StepGraph(FunctionGraph):
    """The graph of a step, which can be changed; loops are compared by its frozen form."""

    @cached_property
    def frozen(self) -> FrozenFunctionGraph:
        """The step interned: equal steps are the same object."""
        return FrozenFunctionGraph.from_io(self.inputs, self.outputs, dedup_nodes=True)

    def unfreeze(self, *, return_memo: bool = False) -> Any:
        """Return a copy that may be changed; with the copy of each node and variable, if they are asked for.

        Its inputs are its own: those of a step are shared with all steps.
        """
        memo = _copies(self, {place: place.type(name=place.name) for place in self.inputs})
        outputs = [memo[value] for value in self.outputs]
        graph = FunctionGraph([memo[place] for place in self.inputs], outputs, clone=False)
        return (graph, memo) if return_memo else graph

    def copied(self) -> StepGraph:
        """Return a copy around the same inputs."""
        memo = _copies(self, {place: place for place in self.inputs})
        return StepGraph(self.inputs, [memo[value] for value in self.outputs], clone=False)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("frozen", None)
        return state


def _copies(graph: FunctionGraph, places: Mapping[Variable, Variable]) -> dict[Any, Any]:
    """Return the copy of each node and variable of a graph."""
    memo: dict[Any, Any] = dict(places)
    for node in in_order(graph):
        memo[node] = made = node_like(node, [memo.get(v, v) for v in node.inputs])
        memo.update(zip(node.outputs, made.outputs, strict=True))
    memo.update((value, value) for value in graph.outputs if value not in memo)
    return memo


def step_of(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> FunctionGraph:
    """Return the graph of a step, which is not copied."""
    return StepGraph(inputs, outputs, clone=False)


def step_shared_with(graph: FunctionGraph) -> FunctionGraph:
    """Return the step of another loop for one that is equal to it; functions of steps copy theirs."""
    return graph


def unfrozen_step(op: Scan) -> FunctionGraph:
    """Return the step of a PyTensor loop as one of ours."""
    graph: FunctionGraph | FrozenFunctionGraph = op.fgraph
    if isinstance(graph, StepGraph):
        return graph
    places = graph.inputs
    return step_of(places, graph.bind(dict(zip(places, places, strict=True))))


class FrozenWhenAsked(Scan):
    """A loop whose step is frozen when it is first compared or hashed, which takes time."""

    # PyTensor's is frozen when the loop is made
    fgraph: FunctionGraph  # type: ignore[assignment]

    @property
    def _compared(self) -> tuple[Any, ...]:
        """Return what makes two loops the same operation."""
        step = getattr(self.fgraph, "frozen", self.fgraph)
        return (
            type(self),
            step,
            self.info,
            self.profile,
            self.truncate_gradient,
            self.name,
            self.allow_gc,
        )

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and self._compared == other._compared  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self._compared)

    # the step that its mode has rewritten already; a copy around another step is rewritten again
    _rewritten_step: FunctionGraph | None = None

    def around_rewritten(self, step: FunctionGraph) -> FrozenWhenAsked:
        """Return a copy around the step as the mode of the loop rewrites it, which remains to be linked."""
        made = copy(self)
        made._fn = None
        made.fgraph = made._rewritten_step = step
        return made

    def clone(self) -> FrozenWhenAsked:
        """Return a copy with its own step, which is not compiled."""
        made = copy(self)
        made._fn = None
        made.fgraph = self.fgraph.copied()
        return made

    def clone_with_inner_graph(
        self, inner_fgraph: FunctionGraph | FrozenFunctionGraph
    ) -> FrozenWhenAsked:
        """Return a copy around another step, with which a rewrite replaces this one."""
        made = copy(self)
        made._fn = None
        given = inner_fgraph.inputs
        places = [NominalVariable(k, variable.type) for k, variable in enumerate(given)]
        known: dict[Variable, Variable] = dict(zip(given, places, strict=True))
        if isinstance(inner_fgraph, FrozenFunctionGraph):
            outputs = inner_fgraph.bind(known)
        else:
            memo = _copies(inner_fgraph, known)
            outputs = [memo[value] for value in inner_fgraph.outputs]
        made.fgraph = step_of(places, outputs)
        return made

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def link_mode(self, impl: str | None) -> Mode:
        """Return the mode that rewrites and links the step where PyTensor's machine runs the loop."""
        if self.mode in (None, "FAST_RUN"):
            return Mode("cvm", "fast_run")
        if self.mode == "FAST_COMPILE":
            return Mode(PythonVMLinker(c_thunks=False), "fast_compile")
        mode = mode_of_step(self.mode, any(self.mitmots_preallocated), self.allow_gc)
        return mode.clone(
            link_kwargs={"allow_gc": self.allow_gc},
            optimizer=None if self.fgraph is self._rewritten_step else mode.provided_optimizer,
            message=f"{self.name or 'Scan'} sub profile",
        )

    def make_thunk(
        self,
        node: Apply,
        storage_map: object,
        compute_map: object,
        no_recycling: object,
        impl: str | None = None,
    ) -> Any:
        """Return what runs a node in PyTensor's machine; `fn` compiles the step, and no one else."""
        assert self.fn is not None
        if impl != "py":
            return super().make_thunk(node, storage_map, compute_map, no_recycling, impl)
        # PyTensor's imports setuptools before it asks who is to run the loop
        self.validate_inner_graph()
        return _python_thunk(self, node, storage_map, compute_map)


def _python_thunk(op: Scan, node: Apply, storage_map: Any, compute_map: Any) -> Any:
    """Return what has Python run a loop's node."""
    given = [storage_map[variable] for variable in node.inputs]
    made = [storage_map[variable] for variable in node.outputs]
    frees = config.allow_gc and not op.allow_gc

    def thunk() -> Any:
        result = op.perform(node, [cell[0] for cell in given], made)
        if compute_map is not None:
            for variable in node.outputs:
                compute_map[variable][0] = True
        if frees:
            op.fn.free()
        return result

    thunk.inputs, thunk.outputs = given, made  # type: ignore[attr-defined]
    thunk.perform, thunk.lazy = op.perform, False  # type: ignore[attr-defined]
    return thunk
