"""A sum of parts that were added to zeros side by side becomes these parts joined.

The gradient of slices is such a sum, of the gates of a recurrent network for one: it adds arrays
as large as all parts together, which are zero but for one part each. Joined, each part is written
once, in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Add
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import variadic_add
from pytensor.tensor.subtensor import IncSubtensor

from theano.pytensor_internals.graphs.graph import ReplaceValidate
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.rewriting import GraphRewriter, copy_stack_trace
from theano.pytensor_internals.operations.tensor import get_idx_list
from theano.rewriting.filled_arrays import allocated
from theano.rewriting.zeros import is_zero
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Part:
    """A term of a sum: zeros but for the places from ``start`` to ``stop`` along an axis.

    Attributes
    ----------
    stop
        None for all that is behind the start.
    """

    term: Variable
    axis: int
    start: int
    stop: int | None

    @property
    def value(self) -> Variable:
        """Return what was written there."""
        return self.term.owner.inputs[1]  # type: ignore[union-attr]


class JoinedParts(GraphRewriter):
    """``zeros[:a].inc(x) + zeros[a:b].inc(y) + ...`` -> ``join(x, y, ...)``.

    It is legal where no two of the parts overlap. Between and behind them zeros are joined; bounds
    beyond the end mean the end, as they do in the slices.
    """

    name = "joined_parts"

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Let changes be taken back."""
        fgraph.attach_feature(ReplaceValidate())

    def apply(self, fgraph: FunctionGraph) -> None:
        """Replace the sums, each as a whole."""
        for node in reversed(in_order(fgraph)):
            if node in fgraph.apply_nodes and _is_sum(node):
                self._join(fgraph, node)

    def _join(self, fgraph: FunctionGraph, node: Apply) -> None:
        total = node.outputs[0]
        terms = _terms(fgraph, total)
        for axis in range(total.type.ndim):
            parts = _side_by_side([p for t in terms if (p := _part(t, total)) and p.axis == axis])
            if len(parts) < 2:
                continue
            joined = total.type.filter_variable(_joined(parts))
            taken = {part.term for part in parts}
            result = variadic_add(joined, *(term for term in terms if term not in taken))
            copy_stack_trace(total, result)
            fgraph.replace_validate(total, total.type.filter_variable(result), reason=self.name)
            return


def _is_sum(node: Apply) -> bool:
    """Return whether a node adds arrays of one type, none of which is broadcast."""
    return (
        is_a(node.op, Elemwise)
        and is_a(node.op.scalar_op, Add)
        and all(
            v.type.dtype == node.outputs[0].type.dtype
            and v.type.broadcastable == node.outputs[0].type.broadcastable
            for v in node.inputs
        )
    )


def _terms(fgraph: FunctionGraph, total: Variable) -> list[Variable]:
    """Return what is added up, through sums that nothing else reads."""
    found: list[Variable] = []
    pending = [*total.owner.inputs]  # type: ignore[union-attr]
    while pending:
        term = pending.pop(0)
        inner = term.owner
        if inner is not None and _is_sum(inner) and len(fgraph.clients[term]) == 1:
            pending = [*inner.inputs, *pending]
        else:
            found.append(term)
    return found


def _part(term: Variable, total: Variable) -> Part | None:
    """Return a term as a part along an axis of zeros; None if it is something else."""
    node = term.owner
    if node is None or not is_a(node.op, IncSubtensor) or not is_zero(node.inputs[0]):
        return None
    value = node.inputs[1]
    if value.type.ndim != total.type.ndim or value.type.dtype != total.type.dtype:
        return None
    entries = get_idx_list(node.inputs[1:], node.op.idx_list)
    named = [axis for axis, entry in enumerate(entries) if entry != slice(None)]
    if len(named) != 1 or not isinstance(entries[named[0]], slice):
        return None
    (axis,) = named
    bounds = _bounds(entries[axis])
    narrow = [one for k, one in enumerate(value.type.broadcastable) if k != axis]
    wide = [one for k, one in enumerate(total.type.broadcastable) if k != axis]
    if bounds is None or narrow != wide or total.type.broadcastable[axis]:
        return None
    start, stop = bounds
    if value.type.broadcastable[axis] and (stop is None or stop - start != 1):
        return None
    return Part(term, axis, start, stop)


def _bounds(entry: slice) -> tuple[int, int | None] | None:
    """Return the bounds of a slice without a step, if they are constants counted from the first place."""
    given = [entry.start, entry.stop, entry.step]
    numbers = [int(v.data) if is_a(v, Constant) else v for v in given]
    if any(isinstance(v, Variable) for v in numbers) or numbers[2] not in (None, 1):
        return None
    start, stop = numbers[0] or 0, numbers[1]
    if start < 0 or (stop is not None and stop <= start):
        return None
    return start, stop


def _side_by_side(parts: Sequence[Part]) -> list[Part]:
    """Those of the parts, in their order along the axis, that overlap none before them."""
    found: list[Part] = []
    for part in sorted(parts, key=lambda part: part.start):
        past = found[-1].stop if found else 0
        if past is not None and part.start >= past:
            found.append(part)
    return found


def _joined(parts: Sequence[Part]) -> Variable:
    """Return the parts, with zeros between and behind them."""
    zeros = parts[0].term.owner.inputs[0]  # type: ignore[union-attr]
    axis, zero = parts[0].axis, pt.constant(0, dtype=zeros.type.dtype)
    known = [
        zeros.shape[d] if length is None else length for d, length in enumerate(zeros.type.shape)
    ]
    whole = known[axis]

    def place(bound: int | None) -> Any:
        if bound in (None, 0):
            return whole if bound is None else 0
        return min(bound, whole) if isinstance(whole, int) else pt.minimum(bound, whole)

    def shape(start: int | None, stop: int | None) -> list:
        return [place(stop) - place(start) if d == axis else n for d, n in enumerate(known)]

    pieces: list[Any] = []
    past: int | None = 0
    for part in parts:
        if part.start != past:
            pieces.append(allocated(zero, *shape(past, part.start)))
        # as long as what it was written to: one that is not would be broadcast, or refused
        pieces.append(allocated(part.value, *shape(part.start, part.stop)))
        past = part.stop
    if past is not None and past != whole:
        pieces.append(allocated(zero, *shape(past, None)))
    return pt.join(axis, *pieces)
