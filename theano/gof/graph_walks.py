"""Walks over graphs, in the orders of Theano 1.0, by which programs number what they save.

Depth first means that of what was given last comes first, but of an application's inputs the
first: ``inputs([x + y, z])`` is ``[z, x, y]``.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pytensor.graph.basic import Apply, Variable

Found = TypeVar("Found", bound=Hashable)
Following = Callable[[Any], Iterable[Any] | None]


def stack_search(
    start: deque, expand: Following, mode: str = "bfs", build_inv: bool = False
) -> Any:
    """Find all that can be reached.

    Parameters
    ----------
    start : deque
        Where to begin; empty afterwards.
    expand : callable
        What follows an element, or None.
    mode : {'bfs', 'dfs'}
        Whether what was found first or what was found last is looked at next.
    build_inv : bool
        Whether to return also what each element follows.

    Returns
    -------
    list, or list and dict
        Each element once, in the order in which they were looked at.
    """
    if mode not in ("bfs", "dfs"):
        raise ValueError("mode should be bfs or dfs", mode)
    take = start.popleft if mode == "bfs" else start.pop
    found: dict[int, Any] = {}
    precede: dict[Any, list] = {}
    while start:
        element = take()
        if id(element) in found:
            continue
        found[id(element)] = element
        following = list(expand(element) or ())
        start.extend(following)
        if build_inv:
            for other in following:
                precede.setdefault(other, []).append(element)
    return (list(found.values()), precede) if build_inv else list(found.values())


def ancestors(
    variable_list: Iterable[Variable], blockers: Iterable[Variable] | None = None
) -> list[Variable]:
    """Return the variables that the list depends on, themselves included.

    Parameters
    ----------
    variable_list : iterable of variables
    blockers : iterable of variables, optional
        Variables whose own inputs are not visited.

    Returns
    -------
    list of variables, each once
    """
    stops = set(blockers or ())

    def inputs_of(variable: Variable) -> Iterable[Variable] | None:
        if variable.owner is None or variable in stops:
            return None
        return reversed(variable.owner.inputs)

    return stack_search(deque(variable_list), inputs_of, "dfs")


def inputs(
    variable_list: Iterable[Variable], blockers: Iterable[Variable] | None = None
) -> list[Variable]:
    """Return the variables without an owner that the list depends on, constants included.

    Parameters
    ----------
    variable_list : iterable of variables
    blockers : iterable of variables, optional
        Variables whose own inputs are not visited.

    Returns
    -------
    list of variables, each once
    """
    return [found for found in ancestors(variable_list, blockers) if found.owner is None]


def variables_and_orphans(
    i: Iterable[Variable], o: Iterable[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """Return both `variables` and `orphans` of the graph from `i` to `o`."""
    given = set(i)

    def alongside_and_before(variable: Variable) -> Iterable[Variable] | None:
        node = variable.owner
        if node is None or variable in given:
            return None
        return reversed([*node.inputs, *node.outputs])

    found = stack_search(deque(o), alongside_and_before, "dfs")
    return found, [v for v in found if v.owner is None and v not in given]


def variables(i: Iterable[Variable], o: Iterable[Variable]) -> list[Variable]:
    """Return the variables between the inputs `i` and the outputs `o`, both included.

    All results of an application are, if one is.
    """
    return variables_and_orphans(i, o)[0]


def orphans(i: Iterable[Variable], o: Iterable[Variable]) -> list[Variable]:
    """Return the variables without an owner that `o` depends on and that are not in `i`."""
    return variables_and_orphans(i, o)[1]


def ops(i: Iterable[Variable], o: Iterable[Variable]) -> set[Apply]:
    """Return the applications of operators between the inputs `i` and the outputs `o`."""
    given = set(i)
    return {v.owner for v in variables(given, o) if v.owner is not None and v not in given}


def list_of_nodes(inputs: Iterable[Variable], outputs: Iterable[Variable]) -> list[Apply]:
    """Return the applications of operators from the inputs to the outputs, the last ones first."""
    given = set(inputs)

    def nodes_before(node: Apply) -> list[Apply]:
        owners = [variable.owner for variable in node.inputs if variable.owner is not None]
        return [owner for owner in owners if given.isdisjoint(owner.outputs)]

    starts = deque(output.owner for output in outputs if output.owner is not None)
    return stack_search(starts, nodes_before)


def general_toposort(
    outputs: Sequence[Found],
    deps: Callable[[Found], Sequence[Found] | None] | None,
    debug_print: bool = False,
    compute_deps_cache: Callable[[Found], Sequence[Found] | None] | None = None,
    deps_cache: dict[Found, Any] | None = None,
    clients: dict[Found, list[Found]] | None = None,
) -> list[Found]:
    """Sort what `outputs` depend on, each element after those that it depends on.

    Parameters
    ----------
    outputs : list, tuple or deque
    deps : callable
        What an element depends on, in an order; or None.
    debug_print : bool
        Whether to print what was found and what was sorted, where there is a cycle.
    compute_deps_cache : callable, optional
        In place of `deps`; it stores what it returns in `deps_cache`.
    deps_cache : dict, optional
    clients : dict, optional
        Filled with what depends on each element.

    Returns
    -------
    list

    Raises
    ------
    TypeError
        When `deps` returns a collection without an order.
    ValueError
        When there is a cycle.
    """
    depends = compute_deps_cache or deps
    assert depends is not None and isinstance(outputs, tuple | list | deque)
    waits_for: dict[Found, list[Found]] = {}

    def noted(element: Found) -> list[Found]:
        needed = depends(element)
        if isinstance(needed, set | frozenset):
            raise TypeError(
                f"What {element} depends on is a set, which has no order: no sort of it "
                "would be the same each time"
            )
        waits_for[element] = list(needed or ())
        return waits_for[element]

    found, precede = stack_search(deque(outputs), noted, "dfs", True)
    if clients is not None:
        clients.update(precede)
    ready = deque(element for element in found if not waits_for[element])
    order: dict[Found, None] = {}
    while ready:
        element = ready.popleft()
        if element in order:
            continue
        order[element] = None
        for client in precede.get(element, ()):
            waits_for[client] = [other for other in waits_for[client] if other is not element]
            if not waits_for[client]:
                ready.append(client)
    if len(order) != len(found):
        if debug_print:
            print("", found, list(order), sep="\n")
        raise ValueError("graph contains cycles")
    return list(order)


def io_toposort(
    inputs: Iterable[Variable],
    outputs: Sequence[Variable],
    orderings: Mapping[Apply, Sequence[Apply]] | None = None,
    clients: dict | None = None,
) -> list[Apply]:
    """Sort the applications from the inputs to the outputs, each after those that it needs.

    Parameters
    ----------
    inputs, outputs : lists of variables
    orderings : mapping, optional
        Further applications that come before one.
    clients : dict, optional
        Filled with what uses each variable and application.

    Returns
    -------
    list of Apply
    """
    given = set(inputs)
    if not orderings and clients is None:
        return _depth_first(given, outputs)
    before = orderings or {}

    def needed(element: Variable | Apply) -> list:
        if element in given:
            return []
        if isinstance(element, Apply):
            return [*element.inputs, *before.get(element, ())]
        return [] if element.owner is None else [element.owner]

    order = general_toposort(outputs, needed, clients=clients)
    return [element for element in order if isinstance(element, Apply)]


def _depth_first(given: set[Variable], outputs: Sequence[Variable]) -> list[Apply]:
    """Return the first output's nodes first, and of a node's those that its last input needs."""
    done = set(given)
    pending = [o.owner for o in reversed(outputs) if o.owner is not None and o not in done]
    order: dict[Apply, None] = {}
    while pending:
        node = pending[-1]
        owners = [v.owner for v in node.inputs if v.owner is not None and v not in done]
        if node not in order and owners:
            # those that are done come off the stack again
            pending.extend(owners)
            continue
        pending.pop()
        done.update(node.outputs)
        order[node] = None
    return list(order)


def is_in_ancestors(l_apply: Apply, f_node: Apply) -> bool:
    """Return whether the application `l_apply` depends on `f_node`."""
    return f_node in stack_search(deque([l_apply]), _owners)


def _owners(node: Apply) -> list[Apply]:
    return [variable.owner for variable in node.inputs if variable.owner is not None]
