"""Rewrites of tensor expressions, their registration, and what they make, by Theano 1.0's names.

Each rewrite is asked as Theano's were, ``rewrite.transform(node)``; what it does is PyTensor's.
"""
# ruff: noqa: F401 -- this file re-exports

from pytensor.tensor.basic import MakeVector, make_vector
from pytensor.tensor.exceptions import ShapeError
from pytensor.tensor.shape import Shape, Shape_i

from theano.gof.opt import copy_stack_trace
from theano.gof.rewriters.graph_rewriters import in2out, out2in
from theano.gof.rewriters.local_rewriters import LocalOptGroup, OfPyTensor
from theano.gof.rewriters.rewrite_names import NEW_NAMES
from theano.pytensor_internals.graphs.rewriting import NodeRewriter
from theano.pytensor_internals.operations.tensor import get_canonical_form_slice
from theano.pytensor_internals.operations.tensor_rewrites import AlgebraicCanonizer as Canonizer
from theano.pytensor_internals.operations.tensor_rewrites import (
    FusionOptimizer,
    InplaceElemwiseOptimizer,
    ShapeOptimizer,
    UnShapeOptimizer,
    add_calculate,
    apply_local_dimshuffle_lift,
    attempt_distribution,
    basic,
    broadcasted_by,
    check_for_x_over_absX,
    distribute_greedy,
    elemwise,
    is_dimshuffle_useless,
    math,
    mul_calculate,
    register_useless,
    scalarconsts_rest,
    shape,
    subtensor,
    subtensor_lift,
)
from theano.raise_op import Assert, assert_op
from theano.rewriting.lazy_shapes import LazyShapeFeature as ShapeFeature
from theano.tensor.constants import (
    NotScalarConstantError,
    extract_constant,
    get_scalar_constant_value,
)
from theano.tensor.rewrite_registration import (
    register_canonicalize,
    register_specialize,
    register_specialize_device,
    register_stabilize,
    register_uncanonicalize,
)

assert_ = assert_op

_HOMES = (basic, elemwise, math, shape, subtensor, subtensor_lift)


def _rewrites() -> dict[str, NodeRewriter]:
    """Return PyTensor's rewrites of one application by their names, and by Theano's."""
    by_name = {
        name: value
        for home in _HOMES
        for name, value in vars(home).items()
        if isinstance(value, NodeRewriter)
    }
    found: dict[str, NodeRewriter] = {
        name: OfPyTensor(rewrite, name) for name, rewrite in by_name.items()
    }
    for name, new_names in NEW_NAMES.items():
        parts = [by_name[new_name] for new_name in new_names if new_name in by_name]
        if parts:
            rewrite = parts[0] if len(parts) == 1 else LocalOptGroup(*parts)
            found[name] = OfPyTensor(rewrite, name)
    return found


_BY_NAME = _rewrites()
globals().update(_BY_NAME)

mul_canonizer = in2out(
    LocalOptGroup(_BY_NAME["local_mul_canonizer"], _BY_NAME["local_fill_sink"]),
    name="mul_canonizer_groups",
)
add_canonizer = in2out(
    LocalOptGroup(_BY_NAME["local_add_canonizer"], _BY_NAME["local_fill_sink"]),
    name="add_canonizer_group",
)
topo_constant_folding = in2out(
    _BY_NAME["constant_folding"], ignore_newtrees=True, name="topo_constant_folding"
)
