"""shorten_outputs: an output of which no step reads, and of which the last k rows are read, keeps k.

    out[-k:] of n steps   ->   out[-k:] of the last min(k, n)

It is legal because rows are counted from the last, which is the last still. A loop of fewer than k
steps keeps what there is, so that a read of more fails, or gives what there is, as before.
"""

from __future__ import annotations

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_base.rewriting import copy_stack_trace, dfs_rewriter, node_rewriter
from theano.pytensor_base.scan import Scan as PyTensorScan
from theano.scan_module.scan_opt.outside.loop_reads import farthest_from_the_end


@node_rewriter([PyTensorScan])
def shorten_outputs(graph: FunctionGraph, node: Apply) -> dict | None:
    """Keep the rows that are read, of outputs that are read from their end."""
    op, n_steps = node.op, node.inputs[0]
    lengths = op.outer_nitsot(node.inputs)
    if op.info.as_while or not lengths:
        return None
    shorter = {
        place: _fewer(rows, n_steps)
        for place, (length, output) in enumerate(
            zip(lengths, op.outer_nitsot_outs(node.outputs), strict=True)
        )
        # one row there always is: PyTensor's rewrite sees to it
        if length is n_steps and (rows := farthest_from_the_end(graph, output) or 0) > 1
    }
    if all(length is n_steps for length in shorter.values()):
        return None
    inputs = list(node.inputs)
    first = len(inputs) - op.info.n_non_seqs - len(lengths)
    for place, length in shorter.items():
        inputs[first + place] = length
    replacements = {}
    for old, new in zip(node.outputs, op(*inputs, return_list=True), strict=True):
        for read, again in _read_again(graph, old, new):
            copy_stack_trace(read, again)
            replacements[read] = read.type.filter_variable(again)
    return {**replacements, "remove": [node]}


def _read_again(
    graph: FunctionGraph, old: Variable, new: Variable
) -> list[tuple[Variable, Variable]]:
    """Replacements for the reads of an output; for the output, if its type is the same."""
    if old.type == new.type:
        return [(old, new)]
    readers = [reader for reader, _ in graph.clients[old]]
    return [(read.outputs[0], read.op(new, *read.inputs[1:])) for read in readers]


def _fewer(rows: int, n_steps: Variable) -> Variable:
    if isinstance(n_steps, Constant):
        return pt.constant(rows, dtype="int64") if rows < n_steps.data else n_steps
    return pt.minimum(rows, n_steps)


SHORTEN_OUTPUTS = dfs_rewriter(shorten_outputs, ignore_newtrees=True)
