"""Theano 1.0's `theano.tensor.nnet.abstract_conv`: convolutions, whatever computes them."""
# ruff: noqa: F401 -- this file re-exports

from theano.tensor.nnet.abstract_conv import rewrites
from theano.tensor.nnet.abstract_conv.functions import (
    causal_conv1d,
    conv2d,
    conv2d_grad_wrt_inputs,
    conv2d_grad_wrt_weights,
    conv3d,
    conv3d_grad_wrt_inputs,
    conv3d_grad_wrt_weights,
    separable_conv2d,
    separable_conv3d,
)
from theano.tensor.nnet.abstract_conv.operators import (
    AbstractConv,
    AbstractConv2d,
    AbstractConv2d_gradInputs,
    AbstractConv2d_gradWeights,
    AbstractConv3d,
    AbstractConv3d_gradInputs,
    AbstractConv3d_gradWeights,
    AbstractConv_gradInputs,
    AbstractConv_gradWeights,
    BaseAbstractConv,
)
from theano.tensor.nnet.abstract_conv.shapes import (
    assert_conv_shape,
    assert_shape,
    border_mode_to_pad,
    check_conv_gradinputs_shape,
    get_conv_gradinputs_shape,
    get_conv_gradinputs_shape_1axis,
    get_conv_gradweights_shape,
    get_conv_gradweights_shape_1axis,
    get_conv_output_shape,
    get_conv_shape_1axis,
)
from theano.tensor.nnet.bilinear import (
    bilinear_kernel_1D,
    bilinear_kernel_2D,
    bilinear_upsampling,
    frac_bilinear_upsampling,
)

# In Theano, False without SciPy, by which its operators computed without C.
imported_scipy_signal = True
