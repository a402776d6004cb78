"""Products of stacks that PyTensor turns into one product, where a stack may be empty.

It merges axes by ``reshape((-1, n))``, which is an error where ``n`` is 0. What is merged is as long
as the product of its lengths.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import graph_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.basic import MakeVector, get_underlying_scalar_constant_value
from pytensor.tensor.math import prod
from pytensor.tensor.shape import Reshape

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace
from theano.rewriting.rewrites.of_pytensor.guarded import Guarded


class MergedAxes(Guarded):
    """A rewrite that merges neighbouring axes, whose reshapes give every length."""

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        """Return what the rewrite gives, without a length of -1."""
        replaced = super().transform(fgraph, node, *args, **kwargs)
        if not replaced:
            return replaced
        known = {
            variable: _with_all_lengths(variable.owner)
            for variable in ancestors(replaced, blockers=node.inputs)
            if variable.owner is not None and isinstance(variable.owner.op, Reshape)
        }
        results = graph_replace(
            replaced, {old: new for old, new in known.items() if new}, strict=False
        )
        copy_stack_trace(node.outputs, results)
        return results


def _with_all_lengths(node: Apply) -> Variable | None:
    """Return a reshape that gives the length of the axes that it merges; None if it was."""
    array: Any
    lengths: Any
    array, lengths = node.inputs
    if lengths.owner is None or not isinstance(lengths.owner.op, MakeVector):
        return None
    known = list(lengths.owner.inputs)
    open_at = [k for k, length in enumerate(known) if _is_minus_one(length)]
    if len(open_at) != 1:
        return None
    (first,) = open_at
    behind = len(known) - first - 1
    known[first] = prod(array.shape[first : array.type.ndim - behind])
    return node.outputs[0].type.filter_variable(array.reshape(known))


def _is_minus_one(length: Variable) -> bool:
    number = get_underlying_scalar_constant_value(length, raise_not_constant=False)
    return not isinstance(number, Variable) and number == -1
