"""Run a node once, for the test values of its outputs, without compiling what Python can do."""

from __future__ import annotations

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Constant, Variable

from theano.configdefaults import config
from theano.link.native.run.one_by_one import make_thunk_for_one_call, needs_c
from theano.pytensor_internals.graphs.graph import copy_of_graph_inside
from theano.pytensor_internals.graphs.scan import Scan
from theano.rewriting.step_modes import step_modes


def run_once(node: Apply, storage: dict[Variable, list], computed: dict[Variable, list]) -> None:
    """Compute a node's outputs; what is a graph inside, one operation after the other.

    Parameters
    ----------
    storage, computed
        The lists of one element that hold the values of variables, and whether they are known.
    """
    if isinstance(node.op, Scan):
        node = _with_quick_steps(node)
    if not (isinstance(node.op, OpFromGraph) and type(node.op).perform is OpFromGraph.perform):
        make_thunk_for_one_call(node, storage, computed, bool(config.cxx))()
        return
    inside = copy_of_graph_inside(node.op)
    cells = {v: storage[outer] for v, outer in zip(inside.inputs, node.inputs, strict=True)}
    for inner in inside.toposort():
        cells.update((v, [v.data]) for v in inner.inputs if isinstance(v, Constant))
        cells.update((v, [None]) for v in inner.outputs)
        known = {v: [True] for v in inner.inputs}
        run_once(inner, cells, {**known, **{v: [False] for v in inner.outputs}})
    for variable, outer in zip(inside.outputs, node.outputs, strict=True):
        storage[outer][0] = variable.data if isinstance(variable, Constant) else cells[variable][0]


def _with_quick_steps(node: Apply) -> Apply:
    """Return a loop whose step no user gave a mode, which takes longer to compile than to run."""
    modes = step_modes()
    if node.op.mode not in (None, "FAST_RUN", modes.default()):
        return node
    if any(needs_c(inner.op) for inner in node.op.fgraph.apply_nodes):
        return node
    node.op = node.op.clone()
    node.op.mode = modes.quick
    return node
