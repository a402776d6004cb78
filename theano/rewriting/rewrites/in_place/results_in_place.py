"""Element-wise results of a function in the memory of an operand that nothing else needs.

The engine decides by itself where values inside of a function lie, and a graph with many operators
in place takes longer to rewrite; so only those that compute what the function returns are.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import ScalarOp
from pytensor.tensor.elemwise import Elemwise

from theano.pytensor_internals.graphs.graph import ReplaceValidate
from theano.pytensor_internals.graphs.rewriting import GraphRewriter
from theano.rewriting.rewrites.in_place.replace_together import replace_together
from theano.scalar.output_types import transfer_type


class ResultsInPlace(GraphRewriter):
    """Operators whose results are returned overwrite an operand that only they read."""

    name = "results_in_place"

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Let changes be taken back."""
        fgraph.attach_feature(ReplaceValidate())

    def apply(self, fgraph: FunctionGraph) -> None:
        """Replace the operators."""
        owners = dict.fromkeys(output.owner for output in fgraph.outputs)
        nodes = [node for node in owners if node is not None]
        replace_together(fgraph, nodes, lambda node: _in_place(fgraph, node), self.name)


def _in_place(fgraph: FunctionGraph, node: Apply) -> Apply | None:
    position = _overwritten(fgraph, node)
    return None if position is None else _operator(node.op, position).make_node(*node.inputs)


def _operator(op: Any, position: int) -> Elemwise:
    """Return the operator of `theano.tensor.inplace`, where one of its kind is there."""
    scalar_op = op.scalar_op
    if type(scalar_op).__init__ is ScalarOp.__init__:
        scalar_op = type(scalar_op)(transfer_type(position), name=scalar_op.name)
    return Elemwise(scalar_op, {0: position}, nfunc_spec=op.nfunc_spec)


def _overwritten(fgraph: FunctionGraph, node: Apply) -> int | None:
    """Return the first operand that has the type of the result and is of use to nothing else."""
    if type(node.op) is not Elemwise or node.op.inplace_pattern or len(node.outputs) != 1:
        return None
    result = node.outputs[0].type
    for position, operand in enumerate(node.inputs):
        maker = operand.owner
        if (
            maker is not None
            and len(fgraph.clients[operand]) == 1
            and not maker.op.view_map
            and operand.type.dtype == result.dtype
            and operand.type.broadcastable == result.broadcastable
        ):
            return position
    return None
