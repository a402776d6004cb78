"""The memory that a loop's states begin in, as Theano 1.0 made it.

PyTensor's scan knows that the one initial value of a state has length 1 and asks for its shape
once; Theano's forgets the length, since a step later there are more values, and asks for each
length by itself. Graphs that programs print or compare are the latter's; rewriting makes both one.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.type import TensorType, values_eq_approx_always_true
from pytensor.tensor.variable import TensorVariable

from theano.compile.rebroadcast import unbroadcast
from theano.rewriting.lengths import lengths_of, static_length
from theano.scan_module.loop.arguments import SIT_SOT, State
from theano.scan_module.loop.state_types import loose_axes


def first_rows(first: Variable, state: State) -> TensorVariable:
    """Return the first rows of a state, whose type does not say that they are one, nor that they have lengths that rows lose.

    Parameters
    ----------
    first
        The rows that the user gave.
    state
        The state, whose step may read rows of a less static type.
    """
    loose = unbroadcast(first, 0) if state.kind == SIT_SOT else first
    return unbroadcast(loose, *loose_axes(loose, state.reads[0].inner))


def memory_from(
    first: TensorVariable,
    steps: TensorVariable,
    kind: TensorType,
    lengths: Sequence[Variable] | None = None,
) -> TensorVariable:
    """Memory for a state's first rows and a row of each step, the first rows written into it.

    Parameters
    ----------
    first
        The first rows.
    steps
        How many steps there are.
    kind
        The type of the memory. PyTensor would find it by rewriting what computes the lengths,
        which for a loop on top of others is again and again the whole graph below.
    lengths
        The shape of the first rows, where it is known from elsewhere.
    """
    if lengths is None:
        lengths = [first.shape[axis] for axis in range(first.type.ndim)]
    room = Apply(AllocEmpty(kind.dtype), [steps + lengths[0], *lengths[1:]], [kind()]).out
    memory = pt.set_subtensor(room[: lengths[0]], first)
    # what nothing was written to yet is anything, NaN too
    room.tag.values_eq_approx = values_eq_approx_always_true
    room.tag.nan_guard_mode_check = memory.tag.nan_guard_mode_check = False
    return memory


def memory_after(row: Variable, steps: TensorVariable) -> TensorVariable:
    """Memory for one row of a state, which is written into it, and for a row of each step."""
    known = static_length(steps)
    rows = None if known is None else known + 1
    kind = TensorType(row.type.dtype, (rows, *row.type.shape))
    lengths: list[Variable] = [pt.constant(1, dtype="int64"), *lengths_of(row)]
    return memory_from(pt.shape_padleft(row), steps, kind, lengths)
