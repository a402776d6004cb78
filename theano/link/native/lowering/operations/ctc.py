"""Costs of sequences of labels: connectionist temporal classification."""

from __future__ import annotations

from theano.link.native.ir.ir import Scalar, Size, Value, View
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.sorting import turned
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.call_runtime import CallRuntime, OfStack
from theano.link.native.statements.costs import VECTOR_FUNCTION
from theano.link.native.statements.reduce import Reduce
from theano.tensor.nnet.ctc_operator import (
    LABELS_IN_RANGE,
    STEPS_IN_RANGE,
    ConnectionistTemporalClassification,
)


@lowers(ConnectionistTemporalClassification)
def costs_of_sequences(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the costs, and the gradients where the operator has them."""
    activations = step.view(inputs[0])
    labels, lengths = (step.view(cast(step, value, "int64")) for value in inputs[1:])
    steps, sequences, classes = activations.shape
    for size in (labels.shape[0], lengths.shape[0]):
        step.sizes.equal(sequences, size, "the number of sequences")
    _require(step, "maximum", labels, "is below", classes, LABELS_IN_RANGE)
    _require(step, "maximum", lengths, "is at most", steps, STEPS_IN_RANGE)
    _require(step, "minimum", lengths, "is at least", 0, STEPS_IN_RANGE)
    with_gradient = node.op.compute_grad
    length = _work(step, steps, labels.shape[1], with_gradient)
    costs = step.temporary(activations.dtype, (sequences,))
    work = step.rows_without_gaps("float64", (sequences, length))
    gradients = []
    if with_gradient:
        gradients.append(step.rows_without_gaps(activations.dtype, activations.shape))
    views = [View.of(gradient) for gradient in gradients]
    writes = [View.of(costs), View.of(work), *(_by_sequence(view) for view in views)]
    reads = [_by_sequence(activations), labels, lengths]
    first = len(writes)
    arguments = (
        *(steps, classes, labels.shape[1]),
        *(OfStack(first, 2), OfStack(first + 1, 1), OfStack(first + 2), OfStack(1)),
        *([OfStack(2, 1)] if views else [0, 0]),
        OfStack(0),
    )
    passes, dtype = 1 + with_gradient, activations.dtype
    of_states = (steps, labels.shape[1])
    takes = [
        Work(passes * VECTOR_FUNCTION[dtype], (steps, classes)),
        # three exponentials and a logarithm for each of twice as many states as labels
        Work(passes * 8 * VECTOR_FUNCTION["float64"], of_states),
    ]
    computes = [Work(4 * passes, (steps, classes)), Work(24 * passes, of_states)]
    function = f"ctc_{SUFFIX[dtype]}"
    statement = CallRuntime(function, writes, reads, arguments, (sequences,), takes, computes)
    step.append(statement, costs, work, *gradients)
    return [View.of(costs), *views]


def _by_sequence(view: View) -> View:
    """Return a view by step, sequence and class with the sequences first."""
    return turned(view, [1, 0, 2])


def _require(step: Step, extreme: str, view: View, condition: str, bound: Size, text: str) -> None:
    """End the step with an exception unless the greatest or least element is as it should be."""
    found = step.number(view.dtype)
    step.append(Reduce(extreme, view, tuple(range(view.ndim)), found, view.dtype))
    operands = [found, Scalar(str(bound), "int64", invariant=True)]
    step.check(Expression(text, condition, None, "bool"), operands, ValueError, text)


def _work(step: Step, steps: Size, labels: Size, with_gradient: bool) -> Size:
    """As runtime.h has it."""
    sizes = step.sizes
    states = sizes.binary(sizes.binary(labels, "*", 2), "+", 1)
    rows = sizes.binary(steps if with_gradient else 1, "+", 5)
    return sizes.binary(sizes.binary(steps, "+", labels), "+", sizes.binary(rows, "*", states))
