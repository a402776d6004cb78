"""Variables, applications of operators, and walks over them, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from collections.abc import Iterable

from pytensor.graph.basic import (
    Apply,
    Constant,
    Node,
    Variable,
    as_string,
    clone,
    clone_get_equiv,
    default_node_formatter,
    equal_computations,
    op_as_string,
)
from pytensor.graph.rewriting.utils import is_same_graph
from pytensor.graph.traversal import ancestors as _ancestors
from pytensor.graph.traversal import (
    apply_ancestors,
    applys_between,
    general_toposort,
    graph_inputs,
    io_toposort,
    orphans_between,
    variable_ancestors,
    vars_between,
)
from pytensor.graph.traversal import apply_depends_on as _apply_depends_on
from pytensor.tensor.blas import view_roots


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
    return list(_ancestors(variable_list, blockers=_as_set(blockers)))


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


def variables(i: Iterable[Variable], o: Iterable[Variable]) -> list[Variable]:
    """Return the variables between the inputs `i` and the outputs `o`, both included."""
    return list(vars_between(i, o))


def orphans(i: Iterable[Variable], o: Iterable[Variable]) -> list[Variable]:
    """Return the variables without an owner that `o` depends on and that are not in `i`."""
    return list(orphans_between(i, o))


def variables_and_orphans(
    i: Iterable[Variable], o: Iterable[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """Return both `variables` and `orphans` of the graph from `i` to `o`."""
    return variables(i, o), orphans(i, o)


def ops(i: Iterable[Variable], o: Iterable[Variable]) -> set[Apply]:
    """Return the applications of operators between the inputs `i` and the outputs `o`."""
    return set(applys_between(i, o))


def list_of_nodes(inputs: Iterable[Variable], outputs: Iterable[Variable]) -> list[Apply]:
    """Return the applications of operators from the inputs to the outputs."""
    return list(applys_between(inputs, outputs))


def is_in_ancestors(l_apply: Apply, f_node: Apply) -> bool:
    """Say whether the application `l_apply` depends on `f_node`."""
    return l_apply is f_node or _apply_depends_on(l_apply, f_node)


def _as_set(blockers: Iterable[Variable] | None) -> set[Variable] | None:
    return None if blockers is None else set(blockers)
