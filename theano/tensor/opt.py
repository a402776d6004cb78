"""Run-time assertions and the registration of rewrites, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.graph.rewriting.basic import copy_stack_trace, in2out, out2in
from pytensor.raise_op import Assert, assert_op
from pytensor.tensor.basic import MakeVector, make_vector
from pytensor.tensor.exceptions import NotScalarConstantError, ShapeError
from pytensor.tensor.rewriting.basic import (
    register_canonicalize,
    register_specialize,
    register_stabilize,
    register_uncanonicalize,
    register_useless,
)
from pytensor.tensor.rewriting.shape import ShapeFeature, ShapeOptimizer
from pytensor.tensor.shape import Shape, Shape_i

assert_ = assert_op
