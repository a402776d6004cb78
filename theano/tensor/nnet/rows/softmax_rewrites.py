"""Rewrites of softmax of rows and its logarithm into Theano's operators."""

import pytensor.tensor as pt
from pytensor.graph.traversal import apply_ancestors
from pytensor.tensor import special
from pytensor.tensor.math import Argmax

from theano.pytensor_base.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.tensor.nnet.rows.crossentropy_operators import CrossentropySoftmaxArgmax1HotWithBias
from theano.tensor.nnet.rows.softmax_operators import (
    Softmax,
    SoftmaxGrad,
    SoftmaxWithBias,
    softmax_op,
    softmax_with_bias,
)
from theano.tensor.nnet.rows.softmax_scores import is_constant, is_of_rows, split_bias
from theano.tensor.rewrite_registration import register_canonicalize, register_specialize


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


@register_specialize
@node_rewriter([Softmax, special.Softmax, SoftmaxWithBias])
def graph_merge_softmax_with_crossentropy_softmax(fgraph, node):
    """A softmax of scores whose cost is computed, too, comes from the operator of the cost."""
    scores, *bias = node.inputs
    for reader, _ in fgraph.clients[scores]:
        if not isinstance(reader.op, CrossentropySoftmaxArgmax1HotWithBias):
            continue
        same_bias = reader.inputs[1] is bias[0] if bias else is_constant(reader.inputs[1], 0)
        if not (reader.inputs[0] is scores and same_bias and (bias or is_of_rows(node, Softmax))):
            continue
        # a class that was drawn by these probabilities waits for them
        if node not in apply_ancestors([reader.inputs[2]]):
            copy_stack_trace(node.outputs, reader.outputs[1])
            return [reader.outputs[1]]
    return None


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
