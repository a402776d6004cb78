"""Reductions of a repeated value that are a function of the value and of how often it is repeated.

Of a value repeated no times PyTensor gives what it gives of the value: a largest number, where there
is none, or nan for the sum of no infinities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import Alloc
from pytensor.tensor.math import Prod, Sum

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.operations.tensor_rewrites import is_length_of
from theano.rewriting.rewrites.of_pytensor.guards import same_length


def reduced_from_value(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether a reduction of a filled array is right of one without elements, or has some."""
    filled: Any = node.inputs[0]
    if filled.owner is None or not is_a(filled.owner.op, Alloc):
        return False
    if not _fits(graph, filled):
        return False
    value, result = filled.owner.inputs[0], node.outputs[0]
    if is_a(node.op, Sum) or is_a(node.op, Prod):
        # the power of no numbers is one, of infinities, too
        never_matters = is_a(node.op, Prod) or _is_finite(value)
        return _keeps_digits(value.type.dtype, result.type.dtype) and (  # type: ignore[attr-defined]
            never_matters or _has_elements(node)
        )
    return _has_elements(node)


def _fits(graph: FunctionGraph, filled: Any) -> bool:
    """Return whether what is filled in is known to be as long where it is not repeated."""
    value, *lengths = filled.owner.inputs
    shapes, added = getattr(graph, "shape_feature", None), len(lengths) - value.type.ndim
    return all(
        repeated
        or same_length(shapes, value, axis, filled, added + axis)
        or is_length_of(lengths[added + axis], value, axis, shape_feature=shapes)
        for axis, repeated in enumerate(value.type.broadcastable)
    )


def _keeps_digits(of_value: str, of_result: str) -> bool:
    return np.dtype(of_value).kind not in "fc" or of_value == of_result


def _is_finite(value: Any) -> bool:
    if value.type.dtype.startswith(("int", "uint", "bool")):
        return True
    return is_a(value, Constant) and bool(np.isfinite(value.data).all())


def _has_elements(node: Apply) -> bool:
    """Return whether the axes that are reduced are known to have elements."""
    shape = node.inputs[0].type.shape  # type: ignore[attr-defined]
    axes = node.op.axis  # type: ignore[attr-defined]
    lengths = [shape[axis] for axis in (range(len(shape)) if axes is None else axes)]
    return all(lengths)
