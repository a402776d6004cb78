"""The operation that draws from MRG31k3p states, and the one that moves a state."""

import math
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensors
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, dfs_rewriter, node_rewriter
from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.rewriting.database import FAST_RUN_TAG, register_for_tags
from theano.sandbox import mrg31k3p
from theano.tensor.constants import extract_constant

__all__ = ["DotModulo", "matVecModM", "mrg_uniform", "mrg_uniform_base"]


class mrg_uniform_base(Op):
    """Draw numbers between 0 and 1 from a matrix of states, and give the next states.

    Parameters
    ----------
    output_type : TensorType
        Dtype and number of dimensions of the samples.
    inplace : bool
        Whether the next states overwrite the states.
    """

    __props__ = ("output_type", "inplace")

    def __init__(self, output_type: TensorType, inplace: bool = False):
        self.output_type = output_type
        self.inplace = inplace
        if inplace:
            self.destroy_map = {0: [0]}

    def __str__(self):
        where = "inplace" if self.inplace else "no_inplace"
        return f"{type(self).__name__}{{{self.output_type},{where}}}"

    def connection_pattern(self, node):
        """Nothing in the samples depends smoothly on the states or the size."""
        return [[False, False], [False, False]]

    def pullback(self, inputs, outputs, cotangents):
        return [disconnected_type() for _ in inputs]

    def pushforward(self, inputs, outputs, tangents):
        return [disconnected_type() for _ in outputs]


class mrg_uniform(mrg_uniform_base):
    """`mrg_uniform_base` on the processor: the i-th draw comes from row ``i % streams``.

    `MRG_RandomStreams.uniform` is the way to use it.
    """

    @classmethod
    def new(cls, rstate: Variable, ndim: int | None, dtype: str, size: Any) -> list[TensorVariable]:
        """Give the variables of the next states and of the samples.

        Parameters
        ----------
        rstate : int32 matrix with 6 columns
            One state in each row.
        ndim : int or None
            How many dimensions the samples have, where `size` does not give.
        dtype : str
            float16, float32 or float64.
        size : integer vector
        """
        size = pt.as_tensor_variable(size, ndim=1)
        if ndim is None:
            ndim = pt.get_vector_length(size)
        return known_tensors(cls(TensorType(dtype, shape=(None,) * ndim))(rstate, size))

    def make_node(self, rstate, size):
        rstate = pt.as_tensor_variable(rstate)
        size = pt.as_tensor_variable(size, ndim=1)
        if size.dtype not in pt.type.integer_dtypes:
            # Without elements, NumPy makes a vector of floats.
            size = size.astype("int64")
        ones = [extract_constant(size[axis]) for axis in range(self.output_type.ndim)]
        shape = [1 if not isinstance(one, pt.Variable) and one == 1 else None for one in ones]
        output_type = TensorType(self.output_type.dtype, shape=shape)
        return Apply(self, [rstate, size], [rstate.type(), output_type()])

    @shape_rule
    def infer_shape(self, node, input_shapes):
        size = node.inputs[1]
        return [input_shapes[0], [size[axis] for axis in range(self.output_type.ndim)]]

    def perform(self, node, inputs, output_storage):
        states, size = inputs
        shape = tuple(int(length) for length in size)
        dtype = self.output_type.dtype
        if len(shape) != self.output_type.ndim:
            raise ValueError(
                f"mrg_uniform: expected a size of {self.output_type.ndim} lengths, got {shape}"
            )
        if states.ndim != 2 or states.shape[1] != 6 or states.dtype != np.int32:
            raise ValueError(
                "mrg_uniform: expected int32 states of 6 columns, "
                f"got {states.dtype} of shape {states.shape}"
            )
        count = math.prod(shape)
        if count > mrg31k3p.M1:
            raise ValueError(f"mrg_uniform: expected at most 2**31 - 1 samples, got size {shape}")
        if not self.inplace:
            states = states.copy()
        sampled = mrg31k3p.random_numbers(mrg31k3p.next_samples(states, count), dtype)
        output_storage[0][0] = states
        output_storage[1][0] = sampled.reshape(shape)


@node_rewriter([mrg_uniform_base], inplace=True)
def _sample_in_place(fgraph, node):
    if node.op.inplace:
        return False
    sampled = type(node.op)(node.op.output_type, inplace=True).make_node(*node.inputs).outputs
    copy_stack_trace(node.outputs, sampled)
    return sampled


register_for_tags(
    "random_make_inplace_mrg",
    dfs_rewriter(_sample_in_place, ignore_newtrees=True),
    FAST_RUN_TAG,
    "inplace",
    position=99,
)


def matVecModM(A: np.ndarray, s: np.ndarray, m: int) -> np.ndarray:
    """Return the product of an int64 matrix and a vector, modulo `m`, without overflow."""
    return (((A * np.asarray(s, dtype="int64")) % m).sum(1) % m).astype(np.int32)


class DotModulo(Op):
    """Two products modulo a number, `matVecModM`, one after the other in one vector."""

    __props__ = ()

    def make_node(self, A, s, m, A2, s2, m2):
        inputs = [pt.as_tensor_variable(value) for value in (A, s, m, A2, s2, m2)]
        return Apply(self, inputs, [inputs[1].type()])

    def perform(self, node, inputs, output_storage):
        halves = [matVecModM(*inputs[:3]), matVecModM(*inputs[3:])]
        output_storage[0][0] = np.concatenate(halves)
