"""shorten_traces: a loop of whose steps only the last few are read keeps only those.

The transformation is PyTensor's. It reads the last steps at their places from the end of a buffer
of as many rows, which is wrong

* of a loop that may stop before it has filled the buffer. Such a loop is shortened only where its
  last step alone is read: there always is one;
* of an output of which more rows are read than there may be steps;
* of rows from a place counted from the end to one counted from the start.
"""

from __future__ import annotations

import math

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.subtensor import Subtensor

from theano.pytensor_base.rewriting import dfs_rewriter, node_rewriter
from theano.pytensor_base.scan import Scan as PyTensorScan
from theano.pytensor_base.scan import scan_reduce_trace_rewrite
from theano.pytensor_base.tensor import get_idx_list
from theano.scan_module.loop.initial_rows import initial_rows
from theano.scan_module.scan_opt.outside.loop_reads import constant_index

# What a state's user reads is its buffer behind the initial values.
_LAST_STEP = (-1, slice(-1, None, None))


def why_not(graph: FunctionGraph, node: Apply) -> str | None:
    """Why a loop must keep all its steps, or None if nothing speaks against shortening it."""
    reason = _reads_another_step if node.op.info.as_while else _reads_other_rows
    outputs = zip(node.outputs, initial_rows(node), strict=True)
    for output, initial in list(outputs)[node.op.info.n_mit_mot :]:
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
        if position != 0 or not isinstance(reader.op, Subtensor):
            continue
        index = get_idx_list(reader.inputs, reader.op.idx_list)[0]
        start, stop = (index.start, index.stop) if isinstance(index, slice) else (index, None)
        if not isinstance(start, Constant) or start.data >= 0:
            continue
        if stop is not None and not (isinstance(stop, Constant) and stop.data < 0):
            return f"{reader} reads from a place counted from the end to one from the start"
        if -start.data > rows:
            return f"{reader} reads more rows than there may be steps"
    return None


def _rows_there_are(node: Apply, output: Variable) -> float:
    """How many rows an output has at least; PyTensor sees to those of states."""
    op, n_steps = node.op, node.inputs[0]
    outputs, lengths = op.outer_nitsot_outs(node.outputs), op.outer_nitsot(node.inputs)
    if output not in outputs or lengths[outputs.index(output)] is not n_steps:
        return math.inf
    return int(n_steps.data) if isinstance(n_steps, Constant) else 1


def _reads(graph: FunctionGraph, variable: Variable) -> list[tuple[Apply, int | slice | None]]:
    """The nodes that index a variable, each with its index if that is constant."""
    return [
        (reader, constant_index(reader.op.idx_list, reader.inputs))
        for reader, position in graph.clients[variable]
        if position == 0 and isinstance(reader.op, Subtensor)
    ]


@node_rewriter([PyTensorScan])
def shorten_traces(graph: FunctionGraph, node: Apply):
    """Keep one row more than is read, for an engine that computes in the buffer."""
    return _shortened(graph, node, in_buffer=True)


@node_rewriter([PyTensorScan])
def shorten_traces_to_what_is_read(graph: FunctionGraph, node: Apply):
    """Keep the rows that are read."""
    return _shortened(graph, node, in_buffer=False)


def _shortened(graph: FunctionGraph, node: Apply, in_buffer: bool):
    if why_not(graph, node) is not None:
        return False
    return scan_reduce_trace_rewrite(graph, node, backend_supports_output_pre_allocation=in_buffer)


SHORTEN_TRACES = dfs_rewriter(shorten_traces, ignore_newtrees=True)
SHORTEN_TRACES_TO_WHAT_IS_READ = dfs_rewriter(shorten_traces_to_what_is_read, ignore_newtrees=True)
