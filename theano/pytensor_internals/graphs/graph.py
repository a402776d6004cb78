"""Internals of PyTensor's graphs: features, what is overwritten, tags, hidden attributes."""
# ruff: noqa: F401 -- this file re-exports

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import Any, cast

from pytensor.compile.aliasing import Supervisor
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.destroyhandler import (
    DestroyHandler,  # the feature that orders nodes which overwrite their inputs
    inplace_candidates,  # (graph, inputs, protected) -> what may be overwritten
)
from pytensor.graph.features import (
    AlreadyThere,  # raised by `on_attach`: the graph has such a feature
    BadOptimization,  # raised by DebugMode: a rewrite changed a value
    Bookkeeper,  # calls `on_import` for each node when attached, `on_prune` when detached
    Feature,  # base class; `on_attach`, `on_import`, `on_prune`, `on_change_input`, `clone`
    History,  # `checkpoint`, `revert`
    NoOutputFromInplace,  # `validate` fails when an output is written in place
    PreserveVariableAttributes,  # keeps names and tags when a variable is replaced
    ReplacementDidNotRemoveError,  # raised by `replace_all_validate_remove`
    ReplaceValidate,  # `replace_all_validate` of graphs: all replacements or none
    Validator,  # `validate`, `consistent` of graphs
    register_feature_callback,  # marks the methods of a feature that a graph calls
)
from pytensor.graph.fg import FrozenFunctionGraph, FunctionGraph
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.replace import (
    _vectorize_node as with_more_dimensions,  # (op, node, *inputs) -> a node, or its outputs
)
from pytensor.graph.utils import (
    InconsistencyError,  # a graph with a cycle, or that reads what was overwritten
    MetaObject,  # base class that makes `__eq__`, `__hash__` and `__str__` of `__props__`
    MethodNotDefined,  # raised by C code that an operator lacks
    MissingInputError,  # a graph depends on a variable that is not among its inputs
    Scratchpad,  # the class of `tag`; attributes in `__dict__`
    add_tag_trace,  # stores the user's lines in `tag.trace`
    get_variable_trace_string,  # the user's lines of `tag.trace` as text
    simple_extract_stack,  # the frames of the caller as (file, line, function, text)
)

# of a node's tag: the reasons for which graphs took it
HISTORY = "imported_by"
# PyTensor only ever appends to it
NO_HISTORY: deque[str] = deque(maxlen=0)


# (tag, "__dict__") -> what it says, to read and to change; PyTensor's own way is a function in Python
read_tag: Any = object.__getattribute__


def features_of(graph: FunctionGraph) -> list[Feature]:
    """Return the features attached to a graph, in the order in which they came."""
    return list(graph._features)


def remove_feature(graph: FunctionGraph, feature: Feature) -> None:
    """Take a feature off a graph, and out of the table of times that callbacks took."""
    graph.remove_feature(feature)
    for times in ("_execute_callbacks_times_dict", "execute_callbacks_times"):
        # by one name or the other, as the release is
        vars(graph).get(times, {}).pop(feature, None)


# what these know of a graph they ask for when they need it
_KEEPING_NOTHING = frozenset(
    {ReplaceValidate, Supervisor, NoOutputFromInplace, PreserveVariableAttributes}
)


def replace_at_once(
    graph: FunctionGraph, outputs: Sequence[Variable], nodes: Iterable[Apply]
) -> bool:
    """Have a graph compute other results of its inputs; return whether that was possible.

    PyTensor's replacement takes old nodes away one by one, and looks for the order of the new ones.
    It is not possible where a feature is notified of each node.

    Parameters
    ----------
    graph
        Its inputs stay.
    outputs, nodes
        The results, as many as it has, and the nodes that compute them, in order.
    """
    if not all(type(feature) in _KEEPING_NOTHING for feature in features_of(graph)):
        return False
    results = [graph.get_output_client(k)[0] for k in range(len(outputs))]
    clients: dict[Variable, list[tuple[Apply, int]]] = {v: [] for v in graph.inputs}
    for node in nodes:
        for position, variable in enumerate(node.inputs):
            clients.setdefault(variable, []).append((node, position))
        for variable in node.outputs:
            clients[variable] = []
    before = list(graph.outputs)
    for node, variable in zip(results, outputs, strict=True):
        node.inputs[0] = variable
        clients.setdefault(variable, []).append((node, 0))
    graph.apply_nodes.clear()
    graph.apply_nodes.update(nodes)
    graph.variables.clear()
    graph.variables.update(clients)
    graph.clients.clear()
    graph.clients.update(clients)
    graph.outputs[:] = outputs
    for node, old, new in zip(results, before, outputs, strict=True):
        if old is not new:
            graph.execute_callbacks("on_change_input", node, 0, old, new, reason="at once")
    return True


def node_like(node: Apply, inputs: Sequence[Variable]) -> Apply:
    """Return the same operation of other variables, of the same types: a copy in a quarter of PyTensor's time."""
    made = Apply(node.op, inputs, [_variable_like(variable) for variable in node.outputs])
    read_tag(made.tag, "__dict__").update(read_tag(node.tag, "__dict__"))
    return made


def _variable_like(variable: Variable) -> Variable:
    made = type(variable)(variable.type, None, None, name=variable.name)
    read_tag(made.tag, "__dict__").update(read_tag(variable.tag, "__dict__"))
    return made


def without_history(nodes: Iterable[Apply]) -> None:
    """Have nodes, and their copies, keep no list of the graphs that they are put in.

    For nodes that stay and are copied again and again: the copies of a node share its list, and
    each graph that takes one adds to it.
    """
    for node in nodes:
        read_tag(node.tag, "__dict__")[HISTORY] = NO_HISTORY


def protected_inputs(graph: FunctionGraph) -> Collection[Variable] | None:
    """Return the inputs that must not be overwritten; none when the graph does not say."""
    # `_supervisor`: set by the maker of functions when it attaches its Supervisor
    supervisor = getattr(graph, "_supervisor", None)
    return None if supervisor is None else supervisor.protected


def properties_of(op: Any) -> dict[str, Any]:
    """Return what an operator is made with, by the names of `__props__`."""
    return op._props_dict()


def functions_of(variable: Variable) -> dict:
    """Return the functions that `eval` has compiled of a variable; what they are not pickled with."""
    # `__getstate__` leaves `_fn_cache` out
    return variable.__dict__.setdefault("_fn_cache", {})


if sys.version_info >= (3, 12):

    def frozen_graph_inside(op: HasInnerGraph) -> FrozenFunctionGraph:
        """Return the graph inside an operator, interned: equal graphs are the same object."""
        # our loops freeze theirs when they are asked to; see `since_3_3.steps`
        return cast("FrozenFunctionGraph", getattr(op.fgraph, "frozen", op.fgraph))

    def copy_of_graph_inside(op: HasInnerGraph) -> FunctionGraph:
        """Return a copy of the graph inside an operator, which may be changed."""
        return cast("FrozenFunctionGraph", op.fgraph).unfreeze()

    def copy_of_node(node: Apply) -> Apply:
        """Return a node of the same operator and inputs, with its own outputs."""
        return node.clone()

else:
    from theano.pytensor_internals.before_3_3.graph import (
        copy_of_graph_inside,
        copy_of_node,
        frozen_graph_inside,
    )


def compares_replacements(fgraph: FunctionGraph) -> bool:
    """Return whether DebugMode compares each variable of a graph with what took its place, of one type."""
    return hasattr(fgraph, "equivalence_tracker")
