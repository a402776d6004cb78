"""Lazy choices in a step: of two loops of one step, the one that is taken is called.

Both write the same memory. Where the condition is known before the loop, sizes are those of the branch
that is taken; else those of both must be the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.graph.basic import Apply

from theano.link.native.graph.lazy_choices import Branch, LazyChoice
from theano.link.native.ir.ir import CannotLower, IndexVector, Scalar, Size, Splat, Value, View
from theano.link.native.ir.layout import c_order, place_of
from theano.link.native.ir.symbolic import Choice, Symbolic, compared
from theano.link.native.lowering.operations.scan import LoopCall
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.call_loop import When


@lowers(LazyChoice)
def lazy_choice(step: Step, node: Apply, inputs: list[Value]) -> list[Value]:
    op = node.op
    condition = inputs[0]
    if not isinstance(condition, Scalar):
        raise CannotLower("a condition that is not one number")
    known = compared(condition.symbol, "!=", 0) if condition.invariant else None
    read = op.read_by(inputs)
    calls = []
    for k, holds in enumerate((True, False)):
        call = _call_of(step, op.branches[k], read[k])
        call.when = When(condition, holds)
        call.guard = known if holds or known is None else compared(condition.symbol, "==", 0)
        call.ask([1] * len(node.outputs))
        calls.append(call)
    results = _memory(step, calls, known)
    for call in calls:
        call.append()
    return [_row(step, buffer) for buffer in results]


def _call_of(step: Step, branch: Branch, values: Sequence[Value]) -> LoopCall:
    """Return the call of a branch; what was computed in the step is read as a sequence."""
    changing = [not _is_known_before(step, value) for value in values]
    names = [variable.name for variable in branch.read]
    try:
        return _call(step, branch, names, values, changing)
    except CannotLower:
        # sizes may depend on numbers that are the same whatever the step chooses
        settled = [_settled(step, value) for value in values]
        if all(one is other for one, other in zip(settled, values, strict=True)):
            raise
        changing = [not _is_known_before(step, value) for value in settled]
        return _call(step, branch, names, settled, changing)


def _call(
    step: Step,
    branch: Branch,
    names: Sequence[str | None],
    values: Sequence[Value],
    changing: Sequence[bool],
) -> LoopCall:
    loop, order = branch.as_loop(changing)
    call = LoopCall.of(step, loop, [names[k] for k in order], 1)
    ordered = [values[k] for k in order]
    sequences = call.of_kind("sequence")
    for argument, value in zip(sequences, ordered, strict=False):
        call.bind(argument, value if isinstance(value, Scalar) else _as_rows(step, value))
    call.bind_invariants(ordered[len(sequences) :])
    return call


def _is_known_before(step: Step, value: Value) -> bool:
    match value:
        case Scalar():
            return value.invariant
        case Splat():
            return value.scalar.invariant
        case IndexVector():
            return all(item.invariant for item in value.items)
    return step.invariant(value)


def _settled(step: Step, value: Value) -> Value:
    """Return a value whose numbers are known before the loop, if they can be."""
    if isinstance(value, Scalar):
        return step.settled(value) or value
    if isinstance(value, IndexVector):
        items = tuple(step.settled(item) or item for item in value.items)
        same = all(one is other for one, other in zip(items, value.items, strict=True))
        return value if same else IndexVector(items, value.dtype)
    return value


def _as_rows(step: Step, value: Value) -> View:
    """Return a value as the only row of an array, in C order."""
    view = step.keep_order(step.view(value))
    if place_of(view, step.sizes).strides != c_order(view.shape, step.sizes):
        view = View.of(step.copied(view))
    shape, axes, steps = (1, *view.shape), (None, *view.axes), (0, *view.steps)
    return View(view.buffer, shape, axes, steps, view.start)


def _memory(step: Step, calls: list[LoopCall], known: Symbolic | None) -> list[View]:
    """Return where the traces of both loops lie."""
    results = []
    for first, second in zip(*(call.traces_with_shapes() for call in calls), strict=True):
        shape: list[Size] = [1]
        for a, b in zip(first[1], second[1], strict=True):
            if known is None:
                shape.append(step.sizes.equal(a, b, "sizes of both branches of a choice"))
            else:
                shape.append(a if a == b else step.sizes.name(Choice(known, a, b)))
        view = View.of(step.temporary(first[0].dtype, shape))
        for call, (trace, _) in zip(calls, (first, second), strict=True):
            call.bind(trace, view)
        results.append(view)
    return results


def _row(step: Step, trace: View) -> Value:
    row = View(trace.buffer, trace.shape[1:], trace.axes[1:], trace.steps[1:], trace.start)
    return row if row.ndim else step.load(row)
