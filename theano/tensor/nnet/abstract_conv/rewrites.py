"""Convolutions become correlations, which engines know, with filters that are turned around."""

from pytensor.graph.basic import Apply

from theano.pytensor_internals.graphs.annotations import known_tensors
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.tensor.nnet.abstract_conv.operators import (
    AbstractConv,
    AbstractConv_gradInputs,
    AbstractConv_gradWeights,
)
from theano.tensor.rewrite_registration import register_specialize_device


@register_specialize_device("conv_gemm", "fast_compile")
@node_rewriter([AbstractConv, AbstractConv_gradWeights, AbstractConv_gradInputs])
def local_abstractconv_gemm(fgraph, node: Apply):
    """Replace a convolution or its gradient by a correlation or its gradient."""
    convolution, correlation = node.op, node.op.correlation()
    first, second, *shape = node.inputs
    numbers = known_tensors(shape)
    lengths = [[numbers[0][axis] for axis in range(convolution.rank)]] if shape else []
    if convolution.direction == "weights":
        gradient = correlation(first, second, *lengths)
        copy_stack_trace(node.outputs, gradient)
        result = convolution.turned(gradient)
    elif convolution.direction == "inputs":
        result = correlation(convolution.turned(first), second, *lengths)
    else:
        result = correlation(first, convolution.turned(second))
    copy_stack_trace(node.outputs, result)
    return [result]
