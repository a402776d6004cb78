"""Variables, applications of operators, and walks over them, by Theano 1.0's names."""
# ruff: noqa: F401, F811 -- this file re-exports, and has arguments of the same names

import copy
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytensor.graph.basic import (
    Apply,
    Node,
    default_node_formatter,
    equal_computations,
    op_as_string,
)
from pytensor.graph.basic import Constant as _PyTensorConstant
from pytensor.graph.basic import Variable as _PyTensorVariable
from pytensor.graph.basic import as_string as _as_string
from pytensor.graph.basic import clone_get_equiv as _clone_get_equiv
from pytensor.graph.traversal import orphans_between

from theano.gof.graph_walks import (
    ancestors,
    general_toposort,
    inputs,
    io_toposort,
    is_in_ancestors,
    list_of_nodes,
    ops,
    orphans,
    stack_search,
    variables,
    variables_and_orphans,
)
from theano.gof.instances import including_instances_of
from theano.gof.same_graph import is_same_graph
from theano.printing.names import operation_name, variable_name
from theano.pytensor_internals.operations.tensor import view_roots

if TYPE_CHECKING:
    # all variables are of this class
    from pytensor.graph.basic import Variable
else:

    class _CountedTogether(type(_PyTensorVariable)):
        """All variables are numbered by one counter, which is PyTensor's; it may be set here."""

        @property
        def __count__(cls):
            return _PyTensorVariable.__count__

        @__count__.setter
        def __count__(cls, counter):
            _PyTensorVariable.__count__ = counter

    @including_instances_of(_PyTensorVariable)
    class Variable(_PyTensorVariable, metaclass=_CountedTogether):
        """An operand or a result of an operator.

        Parameters
        ----------
        type : Type
        owner : Apply, optional
            The application that it is a result of; none for an input.
        index : int, optional
            Which of the results.
        name : str, optional
        """

        def __init__(self, type, owner=None, index=None, name=None):
            super().__init__(type, owner, index, name)


@including_instances_of(_PyTensorConstant)
class Constant(_PyTensorConstant):
    """A variable with a value that does not change.

    Parameters
    ----------
    type : Type
    data
        The value; the type's `filter` checks it.
    name : str, optional
    """

    def __str__(self):
        if self.name is not None:
            return self.name
        text = str(self.data)
        if len(text) > 20:
            text = f"{text[:10].strip()} ... {text[-10:].strip()}"
        return f"{type(self).__name__}{{{text}}}"


def clone_get_equiv(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    copy_inputs: bool = True,
    copy_orphans: bool = True,
    memo: dict | None = None,
) -> dict:
    """Copy a graph, and return the copy of each variable and application.

    Parameters
    ----------
    inputs, outputs : sequences of variables
    copy_inputs : bool
        Whether the inputs are copied; otherwise they stand for themselves.
    copy_orphans : bool
        The same for the constants and other variables without an owner between them.
    memo : dict, optional
        Copies that there are already; completed in place.

    Returns
    -------
    dict
    """
    memo = {} if memo is None else memo
    given = set(inputs)
    # PyTensor leaves constants as they are
    for variable in [*inputs, *orphans_between(inputs, outputs)]:
        copied = copy_inputs if variable in given else copy_orphans
        if copied and isinstance(variable, _PyTensorConstant):
            memo.setdefault(variable, copy.copy(variable))
    return _clone_get_equiv(inputs, outputs, copy_inputs, copy_orphans, memo)


def clone(
    i: Sequence[Variable],
    o: Sequence[Variable],
    copy_inputs: bool = True,
    copy_orphans: bool | None = None,
) -> tuple[list[Variable], list[Variable]]:
    """Copy the graph from the inputs `i` to the outputs `o`.

    Parameters
    ----------
    i, o : sequences of variables
    copy_inputs, copy_orphans : bool
        As for `clone_get_equiv`; orphans are treated like inputs by default.

    Returns
    -------
    (list of variables, list of variables)
        The inputs and the outputs of the copy.
    """
    copy_orphans = copy_inputs if copy_orphans is None else copy_orphans
    copies = clone_get_equiv(i, o, copy_inputs, copy_orphans)
    return [copies[variable] for variable in i], [copies[variable] for variable in o]


def as_string(
    i: Sequence[Variable],
    o: Sequence[Variable],
    leaf_formatter: Callable[[Variable], str] | None = None,
    node_formatter: Callable[[Apply, list[str]], str] | None = None,
) -> list[str]:
    """Write each output as an expression of the inputs.

    Parameters
    ----------
    i, o : sequences of variables
    leaf_formatter : callable, optional
        Writes an input or a constant; by default as Theano did.
    node_formatter : callable, optional
        Writes an application, given what was written for its inputs.

    Returns
    -------
    list of str
        What occurs several times is written the first time as ``*1 -> expression``.
    """

    def write_node(node, written):
        return f"{operation_name(node)}({', '.join(written)})"

    leaf_formatter = leaf_formatter or variable_name
    return _as_string(list(i), list(o), leaf_formatter, node_formatter or write_node)
