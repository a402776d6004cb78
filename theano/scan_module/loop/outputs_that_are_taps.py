"""Outputs of a step that lie in a tap which a new value overwrites, where PyTensor's machine runs the loop.

PyTensor's function of a step copies no output that is an input with an update, or a view of one. Its
loop empties the cells of outputs before a step, and writes the new values of taps before it reads
other outputs.
"""

from __future__ import annotations

from typing import Any

from pytensor.compile.ops import deep_copy_op

from theano.pytensor_internals.functions.compiling import alias_root
from theano.pytensor_internals.graphs.scan import step_to_change


def outputs_that_are_taps(function: Any) -> list[int]:
    """Return the positions of outputs of a step's function that lie in a tap which another one overwrites."""
    graph = function.maker.fgraph
    overwritten = {graph.inputs[tap]: k for k, tap in (graph.update_mapping or {}).items()}
    return [
        k for k, output in enumerate(graph.outputs) if overwritten.get(alias_root(output), k) != k
    ]


def with_copied_outputs(op: Any, positions: list[int]) -> Any:
    """Return a copy of a loop whose step copies these outputs."""
    made = op.clone()
    step = step_to_change(made)
    for k in positions:
        copied: Any = deep_copy_op(step.outputs[k])
        step.change_node_input(*step.get_output_client(k), copied)
    return made
