"""fewer_steps: a loop of which only rows up to some place are read runs up to that place.

    h[k] of n steps   ->   h[k] of min(k + 1, n) steps

It is legal because a step does not know of later ones. Rows are counted from the first, so that
every read stays as it is, and one of a row that there is not still fails; where rows are counted
from the last, or the loop may stop by itself, all steps are run.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import apply_depends_on
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.subtensor import IncSubtensor, Subtensor
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import all_results, known_tensor, only_result
from theano.pytensor_internals.operations.tensor import get_idx_list
from theano.scan_module.loop.constant_index import constant_index
from theano.scan_module.loop.roles import Roles, given_to, steps_given_to
from theano.scan_module.report.describe import describe
from theano.scan_module.report.headings import SHORTENED
from theano.scan_module.scan_opt.loop_rewriter import Checked, Finding, LoopRewriter
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Read:
    """A read of an output, and how many steps it needs: a number or a variable; None if all."""

    output: Variable
    reader: Apply
    steps: int | Variable | None


class FewerSteps(LoopRewriter):
    """Run a loop as far as its outputs are read."""

    name = "fewer_steps"
    heading = SHORTENED
    readers_first = True

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Return how many steps the reads of the loop need."""
        n_steps = steps_given_to(node)
        reads = [
            Read(output, reader, _steps_for(reader, position, initial, n_steps))
            for output, initial in zip(node.outputs, Roles.of(node.op).histories(), strict=True)
            for reader, position in graph.clients[output]
        ]
        if all(read.steps is None for read in reads):
            return None
        reason = why_not(node, reads)
        if reason is not None:
            return Checked([Finding("number of steps", False, reason)])
        fewer = _least(n_steps, [read.steps for read in reads])
        if fewer is n_steps:
            return None
        replacements = _read_from(node, fewer, reads)
        if any(apply_depends_on(read.owner, node) for read in replacements.values()):
            return Checked([Finding("number of steps", False, "it is computed from its outputs")])
        detail = f"{describe(fewer)} in place of {describe(n_steps)}, as many as are read"
        return Checked([Finding("number of steps", True, detail)], lambda: replacements)


def why_not(node: Apply, reads: list[Read]) -> str | None:
    """Why a loop of which a part of the steps is read must run all of them, or None."""
    roles, given = Roles.of(node.op), given_to(node)
    if roles.may_stop:
        return "the loop may stop early"
    if roles.mit_mots or roles.untraced:
        return "it has a state without a row for each step, such as a generator"
    if any(length is not given.n_steps for length in given.trace_lengths):
        return "rows of an output are counted from its last"
    if any(read.steps is None for read in reads):
        return "the last steps are read, too"
    return None


def _read_from(node: Apply, steps: TensorVariable, reads: list[Read]) -> dict[Variable, Variable]:
    """Return the reads of a loop that runs that many steps."""
    outputs = all_results(node.op(*_inputs(node, steps), return_list=True))
    shorter = dict(zip(node.outputs, outputs, strict=True))
    return {
        read.reader.outputs[0]: only_result(
            read.reader.op(shorter[read.output], *read.reader.inputs[1:])
        )
        for read in reads
    }


def _steps_for(reader: Apply, position: int, initial: int, n_steps: Variable):
    """Return how many steps a reader needs: a number or a variable; None if all, or not known."""
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


def _least(n_steps: TensorVariable, needed: list) -> TensorVariable:
    """Return the number of steps, or the most that is needed if that is less."""
    known = max([0, *(int(steps) for steps in needed if not isinstance(steps, Variable))])
    given = [steps for steps in needed if isinstance(steps, Variable)]
    if not given and isinstance(n_steps, Constant):
        return n_steps if known >= n_steps.data else pt.constant(known, dtype="int64")
    return pt.minimum(reduce(pt.maximum, given, pt.constant(known, dtype="int64")), n_steps)


def _inputs(node: Apply, n_steps: TensorVariable) -> list[Variable]:
    """Return the inputs of a loop that runs that many steps."""
    roles, given = Roles.of(node.op), given_to(node)
    return replace(
        given,
        n_steps=n_steps,
        states=[
            _shorter(buffer, taps.history, n_steps)
            for buffer, taps in zip(given.states, roles.states, strict=True)
        ],
        trace_lengths=[n_steps] * roles.traces,
    ).in_order()


def _shorter(buffer: Variable, initial: int, n_steps: TensorVariable) -> Variable:
    """Return a state's buffer with rows for that many steps."""
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
            memory = only_result(empty.op(rows, *empty.inputs[1:]))
            return only_result(written.op(memory, *written.inputs[1:]))
    return known_tensor(buffer)[:rows]
