"""Theano 1.0's `theano.tensor.nnet`: what neural networks are made of."""
# ruff: noqa: F401 -- this file re-exports

from theano.tensor.nnet import (
    abstract_conv,
    blocksparse,
    bn,
    conv,
    conv3d2d,
    corr,
    corr3d,
    crossentropy_rewrites,
    neighbours,
    nnet,
    sigm,
    softmax_rewrites,
)
from theano.tensor.nnet.abstract_conv import (
    conv2d_grad_wrt_inputs,
    conv3d,
    separable_conv2d,
    separable_conv3d,
)
from theano.tensor.nnet.bn import (
    batch_normalization,
    batch_normalization_test,
    batch_normalization_train,
)
from theano.tensor.nnet.conv import ConvOp
from theano.tensor.nnet.convolution import conv2d, conv2d_transpose
from theano.tensor.nnet.crossentropy_operators import (
    CrossentropyCategorical1Hot,
    CrossentropyCategorical1HotGrad,
    CrossentropySoftmax1HotWithBiasDx,
    CrossentropySoftmaxArgmax1HotWithBias,
    crossentropy_categorical_1hot,
    crossentropy_categorical_1hot_grad,
    crossentropy_softmax_1hot_with_bias_dx,
    crossentropy_softmax_argmax_1hot_with_bias,
)
from theano.tensor.nnet.nnet import (
    binary_crossentropy,
    categorical_crossentropy,
    confusion_matrix,
    crossentropy_softmax_1hot,
    crossentropy_softmax_1hot_with_bias,
    crossentropy_softmax_max_and_argmax_1hot,
    crossentropy_softmax_max_and_argmax_1hot_with_bias,
    elu,
    h_softmax,
    logsoftmax,
    relu,
    selu,
    sigmoid_binary_crossentropy,
    softmax,
    softmax_graph,
    softsign,
)
from theano.tensor.nnet.prepended_columns import (
    Prepend_scalar_constant_to_each_row,
    Prepend_scalar_to_each_row,
    prepend_0_to_each_row,
    prepend_1_to_each_row,
    prepend_scalar_to_each_row,
)
from theano.tensor.nnet.sigm import (
    hard_sigmoid,
    scalar_sigmoid,
    sigmoid,
    sigmoid_inplace,
    softplus,
    ultra_fast_sigmoid,
)
from theano.tensor.nnet.softmax_operators import (
    LogSoftmax,
    Softmax,
    SoftmaxGrad,
    SoftmaxWithBias,
    logsoftmax_op,
    softmax_grad,
    softmax_op,
    softmax_with_bias,
)
