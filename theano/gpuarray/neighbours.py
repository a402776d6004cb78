"""Windows of images, for which Theano had an operator of devices: the host's runs there."""

from theano.tensor.nnet.neighbours import Images2Neibs as GpuImages2Neibs

__all__ = ["GpuImages2Neibs"]
