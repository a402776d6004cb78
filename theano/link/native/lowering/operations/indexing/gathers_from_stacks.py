"""Elements gathered by arrays of indices from each of a stack, by its own indices."""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.graph.basic import Variable

from theano.link.native.ir.ir import CannotLower, Scalar, Size, Value, View
from theano.link.native.lowering.operations.indexing.advanced_indexing import gathered_from
from theano.link.native.lowering.operations.indexing.masks import is_mask
from theano.link.native.lowering.operations.matrices.stacks import stack_shape, stretched
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.costs import MOVE
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.rows_by_index import OUT_OF_RANGE
from theano.link.native.statements.tasks import IndexedGather


def gather_from_each(
    step: Step, node, inputs: list[Value], flags: Sequence[Sequence[bool]]
) -> list[Value]:
    """Return the same indexing of each of a stack; ``flags`` says which sizes of it are known as 1."""
    idx_list = node.op.core_op.idx_list
    if any(isinstance(entry, slice) and entry != slice(None) for entry in idx_list):
        raise CannotLower("slices of stacks whose bounds may differ")
    if any(is_mask(variable) for variable in node.inputs[1:]):
        raise CannotLower("a mask of each of a stack")
    values = [v if isinstance(v, Scalar) else step.view(v) for v in inputs]
    stack = stack_shape(step, values, flags)  # type: ignore[arg-type]
    views = [
        v if isinstance(v, Scalar) else stretched(v, stack, known)
        for v, known in zip(values, flags, strict=True)
    ]
    first, *given = (v if isinstance(v, Scalar) else _one(v, len(stack)) for v in views)
    variables = [_of_one(v, len(known)) for v, known in zip(node.inputs, flags, strict=True)]
    assert isinstance(first, View)
    gathered = gathered_from(step, first, idx_list, list(given), variables[1:])
    out = step.rows_without_gaps(first.dtype, (*stack, *gathered.shape))
    operands = iter(gathered.operands)
    reads = [_in_stack(gathered.view, views[0], stack)]
    for view in views[1:]:
        if isinstance(view, View):
            reads.append(_in_stack(next(operands), view, stack))
    takes = [Work(MOVE, out.shape)]
    result = View.of(out)
    task = IndexedGather(gathered.gathered, len(stack))
    step.append(Kernel([result], reads, task, gathered.numbers, OUT_OF_RANGE, takes=takes), out)
    return [result if result.ndim else step.load(result)]


def _of_one(variable: Variable, stacked: int) -> Variable:
    """Return a variable of the type of one of a stack of so many dimensions."""
    return variable.type.clone(shape=variable.type.shape[stacked:])()


def _one(view: View, stacked: int) -> View:
    """Return the first of a stack."""
    axes, steps = view.axes[stacked:], view.steps[stacked:]
    return View(view.buffer, view.shape[stacked:], axes, steps, view.start)


def _in_stack(core: View, view: View | Scalar, stack: tuple[Size, ...]) -> View:
    """Return what the first of a stack became, for all of the stack."""
    assert isinstance(view, View)
    axes = (*view.axes[: len(stack)], *core.axes)
    steps = (*view.steps[: len(stack)], *core.steps)
    return View(core.buffer, (*stack, *core.shape), axes, steps, core.start)
