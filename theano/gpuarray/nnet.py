"""Softmax and costs, for which Theano had operators of devices: the host's run there."""

from theano.tensor.nnet.nnet import (
    CrossentropySoftmax1HotWithBiasDx as GpuCrossentropySoftmax1HotWithBiasDx,
)
from theano.tensor.nnet.nnet import (
    CrossentropySoftmaxArgmax1HotWithBias as GpuCrossentropySoftmaxArgmax1HotWithBias,
)
from theano.tensor.nnet.nnet import Softmax as GpuSoftmax
from theano.tensor.nnet.nnet import SoftmaxWithBias as GpuSoftmaxWithBias
from theano.tensor.nnet.nnet import softmax_op as gpu_softmax
from theano.tensor.nnet.nnet import softmax_with_bias as gpu_softmax_with_bias

__all__ = [
    "GpuCrossentropySoftmax1HotWithBiasDx",
    "GpuCrossentropySoftmaxArgmax1HotWithBias",
    "GpuSoftmax",
    "GpuSoftmaxWithBias",
    "gpu_softmax",
    "gpu_softmax_with_bias",
]
