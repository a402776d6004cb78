"""Loops of a graph that are differentiated once: what runs forward, and what runs backward over it.

Check: the backward loop reads what the forward loop wrote from the last row to the first one, and
goes back over all its steps; both carry one row of each state from step to step.
"""

from __future__ import annotations

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.shape import SpecifyShape
from pytensor.tensor.subtensor import IncSubtensor, Subtensor
from pytensor.tensor.variable import TensorVariable

from theano.compile.rebroadcast import Rebroadcast
from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.kinds import is_a
from theano.scan_module.gradient.backward_loop import GRADIENT_OF
from theano.scan_module.loop.arguments import SIT_SOT, Loop, Sequence, State, output_of, unpack
from theano.scan_module.loop.constant_index import constant_index
from theano.scan_module.scan_op import Scan
from theano.support.data_classes import dataclass


@dataclass(frozen=True, eq=False)
class LoopPair:
    """A loop and the loop of its gradient.

    Attributes
    ----------
    forward, backward
        The nodes.
    rows
        The sequences of the backward loop that are rows of the forward loop's, each with the
        output of the forward loop.
    """

    forward: Apply
    backward: Apply
    rows: dict[Variable, Variable]


def loop_pairs(graph: FunctionGraph) -> list[LoopPair]:
    """Return the pairs of a graph that can keep few steps, in the order in which they run."""
    loops = [node for node in graph.toposort() if isinstance(node.op, Scan)]
    pairs = []
    for forward in loops:
        readers = [node for node in loops if node is not forward and _rows_read(node, forward)]
        if len(readers) == 1 and _fits(graph, forward, readers[0]):
            pairs.append(LoopPair(forward, readers[0], _rows_read(readers[0], forward)))
    return pairs


def _rows_read(backward: Apply, forward: Apply) -> dict[Variable, Variable]:
    """Return the sequences of a loop that are rows of another one, with its outputs."""
    found: dict[Variable, Variable] = {}
    for entry in unpack(backward).sequences:
        source = source_of_rows(entry.outer)
        if source.owner is forward:
            found[entry.outer] = source
    return found


def source_of_rows(rows: Variable) -> Variable:
    """Return the array that rows are a part of, along its first axis."""
    while rows.owner is not None and _keeps_rows(rows.owner):
        rows = rows.owner.inputs[0]
    return rows


def _keeps_rows(node: Apply) -> bool:
    if isinstance(node.op, SpecifyShape):
        rows = node.inputs[1]
        return isinstance(rows, Constant) and rows.data is None
    return isinstance(node.op, Subtensor) and isinstance(
        constant_index(node.op.idx_list, node.inputs), slice
    )


def _fits(graph: FunctionGraph, forward: Apply, backward: Apply) -> bool:
    first, second = unpack(forward), unpack(backward)
    return (
        not (first.settings.name or "").startswith(GRADIENT_OF)
        and _is_plain(first)
        and _is_plain(second)
        and first.n_steps is second.n_steps
        and not any(is_a(c.op, Scan) for out in backward.outputs for c, _ in graph.clients[out])
        and all(_is_from_the_end(entry, forward) for entry in second.sequences)
        and all(
            is_last_row(client)
            for state in second.states
            for client, _ in graph.clients[output_of(state)]
        )
    )


def _is_plain(loop: Loop) -> bool:
    states = all(_is_one_row_of_any_length(state) for state in loop.states)
    traces = all(trace.length is loop.n_steps for trace in loop.traces)
    whole = loop.settings.truncate_gradient == -1 and loop.condition is None
    # what is declared of lengths of 1 differs between a step and the loops around it
    rows = [*(s.inner for s in loop.sequences), *loop.inner_outputs]
    rows += [tap.inner for state in loop.states for tap in state.reads]
    declared = any(any(row.type.broadcastable) for row in rows)
    declared |= any(_begins_with_ones(entry.outer) for entry in loop.sequences)
    return states and traces and whole and bool(loop.states) and not (loop.untraced or declared)


def _is_one_row_of_any_length(state: State) -> bool:
    """Return whether a step reads the row before its own alone, and no length of it is declared to be 1."""
    one_row = state.kind == SIT_SOT and state.span == 1 and len(state.reads) == 1
    return one_row and not _declares_ones(state)


def _declares_ones(state: State) -> bool:
    """Return whether a length of 1 is declared for the rows that a state begins with."""
    return any(_as_given(first_rows_of(state)).type.broadcastable[1:])


def _begins_with_ones(rows: Variable) -> bool:
    """Return whether rows are those of a loop with a state of such a length."""
    node = source_of_rows(rows).owner
    if node is None or not isinstance(node.op, Scan):
        return False
    return any(_declares_ones(state) for state in unpack(node).states)


def first_rows_of(state: State) -> TensorVariable:
    """Return the rows that a state begins with, without the memory of all rows where that is apart."""
    node = state.outer.owner
    if node is not None and isinstance(node.op, IncSubtensor) and node.op.set_instead_of_inc:
        if node.inputs[0].owner is not None and isinstance(node.inputs[0].owner.op, AllocEmpty):
            return known_tensor(node.inputs[1])
    return state.outer


def _as_given(rows: Variable) -> Variable:
    """Return rows with all that is declared of their lengths."""
    while rows.owner is not None and isinstance(rows.owner.op, Rebroadcast):
        rows = rows.owner.inputs[0]
    return rows


def _is_from_the_end(entry: Sequence, forward: Apply) -> bool:
    """Return whether rows of the forward loop's come from the last one to the first one."""
    rows, steps = entry.outer, 1
    if source_of_rows(rows).owner is not forward:
        return True
    while rows.owner is not None and rows.owner is not forward:
        if isinstance(rows.owner.op, Subtensor):
            index = constant_index(rows.owner.op.idx_list, rows.owner.inputs)
            assert isinstance(index, slice)
            steps *= index.step or 1
        rows = rows.owner.inputs[0]
    return steps == -1


def is_last_row(client: Apply) -> bool:
    """Return whether an operation reads the last row alone."""
    return (
        isinstance(client.op, Subtensor) and constant_index(client.op.idx_list, client.inputs) == -1
    )
