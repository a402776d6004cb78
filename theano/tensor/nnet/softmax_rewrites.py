"""Rewrites of softmax of rows and its logarithm into Theano's operators."""

from collections.abc import Sequence

import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor import special
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.math import Argmax

from theano.pytensor_base.rewriting import copy_stack_trace, node_rewriter
from theano.tensor.nnet.softmax_operators import (
    Softmax,
    SoftmaxGrad,
    SoftmaxWithBias,
    softmax_op,
    softmax_with_bias,
)
from theano.tensor.rewrite_registration import register_canonicalize, register_specialize

Scores = tuple[Variable, Variable]


def is_of_rows(node: Apply | None, operator: type) -> bool:
    """Whether a node is a softmax, or its logarithm, of each row of a matrix."""
    return node is not None and isinstance(node.op, operator) and node.op.axis == (1,)


def _is_row(variable: Variable) -> bool:
    return tuple(variable.type.broadcastable) == (True, False)


def _total(terms: Sequence[Variable]) -> Variable:
    return terms[0] if len(terms) == 1 else pt.add(*terms)


def split_bias(scores: Variable) -> Scores | None:
    """A matrix and a vector whose sum the scores are, if they are such a sum."""
    node = scores.owner
    if node is None or node.op != pt.add:
        return None
    rows = [term for term in node.inputs if _is_row(term)]
    others = [term for term in node.inputs if not _is_row(term)] or [rows.pop()]
    matrix = _total(others)
    if not rows or matrix.type.broadcastable != scores.type.broadcastable:
        return None
    return matrix, _total([_as_vector(row) for row in rows])


def _as_vector(row: Variable) -> Variable:
    node = row.owner
    if node is not None and isinstance(node.op, DimShuffle) and node.op.new_order == ("x", 0):
        return node.inputs[0]
    return row.dimshuffle(1)


@register_specialize("fast_compile")
@node_rewriter([Softmax, special.Softmax])
def local_softmax_with_bias(fgraph, node):
    """``softmax(matrix + vector)`` becomes one operator."""
    if not is_of_rows(node, Softmax):
        return None
    scores = split_bias(node.inputs[0])
    if scores is None:
        return None
    result = softmax_with_bias(*scores)
    if result.type != node.outputs[0].type:
        return None
    copy_stack_trace(node.outputs, result)
    return [result]


@register_canonicalize
@node_rewriter([SoftmaxWithBias])
def local_softmax_without_bias(fgraph, node):
    """The operator becomes a softmax of a sum, which other rewrites look for."""
    result = softmax_op(pt.add(node.inputs[0], node.inputs[1].dimshuffle("x", 0)))
    copy_stack_trace(node.outputs, result)
    return [result] if result.type == node.outputs[0].type else None


@register_specialize
@node_rewriter([SoftmaxGrad])
def local_logsoftmax_grad(fgraph, node):
    """The gradient of the logarithm of a softmax divides by no probability."""
    of_softmax, softmax = node.inputs
    division = of_softmax.owner
    if division is None or division.op != pt.true_div or division.inputs[1] is not softmax:
        return None
    of_logarithm, axis = division.inputs[0], node.op.axis
    if of_logarithm.type.broadcastable != softmax.type.broadcastable:
        of_logarithm = pt.alloc(of_logarithm, *softmax.shape)
    result = of_logarithm - of_logarithm.sum(axis=axis, keepdims=True) * softmax
    copy_stack_trace(node.outputs, result)
    return [result]


# Where they are largest is where what they are applied to is largest; a logarithm is not among
# them, which is NaN for negative numbers.
_INCREASING = (pt.exp, pt.sigmoid, pt.softplus, pt.tanh)


@register_specialize
@node_rewriter([Argmax])
def local_argmax_pushdown(fgraph, node):
    """The place of the largest value is found before an increasing function is applied."""
    values = node.inputs[0]
    if values.owner is None:
        return None
    operator = values.owner.op
    if operator in _INCREASING or is_of_rows(values.owner, Softmax) and node.op.axis == (1,):
        below = values.owner.inputs[0]
    elif isinstance(operator, SoftmaxWithBias) and node.op.axis == (1,):
        matrix, bias = values.owner.inputs
        below = pt.add(matrix, bias.dimshuffle("x", 0))
    else:
        return None
    result = node.op(below)
    copy_stack_trace(node.outputs, result)
    return [result]
