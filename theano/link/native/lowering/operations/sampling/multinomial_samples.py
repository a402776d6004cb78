"""Categories of uniform samples: counted, or chosen one after the other."""

from __future__ import annotations

from theano.link.native.ir.ir import CannotLower, Size, Value, View
from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.ir.symbolic import compared
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.costs import ARITHMETIC
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.tasks import MultinomialChoices, MultinomialCounts
from theano.sandbox.multinomial import ChoiceFromUniform, MultinomialFromUniform


@lowers(MultinomialFromUniform)
def multinomial_counts(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Count the first categories at which sums of probabilities exceed the samples."""
    pvals, uniforms, trials = _operands(step, node, inputs)
    rows, categories = pvals.shape
    out = step.temporary(node.outputs[0].type.dtype, (rows, categories))

    takes = [Work(ARITHMETIC, (trials, rows, categories))]
    step.append(
        Kernel([View.of(out)], [pvals, uniforms], MultinomialCounts(), [trials], takes=takes), out
    )
    return [View.of(out)]


@lowers(ChoiceFromUniform)
def multinomial_choices(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Choose categories; without replacement, what is left is scaled to a sum of 1 each time."""
    dtype = node.outputs[0].type.dtype
    if dtype == "bool" or dtype.startswith("uint"):
        raise CannotLower(f"choices of type {dtype}, which has no -1")
    pvals, uniforms, trials = _operands(step, node, inputs)
    rows, categories = pvals.shape
    step.sizes.check(compared(trials, "<=", categories), "at most as many choices as categories")
    left, out = step.copied(pvals), step.temporary(dtype, (rows, trials))

    takes = [Work(2 * ARITHMETIC, (trials, rows, categories))]
    writes, reads = [View.of(out), View.of(left)], [View.of(left), uniforms]
    task = MultinomialChoices(bool(node.op.replace))
    step.append(Kernel(writes, reads, task, [trials], takes=takes), out, left)
    return [View.of(out)]


def _operands(step: Step, node, inputs: list[Value]) -> tuple[View, View, Size]:
    """Return the probabilities, the samples of each row, and how many these are."""
    pvals, uniforms = step.view(inputs[0]), step.view(inputs[1])
    if not {pvals.dtype, uniforms.dtype} <= set(FLOATS):
        raise CannotLower(f"probabilities of type {pvals.dtype}, samples of type {uniforms.dtype}")
    if inputs[2].dtype in FLOATS:
        raise CannotLower(f"a number of trials of type {inputs[2].dtype}")
    trials = step.size(inputs[2], "a number of trials")
    step.sizes.check(compared(trials, ">=", 0), "a number of trials that is not negative")
    count = step.sizes.binary(pvals.shape[0], "*", trials)
    step.sizes.equal(uniforms.shape[0], count, "the number of samples")
    return pvals, uniforms, trials
