"""fewer_steps: a loop of which only rows up to some place are read runs up to that place.

    h[k] of n steps   ->   h[k] of min(k + 1, n) steps

It is legal because a step does not know of later ones. Rows are counted from the first, so that
every read stays as it is, and one of a row that there is not still fails; where rows are counted
from the last, or the loop may stop by itself, all steps are run.
"""

from __future__ import annotations

from functools import reduce

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import apply_depends_on
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from theano.pytensor_base.rewriting import copy_stack_trace, dfs_rewriter, node_rewriter
from theano.pytensor_base.scan import Scan as PyTensorScan
from theano.pytensor_base.tensor import get_idx_list
from theano.scan_module.loop.initial_rows import initial_rows
from theano.scan_module.scan_opt.outside.loop_reads import constant_index


@node_rewriter([PyTensorScan])
def fewer_steps(graph: FunctionGraph, node: Apply) -> dict | None:
    """Run a loop as far as its outputs are read."""
    op, n_steps = node.op, node.inputs[0]
    if op.info.as_while or op.info.n_mit_mot or op.info.n_untraced_sit_sot:
        return None
    if any(length is not n_steps for length in op.outer_nitsot(node.inputs)):
        return None
    reads = [
        (output, reader, _steps_for(reader, position, initial, n_steps))
        for output, initial in zip(node.outputs, initial_rows(node), strict=True)
        for reader, position in graph.clients[output]
    ]
    if not reads or any(steps is None for _, _, steps in reads):
        return None
    fewer = _least(n_steps, [steps for _, _, steps in reads])
    if fewer is n_steps:
        return None
    shorter = dict(zip(node.outputs, op(*_inputs(node, fewer), return_list=True), strict=True))
    replacements: dict = {}
    for output, reader, _ in reads:
        read = reader.op(shorter[output], *reader.inputs[1:])
        if apply_depends_on(read.owner, node):
            return None
        copy_stack_trace(reader.outputs[0], read)
        replacements[reader.outputs[0]] = reader.outputs[0].type.filter_variable(read)
    return {**replacements, "remove": [node]}


def _steps_for(reader: Apply, position: int, initial: int, n_steps: Variable):
    """How many steps a reader needs: a number or a variable; None if all, or not known."""
    if not isinstance(reader.op, Subtensor) or position != 0:
        return None
    [index, *_] = get_idx_list(reader.inputs, reader.op.idx_list)
    if not isinstance(index, slice):
        if not isinstance(index, Constant):
            place = pt.as_tensor_variable(index).astype("int64")
            return pt.switch(pt.ge(place, 0), place + (1 - initial), n_steps)
        return index.data + 1 - initial if index.data >= 0 else None
    bounds = [0 if value is None else value for value in (index.start, index.stop, index.step)]
    counted = [int(value.data) if isinstance(value, Constant) else value for value in bounds]
    if index.stop is None or not all(isinstance(value, int) for value in counted):
        return None
    return counted[1] - initial if min(counted) >= 0 else None


def _least(n_steps: Variable, needed: list) -> Variable:
    """The number of steps, or the most that is needed if that is less."""
    known = max([0, *(int(steps) for steps in needed if not isinstance(steps, Variable))])
    given = [steps for steps in needed if isinstance(steps, Variable)]
    if not given and isinstance(n_steps, Constant):
        return n_steps if known >= n_steps.data else pt.constant(known, dtype="int64")
    return pt.minimum(reduce(pt.maximum, given, pt.constant(known, dtype="int64")), n_steps)


def _inputs(node: Apply, n_steps: Variable) -> list[Variable]:
    """The inputs of a loop that runs that many steps."""
    op = node.op
    inputs = [n_steps, *node.inputs[1:]]
    states = [*op.outer_mitsot(inputs), *op.outer_sitsot(inputs)]
    first = 1 + op.info.n_seqs
    for place, (buffer, initial) in enumerate(
        zip(states, initial_rows(node), strict=False), start=first
    ):
        inputs[place] = _shorter(buffer, initial, n_steps)
    outputs = first + len(states)
    inputs[outputs : outputs + op.info.n_nit_sot] = [n_steps] * op.info.n_nit_sot
    return inputs


def _shorter(buffer: Variable, initial: int, n_steps: Variable) -> Variable:
    """A state's buffer with rows for that many steps."""
    rows = initial + n_steps
    written = buffer.owner
    if written is not None and isinstance(written.op, IncSubtensor):
        empty = written.inputs[0].owner
        index = constant_index(written.op.idx_list, [written.inputs[0], *written.inputs[2:]])
        if (
            empty is not None
            and isinstance(empty.op, AllocEmpty)
            and written.op.set_instead_of_inc
            and index in (slice(None, initial), slice(0, initial))
        ):
            return written.op(empty.op(rows, *empty.inputs[1:]), *written.inputs[1:])
    return buffer[:rows]


FEWER_STEPS = dfs_rewriter(fewer_steps, ignore_newtrees=True)
