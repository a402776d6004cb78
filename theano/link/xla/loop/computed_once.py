"""Values that XLA would compute several times in a step: it takes sines for as cheap as sums.

What is cheap becomes part of every kernel that reads it. On the CPU a sine costs as much as a hundred
sums, so that it is made a separate array where several kernels would compute it.
"""

from __future__ import annotations

from collections.abc import Collection

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph, Output
from pytensor.scalar.basic import Cos, Sin
from pytensor.tensor.elemwise import DimShuffle, Elemwise

TAKEN_FOR_CHEAP = (Sin, Cos)


def computed_once(graph: FunctionGraph) -> Collection[Variable]:
    """Return the results in a step's graph that are worth an array."""
    return frozenset(
        node.outputs[0]
        for node in graph.apply_nodes
        if isinstance(node.op, Elemwise)
        and isinstance(node.op.scalar_op, TAKEN_FOR_CHEAP)
        and _kernels_that_read(graph, node) > 1
    )


def _kernels_that_read(graph: FunctionGraph, node: Apply) -> int:
    """Return how many kernels a result would be computed in."""
    pending, seen, count = [node.outputs[0]], {node.outputs[0]}, 0
    while pending:
        for reader, _ in graph.clients[pending.pop()]:
            if isinstance(reader.op, Output):
                # it is stored, and the next step reads it
                count += 2
            elif not isinstance(reader.op, Elemwise | DimShuffle):
                count += 1
            elif reader.outputs[0] not in seen:
                seen.add(reader.outputs[0])
                pending.append(reader.outputs[0])
    return count
