"""Rewrites of softmax of rows and its logarithm into Theano's operators."""

import pytensor.tensor as pt
from pytensor.graph.traversal import apply_ancestors
from pytensor.tensor import special
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.math import Argmax, Sum

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.graphs.shifted import axes_of, less_its_largest
from theano.pytensor_internals.operations.tensor_rewrites import local_mul_canonizer
from theano.tensor.nnet.rows.crossentropy_operators import CrossentropySoftmaxArgmax1HotWithBias
from theano.tensor.nnet.rows.softmax_operators import (
    Softmax,
    SoftmaxGrad,
    SoftmaxWithBias,
    softmax_op,
    softmax_with_bias,
)
from theano.tensor.nnet.rows.softmax_scores import is_constant, is_of_rows, split_bias
from theano.tensor.rewrite_registration import (
    register_canonicalize,
    register_specialize,
    register_stabilize,
)


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
    """Replace the operator by a softmax of a sum, which other rewrites look for."""
    result = softmax_op(pt.add(node.inputs[0], node.inputs[1].dimshuffle("x", 0)))
    copy_stack_trace(node.outputs, result)
    return [result] if result.type == node.outputs[0].type else None


@register_specialize
@node_rewriter([SoftmaxGrad])
def local_logsoftmax_grad(fgraph, node):
    """Return the gradient of the logarithm of a softmax divides by no probability."""
    of_softmax, softmax = node.inputs
    negated = of_softmax.owner is not None and of_softmax.owner.op == pt.neg
    above, below = local_mul_canonizer.get_num_denum(
        of_softmax.owner.inputs[0] if negated else of_softmax
    )
    if softmax not in below:
        return None
    below.remove(softmax)
    of_logarithm, axis = local_mul_canonizer.merge_num_denum(above, below), node.op.axis
    if negated:
        of_logarithm = -of_logarithm
    if of_logarithm.type.broadcastable != softmax.type.broadcastable:
        of_logarithm = pt.alloc(of_logarithm, *softmax.shape)
    result = of_logarithm - of_logarithm.sum(axis=axis, keepdims=True) * softmax
    copy_stack_trace(node.outputs, result)
    return [result] if result.type.dtype == node.outputs[0].type.dtype else None


@register_stabilize("symbolic_op_recognition")
@node_rewriter([pt.true_div, pt.mul])
def local_softmax_by_hand(fgraph, node):
    """``exp(x) / sum(exp(x))`` becomes a softmax, wherever the two stand in a product.

    In the gradient of its logarithm the sum of exponentials divides what another sum adds up, over
    the same dimensions; that division is done after the sum.
    """
    result = node.outputs[0]
    if any(client.op in (pt.mul, pt.true_div) for client, _ in fgraph.clients[result]):
        return None
    above, below = local_mul_canonizer.get_num_denum(result)
    exponentials = [v for v in above if v.owner is not None and v.owner.op == pt.exp]
    for powers in exponentials:
        axis = _divided_by_sum_of(powers, above, below)
        if axis is None:
            continue
        above.remove(powers)
        above.append(special.softmax(powers.owner.inputs[0], axis=axis))
        made = local_mul_canonizer.merge_num_denum(above, below)
        copy_stack_trace(node.outputs, made)
        return [made] if made.type.dtype == result.type.dtype else None
    return None


@register_specialize
@node_rewriter([Softmax, special.Softmax, special.LogSoftmax])
def local_softmax_of_shifted(fgraph, node):
    """``softmax(x - x.max(axis))`` is that of ``x``: the operator subtracts the largest itself."""
    scores = less_its_largest(node.inputs[0], axes_of(node))
    if scores is None:
        return None
    result = node.op(scores)
    copy_stack_trace(node.outputs, result)
    return [result] if result.type == node.outputs[0].type else None


def _divided_by_sum_of(powers, above, below):
    """Take the sum of powers out of what divides; return its dimensions, or None without one."""
    for divisor in below:
        axis = _axis_summed(divisor, powers)
        if axis is not None:
            below.remove(divisor)
            return axis
    for position, factor in enumerate(above):
        total = factor.owner.inputs[0] if _keeps_axes(factor) else None
        if total is None:
            continue
        terms, divisors = local_mul_canonizer.get_num_denum(total.owner.inputs[0])
        for divisor in divisors:
            axis = _axis_summed(divisor, powers)
            if axis is not None and axis == axes_of(total.owner):
                divisors.remove(divisor)
                summed = local_mul_canonizer.merge_num_denum(terms, divisors)
                summed = pt.broadcast_arrays(summed, powers)[0]
                above[position] = summed.sum(axis=axis, keepdims=True)
                return axis
    return None


def _axis_summed(divisor, powers):
    """Return the dimensions over which a divisor sums powers and stays as wide, or None."""
    if not _keeps_axes(divisor):
        return None
    total = divisor.owner.inputs[0].owner
    return axes_of(total) if total.inputs[0] is powers else None


def _keeps_axes(variable):
    """Return whether a variable is a sum over some dimensions that are kept with length 1."""
    node = variable.owner
    if node is None or not isinstance(node.op, DimShuffle):
        return False
    total = node.inputs[0].owner
    if total is None or not isinstance(total.op, Sum):
        return False
    axes, ndim = axes_of(total), total.inputs[0].type.ndim
    kept = iter(range(ndim - len(axes)))
    order = tuple("x" if k in axes else next(kept) for k in range(ndim))
    return tuple(node.op.new_order) == order


@register_specialize
@node_rewriter([Softmax, special.Softmax, SoftmaxWithBias])
def graph_merge_softmax_with_crossentropy_softmax(fgraph, node):
    """Return a softmax of scores whose cost is computed, too, comes from the operator of the cost."""
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
    """Return the place of the largest value is found before an increasing function is applied."""
    values = node.inputs[0]
    if values.owner is None:
        return None
    operator = values.owner.op
    if operator in _INCREASING or (is_of_rows(values.owner, Softmax) and node.op.axis == (1,)):
        below = values.owner.inputs[0]
    elif isinstance(operator, SoftmaxWithBias) and node.op.axis == (1,):
        matrix, bias = values.owner.inputs
        below = pt.add(matrix, bias.dimshuffle("x", 0))
    else:
        return None
    result = node.op(below)
    copy_stack_trace(node.outputs, result)
    return [result]
