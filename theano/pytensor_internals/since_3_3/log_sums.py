"""Gradients of `LogSumExp` and `LogAddExp`, which PyTensor 3.3 takes through the graphs inside.

There they go through the maximum that is subtracted, whose share is always zero: two exponentials for
each element, comparisons and sums. By these rules it is one exponential of a difference from the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.op import Op
from pytensor.tensor.basic import expand_dims
from pytensor.tensor.math import exp
from pytensor.tensor.math import sum as summed
from pytensor.tensor.special import LogAddExp, LogSumExp

# takes the inputs, outputs and cotangents of a node; returns the inputs' cotangents
Pullback = Callable[[Sequence, Sequence, Sequence], list]


def _of_log_sum_exp(axis: tuple[int, ...]) -> Pullback:
    def pullback(inputs: Sequence, outputs: Sequence, cotangents: Sequence) -> list:
        (x,), (total,), (cotangent,) = inputs, outputs, cotangents
        shares = exp(x - expand_dims(total, axis))
        return [expand_dims(cotangent, axis) * shares]

    return pullback


def _of_log_add_exp(inputs: Sequence, outputs: Sequence, cotangents: Sequence) -> list:
    (total,), (cotangent,) = outputs, cotangents
    return [_as_large_as(x, cotangent * exp(x - total)) for x in inputs]


def _as_large_as(x: Any, cotangent: Any) -> Variable:
    """Return the sum over the dimensions along which an operand was repeated."""
    lead = cotangent.type.ndim - x.type.ndim
    repeated = [
        d + lead
        for d, known in enumerate(x.type.broadcastable)
        if known and not cotangent.type.broadcastable[d + lead]
    ]
    cotangent = summed(cotangent, axis=repeated, keepdims=True) if repeated else cotangent
    return summed(cotangent, axis=list(range(lead))) if lead else cotangent


# class of an operator -> the same operator with a rule
GRADIENT_RULES: Mapping[type[Op], Callable[[Any], Op]] = {
    LogSumExp: lambda op: LogSumExp(axis=op.axis, pullback=_of_log_sum_exp(op.axis)),
    LogAddExp: lambda op: LogAddExp(pullback=_of_log_add_exp),
}
