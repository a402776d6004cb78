"""ShrinkCotangentBuffer: a cotangent that is zero but for the last step needs no buffer.

The backward loop reads, for each state, the cotangents of all steps from a buffer and adds to it.
If a cost reads only a state's last value, that buffer is zero but for one row: the first that the
backward loop reads. The state is then an ordinary one that starts from that row; a later row is
zero before the step adds to it, so the step's own gradient is its value.
"""

from __future__ import annotations

from dataclasses import replace

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from theano.pytensor_base.rewriting import copy_stack_trace, dfs_rewriter, node_rewriter
from theano.pytensor_base.scan import expand_empty
from theano.scan_module.loop.arguments import MIT_MOT, SIT_SOT, Loop, State, take_apart
from theano.scan_module.report.describe import describe
from theano.scan_module.scan_opt.loop_rewriter import LoopRewriter
from theano.scan_module.scan_opt.outside.loop_reads import constant_index
from theano.scan_module.step.zeros import is_zero


def first_row(buffer: Variable) -> Variable | None:
    """The first row of a buffer of which all other rows are zero; None if it is another.

    The buffer is the reverse of a gradient that was only ever added to at its last row.
    """
    node = buffer.owner
    if node is None or not isinstance(node.op, Subtensor):
        return None
    if constant_index(node.op.idx_list, node.inputs) != slice(None, None, -1):
        return None
    return _only_row(node.inputs[0])


def _only_row(gradient: Variable) -> Variable | None:
    """The last row of an array of which all other rows are zero."""
    node = gradient.owner
    if node is None or not isinstance(node.op, IncSubtensor) or not is_zero(node.inputs[0]):
        return None
    base, value, *index_inputs = node.inputs
    index = constant_index(node.op.idx_list, [base, *index_inputs])
    if index == -1:
        return value if value.type.ndim == base.type.ndim - 1 else None
    if isinstance(index, slice) and index.stop is None and index.step in (None, 1):
        reaches_end = index.start is None or index.start >= 0
        return _only_row(value) if reaches_end else None
    return None


def carries_one_step(state: State) -> bool:
    """Whether a state of a backward loop belongs to one that reads only the step before."""
    return (
        state.kind == MIT_MOT
        and [tap.offset for tap in state.reads] == [0, 1]
        and [tap.offset for tap in state.writes] == [1]
    )


class ShrinkCotangentBuffer(LoopRewriter):
    """Replace a buffer of cotangents that holds one row by a state that starts from it."""

    name = "ShrinkCotangentBuffer"

    def rewrite_loop(self, graph: FunctionGraph, node: Apply) -> None:
        """Shrink what can be shrunk of one loop."""
        buffers = node.op.outer_mitmot(node.inputs)
        if node.op.truncate_gradient != -1 or all(first_row(buffer) is None for buffer in buffers):
            return
        loop = take_apart(node)
        rows = {s: first_row(s.outer) for s in loop.states if carries_one_step(s)}
        rows = {state: row for state, row in rows.items() if row is not None}
        if not rows:
            return
        built = shrink(loop, rows).build(type(node.op))
        replacements = {
            old: old.type.filter_variable(new) for old, new in built.replacements().items()
        }
        for old, new in replacements.items():
            copy_stack_trace(old, new)
        for state in rows:
            subject = f"cotangent {describe(state.reads[0].inner, loop)}"
            self.note(graph, node, subject, True, "only its last row was not zero: no buffer")
        graph.replace_all(list(replacements.items()), reason=self.name)


def shrink(loop: Loop, rows: dict[State, Variable]) -> Loop:
    """The loop with states that start from a row instead of a buffer.

    Parameters
    ----------
    loop
        The loop.
    rows
        For each state to shrink, the row that it starts from.
    """
    # the place that a step adds to is zero; its shape is that of the cotangent beside it
    zeros = {state.reads[1].inner: pt.zeros_like(state.reads[0].inner) for state in rows}
    edited = loop.with_inner_outputs(clone_replace(loop.inner_outputs, replace=zeros))
    states = []
    for old, state in zip(loop.states, edited.states, strict=True):
        if old in rows:
            buffer = expand_empty(pt.shape_padleft(rows[old]), loop.n_steps)
            state = replace(state, outer=buffer, reads=state.reads[:1], kind=SIT_SOT)
        states.append(state)
    return replace(edited, states=tuple(states))


@node_rewriter([Subtensor])
def trim_empty_buffer(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """``empty(n)[:1] = row``, of which the first rows are read, is made with these rows alone.

    PyTensor trims the buffer of a state whose steps nobody reads in this way, but allocates all of
    it first if the row is broadcast.
    """
    written = node.inputs[0].owner
    stop = _leading_stop(node)
    if stop is None or written is None or not isinstance(written.op, IncSubtensor):
        return None
    empty = written.inputs[0].owner
    first = constant_index(written.op.idx_list, [written.inputs[0], *written.inputs[2:]])
    if (
        empty is None
        or not isinstance(empty.op, AllocEmpty)
        or not written.op.set_instead_of_inc
        or not isinstance(first, slice)
        or first.start not in (None, 0)
        or first.step not in (None, 1)
        or first.stop is None
        or not 0 <= first.stop <= stop
    ):
        return None
    length, *row_shape = empty.inputs
    short = empty.op(pt.minimum(length, stop), *row_shape)
    result = written.op(short, *written.inputs[1:])
    return [node.outputs[0].type.filter_variable(result)]


def _leading_stop(node: Apply) -> int | None:
    index = constant_index(node.op.idx_list, node.inputs)
    if not isinstance(index, slice) or index.start not in (None, 0) or index.step not in (None, 1):
        return None
    return index.stop if index.stop is not None and index.stop >= 0 else None


TRIM_EMPTY_BUFFERS = dfs_rewriter(trim_empty_buffer)
