"""Operations that compute the same and differ in their gradients: what distinguishes them.

PyTensor compares operations by what they compute. The factor of ``grad_scale``, or whether the
gradient of a sparse sum is sparse, is left out, so that such operations are merged once gradients
have been taken. Where a gradient is still to come, they are not equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cache
from types import CodeType

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import HasInnerGraph, Op

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import MergeOptimizer
from theano.rewriting.merging import Merging

# the methods of an operation that say what its gradient is
_GRADIENT_METHODS = ("pullback", "pushforward", "L_op", "R_op", "grad", "connection_pattern")


class MergeBeforeGradients(MergeOptimizer):
    """Merge equal operations of a graph that is differentiated later."""

    def add_requirements(self, graph: FunctionGraph) -> None:
        """Watch the graph for operations that are equal, their gradients, too."""
        if not hasattr(graph, "merge_feature"):
            graph.attach_feature(_EqualGradients())


class _EqualGradients(Merging):
    def process_node(self, graph: FunctionGraph, node: Apply) -> None:
        scheduled = len(self.scheduled)
        super().process_node(graph, node)
        if len(self.scheduled) == scheduled:
            return
        mine = what_decides_gradient(node.op)
        equal = [
            pairs
            for pairs in self.scheduled.pop()
            if what_decides_gradient(pairs[0][1].owner.op) == mine
        ]
        if equal:
            self.scheduled.append(equal)
            return
        self.nodes_seen.add(node)
        if not node.inputs:
            self.noinput_nodes.add(node)


def what_decides_gradient(op: Op) -> Hashable:
    """Return what the gradient of an operation depends on and its comparison leaves out.

    Two operations that are equal have equal gradients if this is equal, too.
    """
    own = tuple(
        (name, _comparable(vars(op)[name]))
        for name in _attributes_of_gradient(type(op))
        if name in vars(op)
    )
    inner: tuple = ()
    if is_a(op, HasInnerGraph):
        inner = tuple(what_decides_gradient(node.op) for node in op.fgraph.toposort())
    core = getattr(op, "core_op", None)
    if is_a(core, Op):
        inner = (*inner, what_decides_gradient(core))
    return (own, inner) if own or any(inner) else ()


@cache
def _attributes_of_gradient(op_class: type) -> tuple[str, ...]:
    """Return the attributes that gradient methods read and that are not compared."""
    if issubclass(op_class, HasInnerGraph):
        # their gradients follow from the inner graph, which is looked into
        return ()
    properties = getattr(op_class, "__props__", None)
    if properties is None:
        # compares as it wants to, or is equal to itself only
        return ()
    read: set[str] = set()
    for name in _GRADIENT_METHODS:
        read |= _names_in(getattr(getattr(op_class, name, None), "__code__", None))
    return tuple(sorted(read - set(properties)))


def _names_in(code: object) -> set[str]:
    """Return the names that a function's code looks up, in functions and comprehensions within it, too."""
    if not isinstance(code, CodeType):
        return set()
    return set(code.co_names).union(*(_names_in(constant) for constant in code.co_consts))


class _Itself:
    """A value that is equal to itself only, kept so that nothing else takes its place."""

    def __init__(self, value: object):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _comparable(value: object) -> Hashable:
    if isinstance(value, Mapping):
        return tuple((_comparable(key), _comparable(entry)) for key, entry in value.items())
    if isinstance(value, list | tuple):
        return tuple(_comparable(entry) for entry in value)
    try:
        hash(value)
    except TypeError:
        return _Itself(value)
    return value
