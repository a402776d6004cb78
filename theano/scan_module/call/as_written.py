"""The step of a loop in the variables that the user's function had.

PyTensor's op copies the step and replaces its arguments. What a program attached to the variables
of its function, such as tags, speaks of the originals. From release 3.3 on the copy has neither
names nor lines of the user's program, and equal operations of all loops of the process are one,
also those that differ in their gradients: such a step is taken from the originals, too.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import graph_inputs
from pytensor.graph.type import HasShape

from theano.pytensor_base.graphs.scan import get_updates_and_outputs
from theano.scan_module.loop.arguments import Loop, fresh_like
from theano.scan_module.loop.roles import MIT_MOT, MIT_SOT, SIT_SOT, Roles
from theano.scan_module.loop.step_copy import copied
from theano.scan_module.scan_op import Scan

TRACE, UNTRACED = "trace", "untraced"
KINDS = (MIT_MOT, MIT_SOT, SIT_SOT, TRACE, UNTRACED)

# the inputs of a step and what it computes
Step = tuple[list[Variable], list[Variable]]


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
        self.condition: Variable | None = None

    def __call__(self, *arguments: Variable) -> Any:
        result = self.fn(*arguments)
        self.condition, self.outputs, _ = get_updates_and_outputs(result)
        return result

    def of_loop(self, loop: Loop) -> Loop:
        """A loop around a copy of what the function computed, if that can be told."""
        written = self._written(loop)
        if written is None:
            return loop
        inputs, outputs = written
        places = [fresh_like(variable) for variable in inputs]
        return loop.with_step(places, copied(outputs, dict(zip(inputs, places, strict=True))))

    def attach(self, op: Scan) -> None:
        """Give the op of the loop its step as it was written, if that can be told."""
        op.as_written = self._written(op)

    def _written(self, loop: Scan | Loop) -> Step | None:
        kinds = self.kinds or [TRACE] * len(self.outputs)
        if len(kinds) != len(self.outputs):
            return None
        returned: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        for kind, output in zip(kinds, self.outputs, strict=True):
            returned[UNTRACED if _is_untraced(kind, output) else kind].append(output)
        written = _in_their_places(loop, returned)
        if written is None:
            return None
        return _as_written(loop, written, self.condition)


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


def _is_untraced(kind: str, output: Any) -> bool:
    """Whether an output is a state that has no rows, such as that of a generator."""
    has_no_rows = isinstance(output, Variable) and not isinstance(output.type, HasShape)
    return kind == SIT_SOT and has_no_rows


def _in_their_places(loop: Scan | Loop, returned: dict[str, list[Any]]) -> dict[int, Any] | None:
    """What the function returned, by its position among what the loop's step computes.

    States of shared variables, which the function returned as updates, follow those of the same
    kind that it returned as outputs, and precede the traces.
    """
    roles = loop.roles if isinstance(loop, Loop) else Roles.of(loop)
    places = roles.inner_outputs(count())
    of_kind: dict[str, list[int]] = {kind: [] for kind in KINDS}
    for state, (*_, place) in zip(roles.states, places.states, strict=True):
        of_kind[state.kind].append(place)
    of_kind |= {TRACE: places.traces, UNTRACED: places.untraced}
    if any(len(returned[kind]) > len(of_kind[kind]) for kind in KINDS):
        return None
    return {
        place: output
        for kind in KINDS
        for place, output in zip(of_kind[kind], returned[kind], strict=False)
    }


def _as_written(
    loop: Scan | Loop, written: dict[int, Any], condition: Variable | None
) -> Step | None:
    places, computed = loop.inner_inputs, loop.inner_outputs
    pairs = [(original, computed[place]) for place, original in written.items()]
    if condition is not None and condition.type == computed[-1].type:
        pairs.append((condition, computed[-1]))
    originals = _originals(pairs, set(places))
    if originals is None:
        return None
    inputs = [originals.get(variable) or variable.type() for variable in places]
    known = originals | dict(zip(places, inputs, strict=True))
    # updates, which read what the outputs read
    copies = copied(computed, known)
    outputs = [written.get(place, copy) for place, copy in enumerate(copies)]
    leaves = set(graph_inputs(outputs)).difference(inputs)
    if len(set(inputs)) < len(inputs) or not all(isinstance(leaf, Constant) for leaf in leaves):
        return None
    return inputs, outputs


def _originals(
    pairs: list[tuple[Any, Variable]], places: set[Variable]
) -> dict[Variable, Variable] | None:
    """The user's variable for each of a copied step, None where the copy is of another graph."""
    originals: dict[Variable, Variable] = {}
    pending = list(pairs)
    seen = set()
    while pending:
        original, copy = pending.pop()
        if not isinstance(original, Variable) or original.type != copy.type:
            return None
        if (original, copy) in seen:
            continue
        seen.add((original, copy))
        if isinstance(copy, Constant):
            if not copy.equals(original):
                return None
            continue
        originals[copy] = original
        if copy not in places and copy.owner is not None and original.owner is not None:
            if original.owner.op != copy.owner.op:
                return None
            pending.extend(zip(original.owner.inputs, copy.owner.inputs, strict=True))
    return originals
