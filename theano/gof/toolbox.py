"""Features of a graph that is rewritten, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from functools import partial

from pytensor.graph.basic import Apply

from theano.gof.op import Op
from theano.pytensor_internals.graphs.graph import (
    AlreadyThere,
    BadOptimization,
    History,
    PreserveVariableAttributes,
    ReplaceValidate,
    Validator,
)
from theano.pytensor_internals.graphs.graph import Bookkeeper as _PyTensorBookkeeper
from theano.pytensor_internals.graphs.graph import Feature as _PyTensorFeature
from theano.pytensor_internals.graphs.graph import (
    NoOutputFromInplace as _PyTensorNoOutputFromInplace,
)
from theano.pytensor_internals.graphs.graph import (
    ReplacementDidNotRemoveError as ReplacementDidntRemovedError,
)


class Feature(_PyTensorFeature):
    """The base class of what a user attaches to a graph.

    A subclass may define `on_attach`, `on_detach`, `on_import`, `on_prune` and
    `on_change_input`, which are called as the graph changes; `orderings`; and
    ``validate(self, fgraph)``, which raises InconsistencyError to have a change undone.
    """

    def on_validate(self, fgraph):
        validate = getattr(self, "validate", None)
        if validate is not None:
            validate(fgraph)


class Bookkeeper(Feature, _PyTensorBookkeeper):
    """A feature that `on_import` and `on_prune` notify of the whole graph as it comes and goes."""


class NodeFinder(Bookkeeper):
    """Lets a graph find the applications of an operator: ``fgraph.get_nodes(op)``."""

    def __init__(self):
        self.fgraph = None
        self._by_operator: dict[Op, dict[Apply, None]] = {}

    def clone(self):
        return type(self)()

    def on_attach(self, fgraph):
        if hasattr(fgraph, "get_nodes"):
            raise AlreadyThere("NodeFinder is already present or in conflict with another feature")
        if self.fgraph is not None:
            raise ValueError("NodeFinder expects to be attached to one graph only")
        self.fgraph = fgraph
        fgraph.get_nodes = partial(self.query, fgraph)
        super().on_attach(fgraph)

    def on_detach(self, fgraph):
        super().on_detach(fgraph)
        self.fgraph = None
        del fgraph.get_nodes

    def on_import(self, fgraph, node, reason):
        self._by_operator.setdefault(node.op, {})[node] = None

    def on_prune(self, fgraph, node, reason):
        nodes = self._by_operator[node.op]
        del nodes[node]
        if not nodes:
            del self._by_operator[node.op]

    def query(self, fgraph, op: Op) -> list[Apply]:
        """Return the applications of an operator in the graph."""
        return list(self._by_operator.get(op, ()))


class PrintListener(Feature):
    """Prints each change of a graph.

    Parameters
    ----------
    active : bool
        Whether it prints.
    """

    def __init__(self, active=True):
        self.active = active

    def on_attach(self, fgraph):
        self._report(f"-- attaching to:  {fgraph}")

    def on_detach(self, fgraph):
        self._report(f"-- detaching from:  {fgraph}")

    def on_import(self, fgraph, node, reason):
        self._report(f"-- importing: {node}, reason: {reason}")

    def on_prune(self, fgraph, node, reason):
        self._report(f"-- pruning: {node}, reason: {reason}")

    def on_change_input(self, fgraph, node, i, r, new_r, reason=None):
        self._report(f"-- changing ({node}.inputs[{i}]) from {r} to {new_r}")

    def _report(self, line: str) -> None:
        if self.active:
            print(line)


class PreserveNames(Feature):
    """Gives a variable without a name that of the variable which it replaces."""

    def on_change_input(self, fgraph, node, i, r, new_r, reason=None):
        if r.name is not None and new_r.name is None:
            new_r.name = r.name


class NoOutputFromInplace(Feature, _PyTensorNoOutputFromInplace):
    """Keeps operations that work in place from computing outputs of the graph.

    Parameters
    ----------
    first_output_id : int
        The first output that is kept from it.
    last_output_id : int, optional
        The output after the last such one; by default there is none after it.
    """

    def __init__(self, first_output_id: int = 0, last_output_id: int | None = None):
        _PyTensorNoOutputFromInplace.__init__(self, ())
        self.first_output_id, self.last_output_id = first_output_id, last_output_id

    def clone(self):
        return type(self)(self.first_output_id, self.last_output_id)

    def on_attach(self, fgraph):
        kept = range(len(fgraph.outputs))[self.first_output_id : self.last_output_id]
        self.protected_out_ids = tuple(kept)
        _PyTensorNoOutputFromInplace.on_attach(self, fgraph)

    def on_validate(self, fgraph):
        return _PyTensorNoOutputFromInplace.on_validate(self, fgraph)
