"""Sparse matrices of random numbers, drawn from NumPy's global generator.

As in Theano, two calls with the same arguments give different numbers.
"""

from typing import Literal

import numpy as np
import scipy.sparse
from pytensor.gradient import disconnected_type, grad_undefined
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.type import discrete_dtypes, float_dtypes

from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.sparse.basic import as_sparse_variable, sampling_dot
from theano.sparse.type import SparseType

__all__ = [
    "Binomial",
    "Multinomial",
    "Poisson",
    "csc_dbinomial",
    "csc_fbinomial",
    "csr_dbinomial",
    "csr_fbinomial",
    "multinomial",
    "poisson",
    "sampling_dot",
]


def _undefined(op: Op, inputs, position: int):
    return grad_undefined(op, position, inputs[position], "a random count has no gradient")


class Poisson(Op):
    """Draw counts whose means are the stored elements of a sparse matrix."""

    __props__ = ()

    def make_node(self, x):
        x = as_sparse_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        drawn = inputs[0].copy()
        drawn.data = np.random.poisson(drawn.data).astype(drawn.dtype)
        drawn.eliminate_zeros()
        output_storage[0][0] = drawn

    def pullback(self, inputs, outputs, cotangents):
        return [_undefined(self, inputs, 0)]

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return input_shapes


poisson = Poisson()


class Binomial(Op):
    """Draw a sparse matrix of how many of `n` trials, each of probability `p`, succeed.

    Parameters
    ----------
    format : {'csr', 'csc'}
    dtype : str
    """

    __props__ = ("format", "dtype")

    def __init__(self, format: Literal["csr", "csc"], dtype: str):
        self.format = format
        self.dtype = dtype

    def make_node(self, n, p, shape):
        inputs = [as_tensor_variable(value) for value in (n, p, shape)]
        allowed = (discrete_dtypes, float_dtypes, discrete_dtypes)
        for name, value, dtypes in zip(("n", "p", "shape"), inputs, allowed, strict=True):
            if value.dtype not in dtypes:
                raise TypeError(f"Binomial: expected {name} of {dtypes}, got {value.type}")
        return Apply(self, inputs, [SparseType(self.format, self.dtype)()])

    def perform(self, node, inputs, output_storage):
        n, p, shape = inputs
        drawn = np.random.binomial(n, p, size=tuple(shape))
        matrix = getattr(scipy.sparse, f"{self.format}_matrix")
        output_storage[0][0] = matrix(drawn, dtype=self.dtype)

    def connection_pattern(self, node):
        return [[True], [True], [False]]

    def pullback(self, inputs, outputs, cotangents):
        return [_undefined(self, inputs, 0), _undefined(self, inputs, 1), disconnected_type()]

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [(node.inputs[2][0], node.inputs[2][1])]


csr_fbinomial = Binomial("csr", "float32")
csc_fbinomial = Binomial("csc", "float32")
csr_dbinomial = Binomial("csr", "float64")
csc_dbinomial = Binomial("csc", "float64")


class Multinomial(Op):
    """Draw, for each row of a csr matrix of probabilities, how often each category occurs."""

    __props__ = ()

    def make_node(self, n, p):
        n, p = as_tensor_variable(n), as_sparse_variable(p)
        return Apply(self, [n, p], [p.type()])

    def perform(self, node, inputs, output_storage):
        n, p = inputs
        if p.format != "csr":
            raise NotImplementedError(f"Multinomial: expected a csr matrix, got {p.format}")
        rows = p.shape[0]
        if n.ndim == 1 and len(n) != rows:
            raise ValueError(f"Multinomial: expected {rows} numbers of trials, got {len(n)}")
        drawn = p.copy()
        for row, trials in enumerate(np.broadcast_to(n, rows)):
            stored = slice(p.indptr[row], p.indptr[row + 1])
            drawn.data[stored] = np.random.multinomial(trials, p.data[stored])
        output_storage[0][0] = drawn

    def pullback(self, inputs, outputs, cotangents):
        return [_undefined(self, inputs, 0), _undefined(self, inputs, 1)]

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [input_shapes[1]]


multinomial = Multinomial()
