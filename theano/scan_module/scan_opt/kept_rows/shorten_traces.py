"""shorten_traces: a loop of whose steps only the last few are read keeps only those.

The transformation is PyTensor's. It reads the last steps at their places from the end of a buffer
of as many rows, which is wrong

* of a loop that may stop before it has filled the buffer. Such a loop is shortened only where its
  last step alone is read: there always is one;
* of an output of which more rows are read than there may be steps;
* of rows from a place counted from the end to one counted from the start;
* of rows from a place to one before it, of which there are none.
"""

from __future__ import annotations

import math

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.subtensor import Subtensor

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.pytensor_internals.graphs.scan import scan_reduce_trace_rewrite
from theano.pytensor_internals.operations.tensor import get_idx_list
from theano.scan_module.loop.constant_index import constant_index
from theano.scan_module.loop.roles import Roles, given_by, given_to
from theano.scan_module.report.describe import describe
from theano.scan_module.report.headings import SHORTENED
from theano.scan_module.scan_opt.kept_rows.stand_ins import StandIns
from theano.scan_module.scan_opt.loop_rewriter import Checked, Finding, LoopRewriter

# What a state's user reads is its buffer behind the initial values.
_LAST_STEP = (-1, slice(-1, None, None))


def why_not(graph: FunctionGraph, node: Apply) -> str | None:
    """Why a loop must keep all its steps, or None if nothing speaks against shortening it."""
    roles = Roles.of(node.op)
    reason = _reads_another_step if roles.may_stop else _reads_other_rows
    outputs = zip(node.outputs, roles.histories(), strict=True)
    for output, initial in list(outputs)[roles.mit_mots :]:
        if (why := reason(graph, node, output, initial)) is not None:
            return why
    return None


def _reads_another_step(
    graph: FunctionGraph, node: Apply, output: Variable, initial: int
) -> str | None:
    all_steps = (slice(None), slice(0, None), slice(initial, None))
    for reader, index in _reads(graph, output):
        behind = _reads(graph, reader.outputs[0]) if index in all_steps else [(reader, index)]
        for last, which in behind:
            if which not in _LAST_STEP:
                return f"the loop may stop early, and {last} reads another step than the last"
    return None


def _reads_other_rows(
    graph: FunctionGraph, node: Apply, output: Variable, initial: int
) -> str | None:
    rows = _rows_there_are(node, output)
    for reader, position in graph.clients[output]:
        if position != 0 or not is_a(reader.op, Subtensor):
            continue
        index = get_idx_list(reader.inputs, reader.op.idx_list)[0]
        start, stop = (index.start, index.stop) if isinstance(index, slice) else (index, None)
        if not is_a(start, Constant):
            continue
        if start.data >= 0:
            if is_a(stop, Constant) and 0 <= stop.data <= start.data:
                return f"{reader} reads no rows"
            continue
        if stop is not None and not (is_a(stop, Constant) and stop.data < 0):
            return f"{reader} reads from a place counted from the end to one from the start"
        if -start.data > rows:
            return f"{reader} reads more rows than there may be steps"
    return None


def _rows_there_are(node: Apply, output: Variable) -> float:
    """Return how many rows an output has at least; PyTensor sees to those of states."""
    given, traces = given_to(node), given_by(node).traces
    n_steps = given.n_steps
    if output not in traces or given.trace_lengths[traces.index(output)] is not n_steps:
        return math.inf
    return int(n_steps.data) if is_a(n_steps, Constant) else 1


def _reads(graph: FunctionGraph, variable: Variable) -> list[tuple[Apply, int | slice | None]]:
    """Return the nodes that index a variable, each with its index if that is constant."""
    return [
        (reader, constant_index(reader.op.idx_list, reader.inputs))
        for reader, position in graph.clients[variable]
        if position == 0 and is_a(reader.op, Subtensor)
    ]


class ShortenTraces(LoopRewriter):
    """Keep the last rows of a loop's outputs, if only they are read.

    Parameters
    ----------
    in_buffer
        Whether to keep one row more than is read, for an engine that computes in the buffer.
    """

    heading = SHORTENED
    readers_first = True

    def __init__(self, in_buffer: bool):
        self.in_buffer = in_buffer
        self.name = "shorten_traces" if in_buffer else "shorten_traces_to_what_is_read"

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Return whether PyTensor's rewrite applies, and whether it is right."""
        with StandIns(node) as stand_ins:
            found = scan_reduce_trace_rewrite(
                graph, node, backend_supports_output_pre_allocation=self.in_buffer
            )
        if not found:
            return None
        replacements = {old: new for old, new in found.items() if isinstance(old, Variable)}
        stand_ins.put_back(replacements.values(), graph.apply_nodes)
        reason = why_not(graph, node)
        detail = reason or "only the rows that are read are kept"
        findings = [
            Finding(f"output {describe(output)}", reason is None, detail)
            for output in _shortened(node, replacements)
        ]
        return Checked(findings, None if reason else lambda: replacements)


def _shortened(node: Apply, replacements: dict[Variable, Variable]) -> list[Variable]:
    """Return the outputs of a loop of which the loop in its place keeps fewer rows."""
    value = next(iter(replacements.values()))
    while not is_a(value.owner.op, PyTensorScan):
        value = value.owner.inputs[0]
    before, after, outputs = given_to(node), given_to(value.owner), given_by(node)
    rows = zip(
        [*before.states, *before.trace_lengths], [*after.states, *after.trace_lengths], strict=True
    )
    kept = zip([*outputs.states, *outputs.traces], rows, strict=True)
    return [output for output, (old, new) in kept if old is not new]
