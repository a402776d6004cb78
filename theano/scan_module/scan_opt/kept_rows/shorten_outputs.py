"""shorten_outputs: an output of which no step reads, and of which the last k rows are read, keeps k.

    out[-k:] of n steps   ->   out[-k:] of the last min(k, n)

It is legal because rows are counted from the last, which is the last still. A loop of fewer than k
steps keeps what there is, so that a read of more fails, or gives what there is, as before.
"""

from __future__ import annotations

from dataclasses import replace

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph

from theano.scan_module.loop.roles import Roles, given_by, given_to
from theano.scan_module.report.describe import describe
from theano.scan_module.report.headings import SHORTENED
from theano.scan_module.scan_opt.loop_rewriter import Checked, Finding, LoopRewriter
from theano.scan_module.scan_opt.push_out.loop_reads import farthest_from_the_end


class ShortenOutputs(LoopRewriter):
    """Keep the rows that are read, of outputs that are read from their end."""

    name = "shorten_outputs"
    heading = SHORTENED
    readers_first = True

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Of which outputs a few last rows are read."""
        given = given_to(node)
        lengths = [
            _length(graph, output, length, given.n_steps)
            for output, length in zip(given_by(node).traces, given.trace_lengths, strict=True)
        ]
        shorter = [k for k, length in enumerate(lengths) if length is not given.trace_lengths[k]]
        if not shorter:
            return None
        may_stop = Roles.of(node.op).may_stop
        findings = [
            Finding(
                f"output {describe(given_by(node).traces[k])}",
                not may_stop,
                "the loop may stop early"
                if may_stop
                else f"its last {describe(lengths[k])} rows are kept",
            )
            for k in shorter
        ]
        return Checked(findings, None if may_stop else lambda: _shorter(graph, node, lengths))


def _shorter(graph: FunctionGraph, node: Apply, lengths: list[Variable]) -> dict:
    """Return the outputs of a loop whose traces have these lengths, and the reads of those."""
    inputs = replace(given_to(node), trace_lengths=lengths).in_order()
    outputs = node.op(*inputs, return_list=True)
    return {
        read: again
        for old, new in zip(node.outputs, outputs, strict=True)
        for read, again in _read_again(graph, old, new)
    }


def _length(
    graph: FunctionGraph, output: Variable, length: Variable, n_steps: Variable
) -> Variable:
    """Return how many rows to keep of a trace."""
    rows = farthest_from_the_end(graph, output) if length is n_steps else None
    # one row there always is: PyTensor's rewrite sees to it
    return length if rows is None or rows <= 1 else _fewer(rows, n_steps)


def _read_again(
    graph: FunctionGraph, old: Variable, new: Variable
) -> list[tuple[Variable, Variable]]:
    """Return replacements for the reads of an output; for the output, if its type is the same."""
    if old.type == new.type:
        return [(old, new)]
    readers = [reader for reader, _ in graph.clients[old]]
    return [(read.outputs[0], read.op(new, *read.inputs[1:])) for read in readers]


def _fewer(rows: int, n_steps: Variable) -> Variable:
    if isinstance(n_steps, Constant):
        return pt.constant(rows, dtype="int64") if rows < n_steps.data else n_steps
    return pt.minimum(rows, n_steps)
