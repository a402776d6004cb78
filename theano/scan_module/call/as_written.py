"""The step of a loop in the variables that the user's function had.

PyTensor's op copies the step and replaces its arguments. What a program attached to the variables
of its function, such as tags, speaks of the originals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.graph.basic import Constant, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import graph_inputs

from theano.pytensor_base.scan import get_updates_and_outputs
from theano.scan_module.loop.roles import MIT_SOT, SIT_SOT, InnerOutputs
from theano.scan_module.scan_op import Scan

TRACE = "trace"


class StepRecord:
    """Notes what the user's function returned.

    Parameters
    ----------
    fn
        The function of one step.
    outputs_info
        As given to ``scan``.
    """

    def __init__(self, fn: Callable, outputs_info: Any):
        self.fn = fn
        if outputs_info is None:
            outputs_info = []
        elif not isinstance(outputs_info, list | tuple):
            outputs_info = [outputs_info]
        self.kinds = [_kind(entry) for entry in outputs_info]
        self.outputs: list[Any] = []

    def __call__(self, *arguments: Variable) -> Any:
        result = self.fn(*arguments)
        _, self.outputs, _ = get_updates_and_outputs(result)
        return result

    def attach(self, op: Scan) -> None:
        """Give the op of the loop its step as it was written, if that can be told."""
        kinds = self.kinds or [TRACE] * len(self.outputs)
        if len(kinds) == len(self.outputs):
            of_kind: dict[str, list[Any]] = {MIT_SOT: [], SIT_SOT: [], TRACE: []}
            for kind, output in zip(kinds, self.outputs, strict=True):
                of_kind[kind].append(output)
            states = [[output] for output in (*of_kind[MIT_SOT], *of_kind[SIT_SOT])]
            written = InnerOutputs(states, of_kind[TRACE], untraced=[])
            op.as_written = _as_written(op, written.in_order())


def _kind(entry: Any) -> str:
    """Which kind of output an entry of ``outputs_info`` makes."""
    if entry is None:
        return TRACE
    if not isinstance(entry, dict):
        return SIT_SOT
    if entry.get("initial") is None:
        return TRACE
    taps = entry.get("taps", -1)
    return SIT_SOT if taps in (-1, [-1], (-1,)) else MIT_SOT


def _as_written(op: Scan, written: list[Any]) -> tuple[list[Variable], list[Variable]] | None:
    originals: dict[Variable, Variable] = {}
    pending = list(zip(written, op.inner_outputs, strict=False))
    seen = set()
    while pending:
        original, copied = pending.pop()
        if not isinstance(original, Variable) or original.type != copied.type:
            return None
        if (original, copied) in seen:
            continue
        seen.add((original, copied))
        if copied in op.inner_inputs:
            originals[copied] = original
        elif copied.owner is not None and original.owner is not None:
            if original.owner.op != copied.owner.op:
                return None
            pending.extend(zip(original.owner.inputs, copied.owner.inputs, strict=True))
    inputs = [
        originals[variable] if variable in originals else variable.type()
        for variable in op.inner_inputs
    ]
    others = clone_replace(
        op.inner_outputs[len(written) :],
        replace=dict(zip(op.inner_inputs, inputs, strict=True)),
    )
    outputs = [*written, *others]
    leaves = set(graph_inputs(outputs)).difference(inputs)
    if len(set(inputs)) < len(inputs) or not all(isinstance(leaf, Constant) for leaf in leaves):
        return None
    return inputs, outputs
