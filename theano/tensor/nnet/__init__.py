"""Theano 1.0's `theano.tensor.nnet`: what neural networks are made of."""
# ruff: noqa: F401, F403 -- this file re-exports

from theano.tensor.nnet import (
    abstract_conv,
    blocksparse,
    bn,
    conv,
    neighbours,
    nnet,
    row_operators,
    row_rewrites,
    sigm,
)
from theano.tensor.nnet.abstract_conv import (
    conv2d,
    conv2d_grad_wrt_inputs,
    conv2d_transpose,
    conv3d,
)
from theano.tensor.nnet.bn import (
    batch_normalization,
    batch_normalization_test,
    batch_normalization_train,
)
from theano.tensor.nnet.nnet import *
from theano.tensor.nnet.row_operators import *
from theano.tensor.nnet.sigm import *
