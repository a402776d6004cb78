"""The logistic function, its approximations, and softplus."""

# ruff: noqa: F401 -- this file re-exports

from typing import Any

import pytensor.tensor as pt
from pytensor.scalar.math import Sigmoid as ScalarSigmoid
from pytensor.scalar.math import Softplus as ScalarSoftplus
from pytensor.scalar.math import sigmoid as scalar_sigmoid
from pytensor.tensor import TensorLike
from pytensor.tensor.math import sigmoid, softplus
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, dfs_rewriter, node_rewriter
from theano.pytensor_internals.operations.tensor_rewrites import (
    compute_mul,
    is_1pexp,
    is_exp,
    is_mul,
    is_neg,
    parse_mul_tree,
    perform_sigm_times_exp,
    replace_leaf,
    simplify_mul,
)
from theano.rewriting.database import register_for_tags
from theano.tensor import inplace

__all__ = [
    "hard_sigmoid",
    "scalar_sigmoid",
    "sigmoid",
    "sigmoid_inplace",
    "softplus",
    "ultra_fast_sigmoid",
]

# Theano's tests read here that the rewrite is off; PyTensor always has it.
register_local_1msigmoid = False

sigmoid_inplace = inplace.sigmoid_inplace


def as_float(x: TensorLike) -> TensorVariable:
    """Make `x` a tensor of the dtype that a float function of it has."""
    x = pt.as_tensor_variable(x)
    return x.astype(sigmoid(x).dtype)


def hard_sigmoid(x: TensorLike) -> TensorVariable:
    """Approximate `sigmoid` by three straight lines: 0, then ``0.2 x + 0.5``, then 1.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    TensorVariable
        Of the shape of `x` and of a float dtype.
    """
    x = as_float(x)
    slope, shift = pt.constant(0.2, dtype=x.dtype), pt.constant(0.5, dtype=x.dtype)
    return pt.clip(x * slope + shift, 0, 1)


def ultra_fast_sigmoid(x: TensorLike) -> TensorVariable:
    """Approximate `sigmoid` without an exponential, to within 0.03.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    TensorVariable
        Of the shape of `x` and of a float dtype.
    """
    x = as_float(x)

    def number(value: float) -> TensorVariable:
        return pt.constant(value, dtype=x.dtype)

    half = abs(x) * number(0.5)
    near = number(1.5) * half / (number(1) + half)
    middle = number(0.935409070603099) + number(0.0458812946797165) * (half - number(1.7))
    height = pt.switch(half < 1.7, near, pt.switch(half < 3, middle, number(0.99505475368673)))
    return number(0.5) * (pt.sign(x) * height + number(1))


def _register_approximation(name: str, approximation) -> None:
    """Register the rewrite of sigmoids into an approximation under its own name only."""

    @node_rewriter([sigmoid])
    def approximate(fgraph, node):
        if node.op != sigmoid:
            return False
        replacement = approximation(node.inputs[0])
        copy_stack_trace(node.outputs, replacement)
        return [replacement]

    # Before operations are fused
    register_for_tags(name, dfs_rewriter(approximate), position=2.9)


_register_approximation("local_ultra_fast_sigmoid", ultra_fast_sigmoid)
_register_approximation("local_hard_sigmoid", hard_sigmoid)
