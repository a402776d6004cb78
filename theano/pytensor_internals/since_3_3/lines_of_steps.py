"""The user's lines in the steps of loops that PyTensor's rewrites make again.

PyTensor freezes the step of such a loop, and a frozen node is one with all that compute the same:
it has no line. The lines are those of the nodes of the step before, found from its results.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FrozenFunctionGraph, FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import NodeRewriter, copy_stack_trace
from pytensor.scan.op import Scan
from pytensor.scan.rewriting.io import (
    scan_inline_invariant_constants,
    scan_merge_duplicate_inputs,
    scan_remove_unused,
)
from pytensor.scan.rewriting.merge import ScanMerge

from theano.pytensor_internals.since_3_3.steps import FrozenWhenAsked, step_of

Replaced = tuple[Variable, Variable]

# of larger constants it is not asked whether they are equal
LARGEST_COMPARED = 100


class _KeepsLines(NodeRewriter):
    """A rewrite of a loop, which leaves the lines in the step."""

    def __init__(self, rewriter: Any):
        super().__init__()
        self.rewriter, self.name = rewriter, rewriter.__name__

    def tracks(self) -> Any:
        """Return the operations for which it is asked."""
        return self.rewriter.tracks()

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: object, **kwargs: Any) -> Any:
        """Return what the rewrite gives; False or None if nothing."""
        replaced = self.rewriter.transform(fgraph, node, *args, **kwargs)
        if not isinstance(replaced, Mapping):
            return replaced
        results = [(old, new) for old, new in replaced.items() if isinstance(old, Variable)]
        return {**replaced, **dict(with_lines(results))}

    def __str__(self) -> str:
        return str(self.name)


class _MergesEqualInputs(_KeepsLines):
    """The rewrite that reads equal inputs of a loop once, where some may be equal.

    It compares each input with each other.
    """

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: object, **kwargs: object) -> Any:
        """Return what the rewrite gives; False or None if nothing."""
        op: Any = node.op
        for inputs in (op.outer_seqs(node.inputs), op.outer_non_seqs(node.inputs)):
            if len({_outline(variable) for variable in inputs}) < len(inputs):
                return super().transform(fgraph, node, *args, **kwargs)
        return None


class MergeWithLines(ScanMerge):
    """One loop of several, in whose step are their lines."""

    def merge(self, nodes: list[Apply]) -> list[Replaced]:
        """Return what takes the place of the results of some loops."""
        return list(with_lines(super().merge(nodes)))


# what makes loops again -> the same with lines
KEEPING_LINES: dict[NodeRewriter, NodeRewriter] = {
    scan_merge_duplicate_inputs: _MergesEqualInputs(scan_merge_duplicate_inputs),
    **{
        rewriter: _KeepsLines(rewriter)
        for rewriter in (scan_inline_invariant_constants, scan_remove_unused)
    },
}


def _outline(variable: Variable, depth: int = 3) -> Hashable:
    """Return what is equal for variables that compute the same, and mostly for no others."""
    node = variable.owner
    if node is None:
        if not isinstance(variable, Constant):
            return variable
        data = variable.data
        if not isinstance(data, np.ndarray | np.generic | int | float):
            return (type(data),)
        return np.asarray(data).tobytes() if np.size(data) <= LARGEST_COMPARED else np.shape(data)
    place = node.outputs.index(variable)
    if depth == 0 or isinstance(node.op, Scan):
        return type(node.op), place
    return node.op, place, tuple(_outline(operand, depth - 1) for operand in node.inputs)


def with_lines(replaced: Iterable[Replaced]) -> Iterator[Replaced]:
    """Results of loops with what takes their place, which is of loops with lines in their steps."""
    pairs = list(replaced)
    of_node: dict[Apply, list[Replaced]] = {}
    for old, new in pairs:
        if new.owner is not None and _is_frozen(new.owner.op):
            of_node.setdefault(new.owner, []).append((old, new))
    instead = {node: _loop_with_lines(node, results) for node, results in of_node.items()}
    for old, new in pairs:
        if new.owner in instead:
            new = instead[new.owner].outputs[new.index]  # type: ignore[index]
            copy_stack_trace(old, new)
        yield old, new


def _is_frozen(op: Op) -> bool:
    return isinstance(op, Scan) and isinstance(op.fgraph, FrozenFunctionGraph)


def _loop_with_lines(node: Apply, results: list[Replaced]) -> Apply:
    """Return the same loop around one of our steps."""
    op: Any = node.op
    made = FrozenWhenAsked.__new__(FrozenWhenAsked)
    vars(made).update(vars(op))
    places = list(op.fgraph.inputs)
    outputs, memo = op.fgraph.bind(dict(zip(places, places, strict=True)), return_memo=True)
    for frozen, before in _same_nodes(results):
        _give_lines(before, memo[frozen])
    made.fgraph = step_of(places, outputs)
    loop = Apply(made, node.inputs, [variable.type() for variable in node.outputs])
    for old, new in zip(node.outputs, loop.outputs, strict=True):
        new.name = old.name
    return loop


def _give_lines(before: Apply, node: Apply) -> None:
    vars(node.tag).update(vars(before.tag))
    for old, new in zip(before.outputs, node.outputs, strict=True):
        new.name = old.name
        vars(new.tag).update(vars(old.tag))


def _same_nodes(results: list[Replaced]) -> Iterator[tuple[Apply, Apply]]:
    """Yield the nodes of a loop's step with those of the loops before that compute the same."""
    seen: set[Apply] = set()
    waiting = [pair for old, new in results for pair in _in_steps(old, new)]
    while waiting:
        before, frozen = waiting.pop()
        old, new = before.owner, frozen.owner
        if old is None or new is None or new in seen or isinstance(before, Constant):
            continue
        if old.op != new.op or len(old.inputs) != len(new.inputs):
            continue
        seen.add(new)
        yield new, old
        waiting.extend(zip(old.inputs, new.inputs, strict=True))


def _in_steps(old: Any, new: Any) -> Iterator[Replaced]:
    """Yield what two steps compute for a result of their loops, and their conditions to end."""
    before, after = (
        [variable.owner.op.fgraph.outputs[k] for k in _places(variable.owner.op, variable.index)]
        for variable in (old, new)
    )
    yield from zip(before, after, strict=True)


def _places(op: Any, index: int | None) -> list[int]:
    condition = [len(op.fgraph.outputs) - 1] if op.info.as_while else []
    return [*op.get_oinp_iinp_iout_oout_mappings()["inner_out_from_outer_out"][index], *condition]
