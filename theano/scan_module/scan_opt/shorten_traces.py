"""shorten_traces: a loop of whose steps only the last few are read keeps only those.

The transformation is PyTensor's. It reads the last steps at their places from the end of a buffer
of as many rows, which is wrong of a loop that may stop before it has filled the buffer. Such a
loop is shortened only where its last step alone is read: there always is one.
"""

from __future__ import annotations

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import dfs_rewriter, node_rewriter
from pytensor.scan.op import Scan as PyTensorScan
from pytensor.scan.rewriting.trace import scan_reduce_trace_rewrite
from pytensor.tensor.subtensor import Subtensor

from theano.scan_module.scan_opt.loop_reads import constant_index

# What a state's user reads is its buffer behind the initial values.
_LAST_STEP = (-1, slice(-1, None, None))


def why_not(graph: FunctionGraph, node: Apply) -> str | None:
    """Why a loop must keep all its steps, or None if nothing speaks against shortening it."""
    info = node.op.info
    if not info.as_while:
        return None
    taps = [*info.mit_sot_in_slices, *info.sit_sot_in_slices]
    initial_rows = [-min(of_state) for of_state in taps] + [0] * info.n_nit_sot
    for output, initial in zip(node.outputs[info.n_mit_mot :], initial_rows, strict=False):
        all_steps = (slice(None), slice(0, None), slice(initial, None))
        for reader, index in _reads(graph, output):
            behind = _reads(graph, reader.outputs[0]) if index in all_steps else [(reader, index)]
            for last, which in behind:
                if which not in _LAST_STEP:
                    return f"the loop may stop early, and {last} reads another step than the last"
    return None


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
