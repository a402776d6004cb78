"""Outputs of a step that are a tap which a new value overwrites, where PyTensor's machine runs the loop.

PyTensor's function of a step has one cell for such a tap and the output: it copies no output that is
an input with an update, and its loop empties the cells of outputs before a step.
"""

from __future__ import annotations

from typing import Any

from pytensor.compile.ops import deep_copy_op

from theano.pytensor_internals.graphs.scan import step_to_change


def outputs_that_are_taps(function: Any) -> list[int]:
    """Return the positions of outputs of a step's function that share a cell with an overwritten tap."""
    graph = function.maker.fgraph
    updates = graph.update_mapping or {}
    overwritten = {graph.inputs[k] for k in updates.values()}
    return [
        k
        for k, output in enumerate(graph.outputs)
        if k not in updates and output.owner is None and output in overwritten
    ]


def with_copied_outputs(op: Any, positions: list[int]) -> Any:
    """Return a copy of a loop whose step copies these outputs."""
    made = op.clone()
    step = step_to_change(made)
    for k in positions:
        copied: Any = deep_copy_op(step.outputs[k])
        step.change_node_input(*step.get_output_client(k), copied)
    return made
