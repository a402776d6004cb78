"""The examples in the docstrings of the compatibility packages give what they say."""

import doctest
import importlib

import pytest

MODULES = [
    "theano.gof.op",
    "theano.gpuarray.dnn.convolution_operators",
    "theano.derivatives.jacobian_products",
    "theano.derivatives.shaped",
    "theano.sandbox.rng_mrg",
    "theano.tensor.linear_algebra.batched",
    "theano.tensor.extra_ops",
    "theano.tensor.nnet.abstract_conv.functions",
    "theano.tensor.nnet.abstract_conv.shapes",
    "theano.tensor.nnet.conv",
    "theano.tensor.nnet.conv3d2d",
    "theano.tensor.nnet.convolution",
    "theano.tensor.nnet.nnet",
    "theano.tensor.old.shaping",
    "theano.tensor.shared_randomstreams",
    "theano.tensor.signal.pool",
    "theano.tensor.type",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    failed, attempted = doctest.testmod(importlib.import_module(name))
    assert attempted > 0 and failed == 0
