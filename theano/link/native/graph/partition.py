"""Cut a function's graph into segments for native code and nodes that Python runs.

Every node gets a stage: native nodes of one stage form a segment, after which the other nodes of
that stage run. Nodes that only a branch of an IfElse needs form their own segments, so that
the branch that is not taken is not computed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph, Output

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.tensor import IfElse
from theano.scan_module.loop.roles import Roles
from theano.support.data_classes import dataclass
from theano.support.formatting.values import operation


@dataclass(frozen=True)
class Part:
    """Nodes that run together: native ones, or one that Python runs.

    Attributes
    ----------
    reason
        Why native nodes are not in the segment of those that run before them.
    """

    nodes: tuple[Apply, ...]
    native: bool
    reason: str = ""


def partition(
    fgraph: FunctionGraph,
    order: Sequence[Apply],
    is_native: Callable[[Apply], bool],
    first_of_segment: Collection[Apply],
    last: Collection[Apply] = (),
) -> list[Part]:
    """Return the parts of a graph in an order in which they can run.

    Parameters
    ----------
    order
        The nodes, each after those that it needs and after those that must run before it.
    first_of_segment
        Native nodes that may not be in the segment of those that they use.
    last
        Nodes that run after all that is not among them, if they are native.
    """
    before = fgraph.orderings()
    regions = lazy_regions(fgraph, order)
    stages: dict[Apply, int] = {}
    native: dict[Apply, bool] = {}
    reasons: dict[Apply, str] = {}
    for node in order:
        native[node] = is_native(node)
        stage = 0
        sources = [variable.owner for variable in node.inputs if variable.owner is not None]
        for source in [*sources, *before.get(node, ())]:
            apart = native[node] and _why_apart(source, native[source], node in first_of_segment)
            if stages[source] + bool(apart) > stage:
                stage = stages[source] + bool(apart)
                if apart:
                    reasons[node] = apart
        stages[node] = stage
    _move_to_users(before, order, first_of_segment, stages, native)
    _move_to_the_end([node for node in last if native[node]], stages, native)
    return _parts(order, stages, native, regions, reasons)


def _why_apart(source: Apply, native: bool, begins: bool) -> str:
    """Return why a native node is not in the segment of one that it uses; empty if it may be."""
    name = (source.op.name or "scan") if is_a(source.op, Scan) else operation(source.op)
    if not native:
        return f"{name}, which it needs, runs by PyTensor"
    if ends_segment(source):
        return f"the lengths of what {name} returns are known only when it has ended"
    return "lengths are known only when what is before it has run" if begins else ""


def _move_to_users(
    before: Mapping[Apply, Sequence[Apply]],
    order: Sequence[Apply],
    first_of_segment: Collection[Apply],
    stages: dict[Apply, int],
    native: dict[Apply, bool],
) -> None:
    """Give native nodes the stage of the first native node that needs them.

    What Python runs first, such as the words of a generator that are read, need not follow a segment of
    its own.
    """
    users: dict[Apply, list[Apply]] = {}
    for node in order:
        sources = [variable.owner for variable in node.inputs if variable.owner is not None]
        for source in {*sources, *before.get(node, ())}:
            users.setdefault(source, []).append(node)
    for node in reversed(order):
        if native[node] and not ends_segment(node) and (uses := users.get(node)):
            alone = any(use in first_of_segment for use in uses)
            if all(native[use] for use in uses) and not alone:
                stages[node] = max(stages[node], min(stages[use] for use in uses))


def _move_to_the_end(last: Collection[Apply], stages, native) -> None:
    """Give nodes the last stage, or a separate one where Python runs nodes in that."""
    others = [node for node in stages if node not in last]
    if not last or not others:
        return
    final = max(stages[node] for node in others)
    final += any(stages[node] == final and not native[node] for node in others)
    for node in last:
        stages[node] = max(stages[node], final)


def _parts(order, stages, native, regions, reasons) -> list[Part]:
    groups: dict[tuple, list[Apply]] = {}
    for position, node in enumerate(order):
        key = (stages[node], 0, regions[node]) if native[node] else (stages[node], 1, position)
        groups.setdefault(key, []).append(node)
    # Dictionaries keep the order of first nodes; stages decide, then native before others.
    keys = sorted(groups, key=lambda key: (key[0], key[1], len(key[2]) if key[1] == 0 else key[2]))
    first = next((key for key in keys if key[1] == 0), None)
    return [
        Part(
            tuple(groups[key]),
            key[1] == 0,
            "" if key == first else _reason(groups[key], key, reasons),
        )
        for key in keys
    ]


def _reason(nodes: Sequence[Apply], key: tuple, reasons: Mapping[Apply, str]) -> str:
    """Return why some nodes of a key (stage, native or not, region) are a separate segment."""
    if key[1]:
        return ""
    if key[2]:
        return "only a branch of an ifelse needs it"
    found = next((reasons[node] for node in nodes if node in reasons), "")
    return found or "it writes over what others read"


def ends_segment(node: Apply) -> bool:
    """Return whether the shapes of a node's results are known only after it ran."""
    return is_a(node.op, Scan) and Roles.of(node.op).may_stop


def lazy_regions(fgraph: FunctionGraph, order: Sequence[Apply]) -> dict[Apply, tuple]:
    """For each node the branches of IfElse that alone need it, from the outermost in."""
    regions: dict[Apply, tuple] = {}
    lazy = any(is_a(node.op, IfElse) for node in order)
    for node in reversed(order):
        regions[node] = ()
        if lazy:
            uses = [
                _region_of_use(use, k, regions)
                for v in node.outputs
                for use, k in fgraph.clients[v]
            ]
            regions[node] = _common(uses)
    return regions


def _region_of_use(use: Apply, position: int, regions: dict[Apply, tuple]) -> tuple:
    if is_a(use.op, Output):
        return ()
    region = regions[use]
    if is_a(use.op, IfElse) and position > 0:
        branch = position <= use.op.n_outs
        return (*region, (id(use), branch))
    return region


def _common(regions: list[tuple]) -> tuple:
    if not regions:
        return ()
    shared = regions[0]
    for region in regions[1:]:
        length = 0
        while length < min(len(shared), len(region)) and shared[length] == region[length]:
            length += 1
        shared = shared[:length]
    return shared


def needed_results(fgraph: FunctionGraph, nodes: Sequence[Apply]) -> list[Variable]:
    """Return the results of nodes that others use, or the function's caller."""
    own = set(nodes)
    return [
        variable
        for node in nodes
        for variable in node.outputs
        if any(use not in own for use, _ in fgraph.clients[variable])
    ]
