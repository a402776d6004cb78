"""Rewrites of the costs of a softmax into Theano's operators.

They compute the cost of a class without an overflow, and its gradient without dividing by a
probability that may be 0. Of two rewrites of one operator, the one that is registered first is
tried first: these are imported before those of `softmax_rewrites`.
"""

import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import Alloc, ARange, MakeVector
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.operations.tensor_rewrites import local_mul_canonizer
from theano.tensor.nnet.rows.crossentropy_operators import (
    CrossentropyCategorical1Hot,
    CrossentropyCategorical1HotGrad,
    CrossentropySoftmax1HotWithBiasDx,
    crossentropy_softmax_1hot_with_bias_dx,
    crossentropy_softmax_argmax_1hot_with_bias,
)
from theano.tensor.nnet.rows.softmax_operators import (
    LogSoftmax,
    Softmax,
    SoftmaxGrad,
    SoftmaxWithBias,
    softmax_op,
)
from theano.tensor.nnet.rows.softmax_scores import Scores, is_constant, is_of_rows, split_bias
from theano.tensor.rewrite_registration import register_specialize


def _scores_of(softmax: Variable) -> Scores | None:
    """Return the scores of a softmax of rows and their bias, zeros where they have none."""
    node = softmax.owner
    if node is not None and isinstance(node.op, SoftmaxWithBias):
        matrix, bias = node.inputs
        return matrix, bias
    if not is_of_rows(node, Softmax):
        return None
    return split_bias(node.inputs[0]) or (node.inputs[0], pt.zeros_like(node.inputs[0][0]))


def _counts_rows(fgraph: FunctionGraph, rows: Variable, classes: Variable) -> bool:
    """Return whether `rows` is 0, 1, 2 … for each element of the vector `classes`."""
    if classes.type.ndim != 1 or rows.type.ndim != 1:
        return False
    if classes.type.shape == (1,) and isinstance(rows, Constant):
        return rows.data.tolist() == [0]
    if rows.owner is None or not isinstance(rows.owner.op, ARange):
        return False
    start, stop, step = rows.owner.inputs
    shapes = getattr(fgraph, "shape_feature", None)
    return (
        shapes is not None
        and is_constant(start, 0)
        and is_constant(step, 1)
        and (shapes.same_shape(rows, classes) or stop is shapes.get_shape(classes, 0))
    )


def _cost(fgraph: FunctionGraph, softmax: Variable, rows: Variable, classes: Variable, like):
    """Return the logarithm of one probability of each row; None where it is not one of each."""
    scores = _scores_of(softmax)
    if scores is None or not _counts_rows(fgraph, rows, classes):
        return None
    minus = crossentropy_softmax_argmax_1hot_with_bias(*scores, classes)[0]
    result = -minus
    copy_stack_trace(like, [minus, result])
    return [result]


def _pair_of_indices(node: Apply, first: int) -> tuple[Variable, Variable] | None:
    """Return the rows and columns by which a node chooses elements of a matrix."""
    indices = node.inputs[first:]
    if tuple(node.op.idx_list) != (0, 1) or len(indices) != 2:
        return None
    rows, columns = indices
    are_vectors = all(index.type.ndim == 1 and "int" in index.type.dtype for index in indices)
    return (rows, columns) if are_vectors else None


@register_specialize("fast_compile")
@node_rewriter([CrossentropyCategorical1Hot])
def crossentropy_to_crossentropy_with_softmax(fgraph, node):
    """Compute the cost of a softmax from the scores, together with the softmax."""
    softmax, classes = node.inputs
    scores = _scores_of(softmax)
    if scores is None:
        return None
    cost, probabilities, _ = crossentropy_softmax_argmax_1hot_with_bias(*scores, classes)
    copy_stack_trace([*node.outputs, softmax], [cost, probabilities])
    return {node.outputs[0]: cost, softmax: probabilities}


@register_specialize("fast_compile")
@node_rewriter([SoftmaxGrad])
def local_softmax_grad_to_crossentropy_with_softmax_grad(fgraph, node):
    """Return the gradient of a cost of a softmax with respect to the scores is one operator."""
    of_softmax, softmax = node.inputs
    cost_node = of_softmax.owner
    if cost_node is None or not isinstance(cost_node.op, CrossentropyCategorical1HotGrad):
        return None
    of_cost, probabilities, classes = cost_node.inputs
    if probabilities is not softmax:
        return None
    result = crossentropy_softmax_1hot_with_bias_dx(_without_alloc(of_cost), softmax, classes)
    copy_stack_trace(node.outputs, result)
    return [result]


@register_specialize
@node_rewriter([AdvancedSubtensor, pt.log])
def local_advanced_indexing_crossentropy_onehot(fgraph, node):
    """``log(softmax(x))[arange(n), y]`` and ``log(softmax(x)[arange(n), y])`` are costs."""
    chosen = node if isinstance(node.op, AdvancedSubtensor) else node.inputs[0].owner
    if chosen is None or not isinstance(chosen.op, AdvancedSubtensor):
        return None
    indices = _pair_of_indices(chosen, 1)
    values = chosen.inputs[0]
    if indices is None or values.owner is None:
        return None
    if node is not chosen:
        return _cost(fgraph, values, *indices, node.outputs)
    if values.owner.op == pt.log:
        return _cost(fgraph, values.owner.inputs[0], *indices, node.outputs)
    if is_of_rows(values.owner, LogSoftmax):
        return _cost(fgraph, softmax_op(values.owner.inputs[0]), *indices, node.outputs)
    return None


@register_specialize
@node_rewriter([SoftmaxGrad])
def local_advanced_indexing_crossentropy_onehot_grad(fgraph, node):
    """Return the gradient of such a cost with respect to the scores is one operator.

    The gradient with respect to the softmax has a single element in each row, which is divided
    by the probability at that place, before it is put there or after.
    """
    of_softmax, softmax = node.inputs
    if softmax.owner is None or not isinstance(softmax.owner.op, Softmax | SoftmaxWithBias):
        return None
    factors, divisors = _factors(of_softmax)
    placed = [factor for factor in factors if _placed_in_zeros(factor)]
    if len(placed) != 1:
        return None
    placing = placed[0].owner
    indices = _pair_of_indices(placing, 2)
    if indices is None or not _counts_rows(fgraph, *indices):
        return None
    factors.remove(placed[0])
    own_factors, own_divisors = _factors(placing.inputs[1])
    for all_divisors, is_probability in (
        (divisors, lambda value: value is softmax),
        (own_divisors, lambda value: _is_choice(value, softmax, indices)),
    ):
        found = [value for value in all_divisors if is_probability(value)]
        if found:
            all_divisors.remove(found[0])
            break
    else:
        return None
    if not all(all(factor.type.broadcastable) for factor in (*factors, *divisors)):
        return None
    factors, divisors = [*factors, *own_factors], [*divisors, *own_divisors]
    of_cost = _negated_quotient(
        [_flat(f) for f in factors], [_flat(d) for d in divisors], softmax.type.dtype
    )
    if of_cost.type.ndim > 1 or of_cost.type.dtype != softmax.type.dtype:
        return None
    result = crossentropy_softmax_1hot_with_bias_dx(of_cost, softmax, indices[1])
    copy_stack_trace(node.outputs, result)
    return [result]


def _placed_in_zeros(variable: Variable) -> bool:
    node = variable.owner
    return (
        node is not None
        and isinstance(node.op, AdvancedIncSubtensor)
        and is_constant(node.inputs[0], 0)
    )


def _is_choice(variable: Variable, softmax: Variable, indices: tuple) -> bool:
    """Return whether a vector is the softmax at the given places."""
    node = variable.owner
    return (
        node is not None
        and isinstance(node.op, AdvancedSubtensor)
        and node.inputs[0] is softmax
        and _pair_of_indices(node, 1) == indices
    )


def _factors(variable: Variable) -> tuple[list[Variable], list[Variable]]:
    """Return what a value is the product of, and what is divided by."""
    node = variable.owner
    if node is not None and node.op == pt.neg:
        factors, divisors = _factors(node.inputs[0])
        return [pt.constant(-1, dtype=variable.type.dtype), *factors], divisors
    return local_mul_canonizer.get_num_denum(variable)


def _negated_quotient(factors: list[Variable], divisors: list[Variable], dtype: str):
    signs = [factor for factor in factors if is_constant(factor, -1)]
    others = [f for f in factors if f not in signs and not is_constant(f, 1)]
    sign = pt.constant((-1) ** (len(signs) + 1), dtype=dtype)
    result = _product([*others, sign] if len(signs) % 2 == 0 or not others else others)
    return result / _product(divisors) if divisors else result


def _product(factors: list[Variable]) -> TensorVariable:
    return known_tensor(factors[0] if len(factors) == 1 else pt.mul(*factors))


def _flat(variable: Variable) -> Variable:
    """Return a number where all dimensions have length 1."""
    if not variable.type.ndim or not all(variable.type.broadcastable):
        return variable
    node = variable.owner
    if isinstance(variable, Constant):
        return pt.constant(variable.data.reshape(()), dtype=variable.type.dtype)
    if node is not None and isinstance(node.op, MakeVector):
        return node.inputs[0].astype(node.op.dtype)
    if node is not None and isinstance(node.op, DimShuffle) and not node.inputs[0].type.ndim:
        return node.inputs[0]
    if node is not None and isinstance(node.op, Elemwise):
        return node.op.make_node(*[_flat(value) for value in node.inputs]).outputs[0]
    return known_tensor(variable).dimshuffle(())


def _without_alloc(gradients: Variable) -> Variable:
    """Return the number that a vector is filled with, if it is."""
    node = gradients.owner
    if node is not None and isinstance(node.op, Alloc) and all(node.inputs[0].type.broadcastable):
        return _flat(node.inputs[0])
    return gradients


@register_specialize
@node_rewriter([CrossentropySoftmax1HotWithBiasDx])
def local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc(fgraph, node):
    """Return a gradient that is the same for all rows needs no vector."""
    of_cost, softmax, classes = node.inputs
    number = _without_alloc(of_cost)
    shapes = getattr(fgraph, "shape_feature", None)
    if number is of_cost or shapes is None or not shapes.same_shape(of_cost, softmax, 0, 0):
        return None
    result = crossentropy_softmax_1hot_with_bias_dx(number, softmax, classes)
    copy_stack_trace(node.outputs, result)
    return [result]
