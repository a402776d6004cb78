"""Logarithms of products as sums of logarithms, in the dtype of the product.

PyTensor's rewrite takes the logarithms of the factors in their own dtype: of a product in float64
of float32 numbers it gives no more than seven digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import cast
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import Prod, Sum, log

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace
from theano.rewriting.rewrites.of_pytensor.guarded import Guarded


class InDtypeOfProduct(Guarded):
    """A rewrite of a logarithm of a product, which gives the digits that the product has."""

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        """Return what the rewrite gives, with logarithms in the dtype of the result."""
        replaced = super().transform(fgraph, node, *args, **kwargs)
        total = _sum_of_logarithms(replaced[0]) if replaced else None
        dtype = node.outputs[0].type.dtype  # type: ignore[attr-defined]
        if total is None or total.type.dtype == dtype:
            return replaced
        (factors,) = total.owner.inputs[0].owner.inputs
        result = log(cast(factors, dtype)).sum(axis=total.owner.op.axis)
        copy_stack_trace(node.outputs, result)
        return [result]


def real_if_its_factors_are(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether a product is not of complex numbers, of which it forgets the phase."""
    (product,) = node.inputs
    while product.owner is not None and is_a(product.owner.op, Elemwise):
        product = product.owner.inputs[0]
    if product.owner is None or not is_a(product.owner.op, Prod):
        return True
    kinds = {np.dtype(v.type.dtype).kind == "c" for v in (product, *product.owner.inputs)}
    return len(kinds) == 1


def _sum_of_logarithms(made: Any) -> Any:
    """Return the sum that was made, without the cast to the dtype of the result; else None."""
    while made.owner is not None and is_a(made.owner.op, Elemwise) and len(made.owner.inputs) == 1:
        (made,) = made.owner.inputs
    if made.owner is None or not is_a(made.owner.op, Sum):
        return None
    terms = made.owner.inputs[0].owner
    return made if terms is not None and terms.op == log else None
