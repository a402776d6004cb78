"""Sums and products of all elements so far along an axis."""

from __future__ import annotations

from pytensor.tensor.extra_ops import CumOp

from theano.link.native.ir.ir import CannotLower, Value, View
from theano.link.native.ir.scalar_types import C_TYPES
from theano.link.native.lowering.operations.kernels import looks_of
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.render.arrays import Array, indices, loops, passes
from theano.link.native.render.looks import declared, unless_empty
from theano.link.native.statements.kernel import Kernel


@lowers(CumOp)
def accumulate(step: Step, node, inputs: list[Value]) -> list[Value]:
    view, axis = step.view(inputs[0]), node.op.axis
    if view.dtype == "bool":
        raise CannotLower("a cumulative sum of truth values")
    out = step.temporary(view.dtype, view.shape)
    operator, first = ("+", 0) if node.op.mode == "add" else ("*", 1)
    names = indices("i", view.ndim)
    others = [d for d in range(view.ndim) if d != axis]
    looks = looks_of(step)

    def lines(y: Array, x: Array) -> list[str]:
        one = f"{y.at(*names)} = total = total {operator} {x.at(*names)};"
        along = passes([names[axis]], [y.shape[axis]], [one], looks)
        body = [f"{C_TYPES[view.dtype]} total = {first};", *along]
        around = [names[d] for d in others], [y.shape[d] for d in others]
        return [*declared(looks), *unless_empty(y.shape, loops(*around, body, looks))]

    step.append(Kernel([View.of(out)], [view], lines), out)
    return [View.of(out)]
