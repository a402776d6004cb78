"""PyTensor's canonical sums and products, but for partial ones that others read: those are kept.

PyTensor unpacks every sum of sums: ``(a + b) + c`` becomes ``a + b + c``, whoever else reads
``a + b``, which is computed all the same. It is then no longer read by a sum, and unpacked in its
turn. Of a chain of n partial sums, as the gradient of a network with residuals has, n additions become
n**2 / 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.extra_ops import broadcast_arrays

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace
from theano.rewriting.canonical_sums import Form
from theano.rewriting.rewrites.of_pytensor.guarded import Guarded


class KeepsPartialSums(Guarded):
    """The rewrite that makes sums, or products, canonical.

    Parameters
    ----------
    form
        What is canonical.

    Examples
    --------
    Of ``s = a + b`` and ``s + (c + d)`` the second becomes ``s + c + d``. Where something cancels,
    everything is unpacked: ``s - b`` is ``a``.
    """

    def __init__(self, *args: Any, form: Form, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._form = form

    def replaced(self, fgraph: FunctionGraph, node: Apply, **kwargs: object) -> Any:
        """Return the canonical form of a node in which partial sums that others read are terms."""
        form, (old,) = self._form, node.outputs
        if form.is_within_another(fgraph, node):
            return None
        *parts, some_are_shared = form.unpacked_but_for_shared(fgraph, node)
        if not some_are_shared and not any(form.part(c) for c, _ in fgraph.clients[old]):
            return super().replaced(fgraph, node, **kwargs)
        canonizer: Any = self.rewriter
        if some_are_shared and form.cancels(node):
            every_part = canonizer.get_num_denum(old)
            simpler = canonizer.simplify(*map(list, every_part), old.type)
            if _count(simpler) < _count(every_part):
                return _in_place_of(node, canonizer.merge_num_denum(*simpler))
        simpler = canonizer.simplify(*map(list, parts), old.type)
        above, below = parts
        is_longer = not below and len(node.inputs) < len(above)
        if not is_longer and list(simpler) == parts:
            return None
        return _in_place_of(node, canonizer.merge_num_denum(*simpler))


def _count(parts: Iterable[list[Variable]]) -> int:
    return sum(map(len, parts))


def _in_place_of(node: Apply, new: Any) -> list[Variable] | None:
    old: Any = node.outputs[0]
    if new.type.broadcastable != old.type.broadcastable:
        # what cancelled had more axes, or elements
        operands: Any = node.inputs
        new = broadcast_arrays(new, *operands)[0]
        if new.type.broadcastable != old.type.broadcastable:
            return None
    copy_stack_trace(old, new)
    return [new]
