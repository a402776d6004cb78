"""Sums and products of all elements so far along an axis."""

from __future__ import annotations

from pytensor.tensor.extra_ops import CumOp

from theano.link.native.ir.ir import CannotLower, Value, View
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.cumulate import Cumulate


@lowers(CumOp)
def accumulate(step: Step, node, inputs: list[Value]) -> list[Value]:
    view, axis = step.view(inputs[0]), node.op.axis
    if view.dtype == "bool":
        raise CannotLower("a cumulative sum of booleans")
    out = step.temporary(view.dtype, view.shape)
    operation = "add" if node.op.mode == "add" else "multiply"
    step.append(Cumulate(operation, View.of(out), view, axis), out)
    return [View.of(out)]
