"""The dtypes that a value of element-wise work is computed from, known while its graph is rewritten.

Conditions ask this of every node again and again. What was found of a node is kept until the node
reads something else, and then is found anew for it and for those of its readers whose answer it
changes, so that a graph is walked once and not once for each question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph, Output
from pytensor.scalar.basic import Switch
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.math import add, mul, neg, reciprocal, sub, true_div

from theano.pytensor_base.graphs.graph import Feature
from theano.pytensor_base.graphs.kinds import is_a

# how far the patterns of rewrites of element-wise work reach
LEVELS = 3
_OF_ONE_LEVEL = frozenset({add, sub, neg, mul, true_div, reciprocal})
_WALKED_THROUGH = (Elemwise, DimShuffle, CAReduce, Blockwise, OpFromGraph)

# for each number of levels up to `LEVELS`
_Dtypes = tuple[frozenset[str], ...]
_NONE: _Dtypes = (frozenset(),) * (LEVELS + 1)

# what a graph calls its own, as it does its shapes
_NAME = "dtypes_beneath"


def dtypes_beneath(graph: FunctionGraph, node: Apply, levels: int = LEVELS) -> frozenset[str]:
    """The dtypes of what a node of element-wise work computes from; no constants, no conditions.

    Products and sums within one another count as one level: rewrites make one of them.
    """
    if not hasattr(graph, _NAME):
        graph.attach_feature(DtypesBeneath())
    return getattr(graph, _NAME).of(node)[levels]


class DtypesBeneath(Feature):
    """What is known of the nodes of one graph."""

    def __init__(self) -> None:
        self._known: dict[Apply, _Dtypes] = {}
        # what left the graph: who read it is told afterwards that it did
        self._gone: list[Apply] = []

    def __getstate__(self) -> dict[str, Any]:
        return {"_known": {}, "_gone": []}

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Be what is asked about a graph."""
        setattr(fgraph, _NAME, self)

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Be asked no more, for it hears of no changes."""
        delattr(fgraph, _NAME)

    def of(self, node: Apply) -> _Dtypes:
        """The dtypes beneath a node, for each number of levels."""
        known, waiting = self._known, [node]
        while waiting:
            now = waiting[-1]
            missing = [] if now in known else [n for n in _makers(now) if n not in known]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if now not in known:
                known[now] = _together(_given_by(v, known) for v in _operands(now))
        return known[node]

    def on_change_input(self, fgraph, node, i, variable, new_variable, reason=None) -> None:
        """Find anew what follows from a node that reads another variable."""
        if node in self._known and not self._gives_the_same(variable, new_variable):
            changed = [node]
            while changed:
                now = changed.pop()
                before = self._known.pop(now, None)
                if before is not None and self.of(now) != before:
                    changed += _readers(fgraph, now)
        while self._gone:
            self._known.pop(self._gone.pop(), None)

    def _gives_the_same(self, variable: Variable, new_variable: Variable) -> bool:
        """Whether what reads either follows from the same; it may have many other operands."""
        old, new = _maker(variable), _maker(new_variable)
        if old is not None and old not in self._known:
            return False
        if new is not None:
            self.of(new)
        return _given_by(variable, self._known) == _given_by(new_variable, self._known)

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Forget what was found of a node before it was in the graph, and so heard of."""
        self._known.pop(node, None)

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Note a node that left the graph."""
        self._gone.append(node)


def _operands(node: Apply) -> list[Variable]:
    chooses = is_a(node.op, Elemwise) and is_a(node.op.scalar_op, Switch)
    return node.inputs[chooses:]


def _is_constant(variable: Variable) -> bool:
    owner = variable.owner
    if owner is not None and DimShuffle in type(owner.op).__mro__:
        variable = owner.inputs[0]
    # what is computed is no constant, which to ask an abstract class takes three times as long
    return variable.owner is None and is_a(variable, Constant)


def _maker(variable: Variable) -> Apply | None:
    """The node of element-wise work that a variable is of, if it is."""
    owner = variable.owner
    is_walked = owner is not None and isinstance(owner.op, _WALKED_THROUGH)
    return owner if is_walked and not _is_constant(variable) else None


def _makers(node: Apply) -> Iterator[Apply]:
    return (maker for maker in map(_maker, _operands(node)) if maker is not None)


def _readers(fgraph: FunctionGraph, node: Apply) -> Iterator[Apply]:
    for variable in node.outputs:
        for reader, _ in fgraph.clients.get(variable, ()):
            if not is_a(reader.op, Output):
                yield reader


def _given_by(variable: Variable, known: Mapping[Apply, _Dtypes]) -> _Dtypes:
    """What a node has beneath it for reading a variable."""
    if _is_constant(variable):
        return _NONE
    own = frozenset([variable.type.dtype] if hasattr(variable.type, "dtype") else [])
    maker = _maker(variable)
    if maker is None:
        return (own,) * len(_NONE)
    beneath, costs = known[maker], maker.op not in _OF_ONE_LEVEL
    return tuple(own | each for each in (_NONE[:costs] + beneath)[: len(_NONE)])


def _together(given: Iterable[_Dtypes]) -> _Dtypes:
    return tuple(frozenset().union(*of_level) for of_level in zip(_NONE, *given, strict=True))
