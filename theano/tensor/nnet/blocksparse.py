"""Products with some of the blocks of a matrix, chosen for each example."""

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import grad_undefined
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor import TensorLike
from pytensor.tensor.type import discrete_dtypes
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, dfs_rewriter, node_rewriter
from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.rewriting.database import FAST_RUN_TAG, register_for_tags

__all__ = [
    "SparseBlockGemv",
    "SparseBlockOuter",
    "sparse_block_dot",
    "sparse_block_gemv",
    "sparse_block_gemv_inplace",
    "sparse_block_outer",
    "sparse_block_outer_inplace",
]


class _Added(Op):
    """The sum of products that is added to its first input, or to a copy of it."""

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False):
        self.inplace = inplace
        if inplace:
            self.destroy_map = {0: [0]}

    def _tensors(self, ranks: dict[str, int], values: tuple) -> list[TensorVariable]:
        tensors = [pt.as_tensor_variable(value) for value in values]
        for (name, rank), tensor in zip(ranks.items(), tensors, strict=True):
            if tensor.ndim != rank:
                raise TypeError(f"{self}: expected {name} of {rank} dimensions, got {tensor.type}")
            if name.endswith("Idx") and tensor.dtype not in discrete_dtypes:
                raise TypeError(f"{self}: expected integers in {name}, got {tensor.type}")
        return tensors

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [input_shapes[0]]


class SparseBlockGemv(_Added):
    """Add products of blocks of a matrix with blocks of vectors: ``o[j] += h[i] . W[i, j]``.

    Parameters
    ----------
    inplace : bool
        Whether the result takes the memory of `o`.
    """

    def make_node(self, o, W, h, inputIdx, outputIdx):
        """Apply it.

        Parameters
        ----------
        o : tensor of shape (batch, output blocks used, output size)
        W : tensor of shape (input blocks, output blocks, input size, output size)
        h : tensor of shape (batch, input blocks used, input size)
        inputIdx, outputIdx : integer matrices of shape (batch, blocks used)
            Which blocks.
        """
        ranks = {"o": 3, "W": 4, "h": 3, "inputIdx": 2, "outputIdx": 2}
        inputs = self._tensors(ranks, (o, W, h, inputIdx, outputIdx))
        return Apply(self, inputs, [inputs[0].type()])

    def perform(self, node, inputs, output_storage):
        o, w, h, input_idx, output_idx = inputs
        blocks = w[input_idx[:, :, None], output_idx[:, None, :]]
        product = np.einsum("bik,bijkl->bjl", h, blocks)
        output_storage[0][0] = np.add(o, product, out=o if self.inplace else None, dtype=o.dtype)

    def pullback(self, inputs, outputs, cotangents):
        _o, w, h, input_idx, output_idx = inputs
        (g,) = cotangents
        turned = w.dimshuffle(1, 0, 3, 2)
        return [
            g,
            sparse_block_outer(pt.zeros_like(w), h, g, input_idx, output_idx),
            sparse_block_gemv(pt.zeros_like(h), turned, g, output_idx, input_idx),
            grad_undefined(self, 3, input_idx, "it chooses blocks"),
            grad_undefined(self, 4, output_idx, "it chooses blocks"),
        ]


class SparseBlockOuter(_Added):
    """Add outer products to blocks of a matrix: ``o[xIdx[i], yIdx[j]] += alpha x[i] y[j]``."""

    def make_node(self, o, x, y, xIdx, yIdx, alpha=None):
        """Apply it.

        Parameters
        ----------
        o : tensor of shape (x blocks, y blocks, x size, y size)
        x, y : tensors of shape (batch, blocks used, size)
        xIdx, yIdx : integer matrices of shape (batch, blocks used)
            Which blocks.
        alpha : scalar, optional
            1 if it is not given.
        """
        if alpha is None:
            alpha = np.float32(1)
        ranks = {"o": 4, "x": 3, "y": 3, "xIdx": 2, "yIdx": 2, "alpha": 0}
        inputs = self._tensors(ranks, (o, x, y, xIdx, yIdx, alpha))
        return Apply(self, inputs, [inputs[0].type()])

    def perform(self, node, inputs, output_storage):
        o, x, y, x_idx, y_idx, alpha = inputs
        total = o if self.inplace else o.copy()
        products = alpha * np.einsum("bik,bjl->bijkl", x, y)
        # Unlike +=, it adds to a block as often as the block is chosen.
        np.add.at(total, (x_idx[:, :, None], y_idx[:, None, :]), products.astype(o.dtype))
        output_storage[0][0] = total


sparse_block_gemv = SparseBlockGemv(False)
sparse_block_gemv_inplace = SparseBlockGemv(True)
sparse_block_outer = SparseBlockOuter(False)
sparse_block_outer_inplace = SparseBlockOuter(True)


@node_rewriter([SparseBlockGemv, SparseBlockOuter], inplace=True)
def _add_in_place(fgraph, node):
    if node.op.inplace:
        return False
    added = type(node.op)(inplace=True).make_node(*node.inputs).outputs
    copy_stack_trace(node.outputs, added)
    return added


register_for_tags(
    "inplace_blocksparse",
    dfs_rewriter(_add_in_place, ignore_newtrees=True),
    FAST_RUN_TAG,
    "inplace",
    position=60,
)


def sparse_block_dot(
    W: Any, h: Any, inputIdx: Any, b: TensorLike, outputIdx: Any
) -> TensorVariable:
    """Multiply blocks of vectors with blocks of a matrix, and add a bias.

    Parameters
    ----------
    W : tensor of shape (input blocks, output blocks, input size, output size)
    h : tensor of shape (batch, input blocks used, input size)
        Or without the first dimension, as are the next two then.
    inputIdx : integer matrix of shape (batch, input blocks used)
    b : matrix of shape (output blocks, output size)
    outputIdx : integer matrix of shape (batch, output blocks used)

    Returns
    -------
    tensor of shape (batch, output blocks used, output size)
        ``sum over i of h[i] . W[inputIdx[i], outputIdx[j]]``, plus ``b[outputIdx[j]]``.
    """
    W, h, b = (pt.as_tensor_variable(value) for value in (W, h, b))
    inputIdx, outputIdx = pt.as_tensor_variable(inputIdx), pt.as_tensor_variable(outputIdx)
    if not inputIdx.ndim == outputIdx.ndim == h.ndim - 1:
        raise TypeError(
            "sparse_block_dot: expected inputIdx and outputIdx of one dimension less than h, "
            f"got {inputIdx.type}, {outputIdx.type} and {h.type}"
        )
    if h.ndim == 2:
        h, inputIdx, outputIdx = (pt.shape_padleft(value) for value in (h, inputIdx, outputIdx))
    return known_tensor(sparse_block_gemv(b.take(outputIdx, axis=0), W, h, inputIdx, outputIdx))
