"""Importing this registers all rewrites: each of these modules adds its own to the database."""

from theano.flags.blas_messages import no_blas_warnings
from theano.sandbox import mrg_uniform
from theano.scan_module import scan_opt
from theano.tensor.linear_algebra import rewrites as linalg_rewrites
from theano.tensor.nnet import blocksparse, sigm
from theano.tensor.nnet.abstract_conv import rewrites as convolution_rewrites
from theano.tensor.nnet.rows import crossentropy_rewrites, softmax_rewrites
from theano.tensor.numpy_samplers import generator_samples, random_function

__all__ = [
    "blocksparse",
    "convolution_rewrites",
    "crossentropy_rewrites",
    "generator_samples",
    "linalg_rewrites",
    "mrg_uniform",
    "random_function",
    "scan_opt",
    "sigm",
    "softmax_rewrites",
]

with no_blas_warnings():
    # PyTensor imports it at the first constant that it looks at, in the midst of rewriting.
    import pytensor.sparse  # noqa: F401
