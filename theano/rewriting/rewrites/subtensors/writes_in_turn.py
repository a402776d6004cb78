"""A sum of increments of arrays: one array that is incremented in turn, for the whole sum at once.

The gradient of a vector of which a program reads each element is such a sum, of sums of two. PyTensor
takes one increment out of each of them at a time: the square of how many there are.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.math import add, variadic_add
from pytensor.tensor.subtensor import AdvancedIncSubtensor, IncSubtensor

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter

_WRITES = (IncSubtensor, AdvancedIncSubtensor)


@node_rewriter([add])
def increments_in_turn(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """``x + a[i].inc(u) + b[j].inc(v)`` -> ``(x + a + b)[i].inc(u)[j].inc(v)``."""
    total = node.outputs[0]
    if _is_part_of_a_sum(graph, total):
        # which takes the increments out of both
        return None
    others, bases, writes = _taken_apart(graph, node)
    if not writes:
        return None
    result: Any = variadic_add(*others, *bases)
    copy_stack_trace(total, result)
    for write in writes:
        if not total.type.is_super(result.type):
            return None
        result = write.op(result, *write.inputs[1:])
        copy_stack_trace([total, *write.outputs], result)
    return [result]


def _is_part_of_a_sum(graph: FunctionGraph, variable: Variable) -> bool:
    """Return whether a variable is read by a sum alone, of its form."""
    readers = graph.clients[variable]
    if len(readers) != 1:
        return False
    reader = readers[0][0]
    return reader.op == add and _is_of_form(variable, reader.outputs[0].type)


def _is_of_form(term: Any, kind: Any) -> bool:
    """Return whether a term has the elements that the sum of a type has: none is repeated."""
    return term.type.dtype == kind.dtype and term.type.broadcastable == kind.broadcastable


def _taken_apart(
    graph: FunctionGraph, node: Apply
) -> tuple[list[Variable], list[Variable], list[Apply]]:
    """Return the terms of a sum, the arrays that are incremented in it, and the increments in order."""
    kind = node.outputs[0].type
    others: list[Variable] = []
    bases: list[Variable] = []
    writes: list[Apply] = []
    # a variable with whether an increment of it was met, or an increment whose array is done
    waiting: list[tuple[Any, bool]] = [(variable, False) for variable in reversed(node.inputs)]
    while waiting:
        met, incremented = waiting.pop()
        if isinstance(met, Apply):
            writes.append(met)
            continue
        owner = met.owner
        alone = owner is not None and len(graph.clients[met]) == 1 and _is_of_form(met, kind)
        if alone and isinstance(owner.op, _WRITES) and not owner.op.set_instead_of_inc:
            waiting += [(owner, True), (owner.inputs[0], True)]
        elif alone and owner.op == add:
            waiting += [(variable, incremented) for variable in reversed(owner.inputs)]
        else:
            (bases if incremented else others).append(met)
    return others, bases, writes
