"""A value that a step computes from sequences, computed for all steps at once.

Each rule says how an operation on the values of one step becomes an operation on the stacked
values of all steps; an operation without a rule stays in the loop.
"""

from __future__ import annotations

from collections.abc import Callable

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.math import Dot
from pytensor.tensor.special import LogSoftmax, Softmax
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor
from pytensor.tensor.type import TensorType

from theano.pytensor_base.tensor import AdvancedSubtensor1, get_idx_list
from theano.scan_module.step.gathers import is_gather
from theano.scan_module.step.step_analysis import StepAnalysis
from theano.tensor.nnet.softmax_operators import SoftmaxGrad

# What an argument becomes: its stacked values if it varies, else its invariant value.
Arguments = list[tuple[bool, Variable]]


def _elemwise(node: Apply, arguments: Arguments) -> Variable:
    stacked = [
        value if varies else value.dimshuffle("x", *range(value.type.ndim))
        for varies, value in arguments
    ]
    return node.op(*stacked)


def _dimshuffle(node: Apply, arguments: Arguments) -> Variable:
    order = ["x" if axis == "x" else axis + 1 for axis in node.op.new_order]
    return arguments[0][1].dimshuffle(0, *order)


def _reduction(node: Apply, arguments: Arguments) -> Variable:
    axes = range(node.inputs[0].type.ndim) if node.op.axis is None else node.op.axis
    return node.op.clone(axis=tuple(axis + 1 for axis in axes))(arguments[0][1])


def _product(node: Apply, arguments: Arguments) -> Variable:
    (left_varies, left), (right_varies, right) = arguments
    if left_varies and right_varies:
        return pt.matmul(left, right)
    if left_varies:
        rows = left.reshape((left.shape[0] * left.shape[1], left.shape[2]))
        return pt.dot(rows, right).reshape((left.shape[0], left.shape[1], right.shape[1]))
    # left.dot(right[t]) is (right[t].T.dot(left.T)).T
    columns = right.dimshuffle(0, 2, 1)
    rows = columns.reshape((columns.shape[0] * columns.shape[1], columns.shape[2]))
    product = pt.dot(rows, left.T)
    return product.reshape((columns.shape[0], columns.shape[1], left.shape[0])).dimshuffle(0, 2, 1)


def _gather(node: Apply, arguments: Arguments) -> Variable | None:
    (source_varies, source), (_, indices) = arguments
    return None if source_varies or not is_gather(node) else source[indices]


def _slice(node: Apply, arguments: Arguments) -> Variable | None:
    if not arguments[0][0] or any(varies for varies, _ in arguments[1:]):
        return None
    values = [value for _, value in arguments]
    index = get_idx_list(values, node.op.idx_list)
    return values[0][(slice(None), *index)]


def _softmax(node: Apply, arguments: Arguments) -> Variable | None:
    if not all(varies for varies, _ in arguments):
        return None
    axes = range(node.inputs[0].type.ndim) if node.op.axis is None else node.op.axis
    op = type(node.op)(axis=tuple(axis + 1 for axis in axes))
    return op(*(value for _, value in arguments))


RULES: dict[type, Callable[[Apply, Arguments], Variable | None]] = {
    Elemwise: _elemwise,
    DimShuffle: _dimshuffle,
    CAReduce: _reduction,
    Dot: _product,
    AdvancedSubtensor1: _gather,
    AdvancedSubtensor: _gather,
    Subtensor: _slice,
    Softmax: _softmax,
    LogSoftmax: _softmax,
    SoftmaxGrad: _softmax,
}


class AllSteps:
    """Values of all steps of a loop, as far as they follow from values that are known.

    Parameters
    ----------
    step
        Facts about the loop's step.
    known
        Values of the step whose values of all steps are known; the sequences, for a start.
    """

    def __init__(self, step: StepAnalysis, known: dict[Variable, Variable]):
        self.step = step
        self._known: dict[Variable, Variable | None] = dict(known)
        self._given = set(known)
        self._products: dict[Variable, bool] = {}

    def value(self, variable: Variable) -> Variable | None:
        """The stacked values of a varying value; None if they cannot be had without the loop."""
        if variable not in self._known:
            self._known[variable] = self._compute(variable)
        return self._known[variable]

    def _compute(self, variable: Variable) -> Variable | None:
        node = variable.owner
        rule = None if node is None else _rule_for(node)
        if rule is None or not self.step.shape_is_fixed(variable):
            return None
        arguments = []
        for argument in node.inputs:
            varies = self.step.varies(argument)
            value = self.value(argument) if varies else self.step.outer_value(argument)
            if value is None or not isinstance(value.type, TensorType) and varies:
                return None
            arguments.append((varies, value))
        return rule(node, arguments)

    def holds_product(self, variable: Variable) -> bool:
        """Whether computing the value takes a product, however deep."""
        if variable not in self._products:
            node = variable.owner
            self._products[variable] = (
                variable not in self._given
                and node is not None
                and (
                    isinstance(node.op, Dot | Blockwise)
                    or any(self.holds_product(a) for a in node.inputs if self.step.varies(a))
                )
            )
        return self._products[variable]


def _rule_for(node: Apply) -> Callable[[Apply, Arguments], Variable | None] | None:
    for op_class in type(node.op).__mro__:
        if op_class in RULES:
            return RULES[op_class]
    return None
