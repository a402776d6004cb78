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
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from theano.scan_module.loop.arguments import MIT_MOT, SIT_SOT, Loop, State, take_apart
from theano.scan_module.loop.constant_index import constant_index
from theano.scan_module.loop.initial_values import memory_after
from theano.scan_module.loop.roles import Roles, given_to
from theano.scan_module.report.describe import describe
from theano.scan_module.report.headings import SHORTENED
from theano.scan_module.scan_opt.loop_rewriter import Checked, Finding, LoopRewriter
from theano.schedule.zeros import is_zero


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


def why_not(loop: Loop, state: State) -> str | None:
    """Why a buffer of cotangents that holds one row is kept, or None."""
    if loop.settings.truncate_gradient != -1:
        return "the gradient is truncated"
    places = [tap.offset for tap in state.reads], [tap.offset for tap in state.writes]
    return None if places == ([0, 1], [1]) else "steps read it at several places"


class ShrinkCotangentBuffer(LoopRewriter):
    """Replace a buffer of cotangents that holds one row by a state that starts from it."""

    name = "ShrinkCotangentBuffer"
    heading = SHORTENED

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Which buffers of cotangents hold one row."""
        buffers = given_to(node).states[: Roles.of(node.op).mit_mots]
        if all(first_row(buffer) is None for buffer in buffers):
            return None
        loop = take_apart(node)
        rows = {s: first_row(s.outer) for s in loop.states if s.kind == MIT_MOT}
        findings, shrunk = [], {}
        for state, row in rows.items():
            if row is None:
                continue
            reason = why_not(loop, state)
            if reason is None:
                shrunk[state] = row
            findings.append(
                Finding(
                    f"cotangent {describe(state.reads[0].inner, loop)}",
                    reason is None,
                    reason or "only its last row was not zero: no buffer",
                )
            )
        if not shrunk:
            return Checked(findings)
        return Checked(findings, lambda: shrink(loop, shrunk).build(type(node.op)).replacements())


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
            buffer = memory_after(rows[old], loop.n_steps)
            state = replace(state, outer=buffer, reads=state.reads[:1], kind=SIT_SOT)
        states.append(state)
    return replace(edited, states=tuple(states))
