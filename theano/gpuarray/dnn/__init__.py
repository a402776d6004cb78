"""Theano 1.0's `theano.gpuarray.dnn`: what programs took from cuDNN."""
# ruff: noqa: F401 -- this file re-exports

from theano.gpuarray.dnn import cudnn_lstm
from theano.gpuarray.dnn.conversion import params_from_scan, params_to_scan
from theano.gpuarray.dnn.convolution_operators import (
    GpuDnnConv,
    GpuDnnConvDesc,
    GpuDnnConvGradI,
    GpuDnnConvGradW,
)
from theano.gpuarray.dnn.convolutions import (
    dnn_conv,
    dnn_conv3d,
    dnn_gradinput,
    dnn_gradinput3d,
    dnn_gradweight,
    dnn_gradweight3d,
)
from theano.gpuarray.dnn.functions import (
    dnn_batch_normalization_test,
    dnn_batch_normalization_train,
    dnn_pool,
)
from theano.gpuarray.dnn.normalization_operators import (
    GpuDnnBatchNorm,
    GpuDnnBatchNormGrad,
    GpuDnnBatchNormInference,
)
from theano.gpuarray.dnn.pooling_operators import GpuDnnPool, GpuDnnPoolGrad
from theano.gpuarray.dnn.presence import dnn_available, dnn_present, dnn_version, version
from theano.gpuarray.dnn.rnn_block import RNNBlock
from theano.gpuarray.dnn.softmax_operators import GpuDnnSoftmax, GpuDnnSoftmaxGrad
from theano.gpuarray.dnn.spatial_transformer import dnn_spatialtf
