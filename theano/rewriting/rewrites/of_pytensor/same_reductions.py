"""PyTensor's rewrites of reductions, whose results add up as what they replace does.

They make a reduction of the same class, which has the dtypes that one has if none is asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.elemwise import CAReduce

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import NodeRewriter, copy_stack_trace


class SameReduction(NodeRewriter):
    """A rewrite that moves or shortens a reduction, which keeps its dtypes."""

    def __init__(self, rewriter: NodeRewriter):
        super().__init__()
        self.rewriter = rewriter
        self.name = rewriter.__name__  # type: ignore[attr-defined]

    def tracks(self) -> Any:
        """Return the operations for which it is asked."""
        return self.rewriter.tracks()

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Require what the rewrite does."""
        self.rewriter.add_requirements(fgraph)

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        """Return what the rewrite gives, with the reduction that the graph had."""
        replaced: Any = self.rewriter.transform(fgraph, node, *args, **kwargs)
        if not replaced:
            return replaced
        made, before = replaced[0].owner, reduction_of(node)
        if made is None or before is None or not is_a(made.op, CAReduce):
            return replaced
        op = before.op.clone(axis=made.op.axis)  # type: ignore[attr-defined]
        if op == made.op:
            return replaced
        result = op(made.inputs[0])
        copy_stack_trace(node.outputs, result)
        return [result]

    def __str__(self) -> str:
        return str(self.name)


def reduction_of(node: Apply) -> Apply | None:
    """Return the reduction that a node is, or of which it reads a part; None if there is none."""
    if is_a(node.op, CAReduce):
        return node
    read = node.inputs[0].owner
    return read if read is not None and is_a(read.op, CAReduce) else None


def one_number_adds_up_to_itself(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether a reduction of one number only casts it: integers may be rounded in between."""
    op: Any = node.op
    number, result = (v.type.dtype for v in (node.inputs[0], node.outputs[0]))  # type: ignore[attr-defined]
    between = getattr(op, "acc_dtype", None) or result
    rounded = np.dtype(number).kind in "iu" and np.dtype(between).kind in "fc"
    return not rounded or between == result


def of_a_class_of_its_own(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether a reduction can be made from its class alone."""
    reduction = reduction_of(node)
    return reduction is None or type(reduction.op) is not CAReduce
