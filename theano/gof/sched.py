"""Orders of the applications in a graph, by comparisons of two of them."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from pytensor.graph.basic import Apply, Variable

from theano.compat import cmp
from theano.gof.graph import list_of_nodes

Comparison = Callable[[Any, Any], int | float]


def make_depends() -> Callable[[tuple[Apply, Apply]], bool]:
    """Return a function that says of a pair of nodes whether the first depends on the second."""

    @cache
    def depends(pair: tuple[Apply, Apply]) -> bool:
        later, earlier = pair
        owners = [variable.owner for variable in later.inputs if variable.owner is not None]
        return earlier in owners or any(depends((owner, earlier)) for owner in owners)

    return depends


def make_dependence_cmp() -> Comparison:
    """Return a comparison that is 1 where the first node depends on the second, -1 the other way."""
    depends = make_depends()

    def dependence(a: Apply, b: Apply) -> int:
        return int(depends((a, b))) or -int(depends((b, a)))

    return dependence


def reverse_dict(d: Mapping[Hashable, Iterable[Hashable]]) -> dict:
    """Return which keys each value belongs to.

    Examples
    --------
    >>> reverse_dict({"a": (1, 2), "b": (2, 3), "c": ()})
    {1: ('a',), 2: ('a', 'b'), 3: ('b',)}
    """
    keys: dict[Hashable, tuple] = {}
    for key, values in d.items():
        for value in values:
            keys[value] = (*keys.get(value, ()), key)
    return keys


def _toposort(edges: Mapping[Any, Iterable]) -> list:
    """Return the keys and values of `edges`, each key before its values.

    Raises
    ------
    ValueError
        When there is a cycle.
    """
    waiting_for = {node: set(before) for node, before in reverse_dict(edges).items()}
    ready = [node for node in edges if node not in waiting_for]
    order = []
    while ready:
        node = ready.pop()
        order.append(node)
        for later in edges.get(node, ()):
            waiting_for[later].discard(node)
            if not waiting_for[later]:
                ready.append(later)
    if any(waiting_for.values()):
        raise ValueError("Sorting expects dependences without a cycle, and there is one")
    return order


def posort(l: Iterable, *cmps: Comparison) -> list:  # noqa: E741 -- Theano's name
    """Sort so that comparisons are satisfied as far as possible, the first ones before the others.

    Parameters
    ----------
    l : iterable
        What is sorted.
    *cmps : callable
        Each is negative for two elements of which the first should come first.

    Returns
    -------
    list
    """
    items = list(l)
    after: dict[Any, set] = defaultdict(set)
    before: dict[Any, set] = defaultdict(set)
    for compare in cmps:
        for a in items:
            for b in items:
                if b in before[a] or b in after[a] or compare(a, b) >= 0:
                    continue
                for earlier in {a, *before[a]}:
                    after[earlier] |= {b, *after[b]}
                for later in {b, *after[b]}:
                    before[later] |= {a, *before[a]}
    return _toposort({item: after[item] for item in items})


def sort_apply_nodes(
    inputs: Sequence[Variable], outputs: Sequence[Variable], cmps: Sequence[Comparison]
) -> list[Apply]:
    """Sort the nodes from inputs to outputs by comparisons, as `posort` does."""
    return posort(list_of_nodes(inputs, outputs), *cmps)


def sort_schedule_fn(*cmps: Comparison) -> Callable[[Any], list[Apply]]:
    """Return a function that sorts the nodes of a graph by what they depend on, then by `cmps`."""
    all_cmps = (make_dependence_cmp(), *cmps)

    def schedule(fgraph):
        return sort_apply_nodes(fgraph.inputs, fgraph.outputs, all_cmps)

    return schedule


def key_to_cmp(key: Callable[[Any], Any]) -> Comparison:
    """Return the comparison of two elements by what `key` returns for each."""

    def compare(a: object, b: object) -> int:
        return cmp(key(a), key(b))

    return compare
