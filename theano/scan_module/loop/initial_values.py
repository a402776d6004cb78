"""The memory that a loop's states begin in, as Theano 1.0 made it.

PyTensor's scan knows that the one initial value of a state has length 1 and asks for its shape
once; Theano's forgets the length, since a step later there are more values, and asks for each
length by itself. Graphs that programs print or compare are the latter's; rewriting makes both one.
"""

from __future__ import annotations

from dataclasses import replace

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.subtensor import IncSubtensor
from pytensor.tensor.type import TensorType, values_eq_approx_always_true

from theano.compile.rebroadcast import Rebroadcast, unbroadcast
from theano.scan_module.loop.arguments import SIT_SOT, Loop, State
from theano.scan_module.loop.one_trace import traced_as_one
from theano.scan_module.loop.state_types import loose_axes


def with_theanos_memory(loop: Loop) -> Loop:
    """The same loop, whose states begin in memory that is made as Theano 1.0 made it.

    Parameters
    ----------
    loop
        A loop that PyTensor's ``scan`` just made.
    """
    return replace(loop, states=tuple(replace(s, outer=_memory(s)) for s in loop.states))


def memory_from(first: Variable, steps: Variable, kind: TensorType) -> Variable:
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
    """
    lengths = [first.shape[axis] for axis in range(first.type.ndim)]
    room = Apply(AllocEmpty(kind.dtype), [steps + lengths[0], *lengths[1:]], [kind()]).out
    memory = pt.set_subtensor(room[: lengths[0]], first)
    # what nothing was written to yet is anything, NaN too
    room.tag.values_eq_approx = values_eq_approx_always_true
    room.tag.nan_guard_mode_check = memory.tag.nan_guard_mode_check = False
    return memory


def _memory(state: State) -> Variable:
    writing = state.outer.owner
    if writing is not None and isinstance(writing.op, Rebroadcast):
        writing = writing.inputs[0].owner
    if writing is None or not isinstance(writing.op, IncSubtensor):
        return state.outer
    empty, given = writing.inputs[:2]
    if empty.owner is None or not isinstance(empty.owner.op, AllocEmpty):
        return state.outer
    steps = _steps(empty.owner)

    def make() -> list[Variable]:
        first = unbroadcast(given, 0) if state.kind == SIT_SOT else given
        first = unbroadcast(first, *loose_axes(first, state.reads[0].inner))
        return [memory_from(first, steps, state.outer.type)]

    return traced_as_one(make, [given, steps])[0]


def _steps(empty: Apply) -> Variable:
    """The number of steps, to which PyTensor adds the number of initial values."""
    length = empty.inputs[0].owner
    assert length is not None
    return length.inputs[0]
