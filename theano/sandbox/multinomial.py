"""Turn uniform samples into samples of multinomial distributions."""

import numpy as np
import pytensor.tensor as pt
from pytensor.configdefaults import config
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.scalar.basic import as_scalar
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.shapes import shape_rule

__all__ = ["ChoiceFromUniform", "MultinomialFromUniform"]


class MultinomialFromUniform(Op):
    """Count the categories that uniform samples stand for.

    A sample stands for the first category at which the sum of the probabilities exceeds it. Row r
    of `pvals` gets the samples ``unis[c * rows + r]`` for each c below n.

    Parameters
    ----------
    odtype : str
        Dtype of the counts; ``auto`` is that of the probabilities.
    """

    __props__: tuple[str, ...] = ("odtype",)
    _auto_dtype: str | None = None

    def __init__(self, odtype: str):
        self.odtype = odtype

    def __str__(self):
        return f"{type(self).__name__}{{{self.odtype}}}"

    def make_node(self, pvals, unis, n=1):
        pvals = pt.as_tensor_variable(pvals)
        unis = pt.as_tensor_variable(unis)
        for name, variable, ndim in (("pvals", pvals, 2), ("unis", unis, 1)):
            if variable.ndim != ndim:
                raise NotImplementedError(
                    f"{type(self).__name__}: expected {name} of {ndim} dimensions, "
                    f"got {variable.type}"
                )
        dtype = self.odtype if self.odtype != "auto" else self._auto_dtype or pvals.dtype
        ones = [1 if one else None for one in pvals.type.broadcastable]
        return Apply(self, [pvals, unis, as_scalar(n)], [TensorType(dtype, shape=ones)()])

    def pullback(self, inputs, outputs, cotangents):
        # The counts are steps, and so are zero derivatives of the probabilities.
        zeros = [pt.zeros_like(pt.as_tensor_variable(value)) for value in inputs]
        discrete = pt.type.discrete_dtypes
        return [zero.astype(config.floatX) if zero.dtype in discrete else zero for zero in zeros]

    def pushforward(self, inputs, outputs, tangents):
        return [disconnected_type()]

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [input_shapes[0]]

    def perform(self, node, inputs, output_storage):
        pvals, unis, n = inputs[0], inputs[1], int(inputs[2])
        samples = self._samples_of_rows(pvals, unis, n)
        # Sums in float64, whatever the dtype, as in Theano.
        sums = pvals.cumsum(axis=1, dtype="float64")
        counts = np.zeros(pvals.shape, dtype=node.outputs[0].dtype)
        for uniform in samples:
            rows, categories = _first_above(sums, uniform)
            counts[rows, categories] += 1
        output_storage[0][0] = counts

    def _samples_of_rows(self, pvals: np.ndarray, unis: np.ndarray, n: int) -> np.ndarray:
        if len(unis) != len(pvals) * n:
            raise ValueError(
                f"{type(self).__name__}: expected {n} samples for each of {len(pvals)} rows, "
                f"got {len(unis)}"
            )
        return unis.reshape(n, len(pvals))


class ChoiceFromUniform(MultinomialFromUniform):
    """Choose columns of each row, each with its probability, as uniform samples select them.

    Parameters
    ----------
    odtype : str
        Dtype of the columns' numbers; ``auto`` is int64.
    replace : bool
        Whether a column may be chosen twice. Otherwise, after each choice, the probabilities
        of the others are scaled to a sum of 1.

    Returns
    -------
    matrix of shape (rows, n), -1 where the probabilities do not sum to the sample
    """

    __props__ = ("odtype", "replace")
    _auto_dtype = "int64"

    def __init__(self, odtype: str, replace: bool = False):
        super().__init__(odtype)
        self.replace = replace

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [(input_shapes[0][0], pt.tensor_from_scalar(node.inputs[2]).astype("int64"))]

    def perform(self, node, inputs, output_storage):
        pvals, unis, n = inputs[0], inputs[1], int(inputs[2])
        if n > pvals.shape[1]:
            raise ValueError(
                f"{type(self).__name__}: cannot sample {n} of {pvals.shape[1]} without replacement"
            )
        samples = self._samples_of_rows(pvals, unis, n)
        left = pvals.copy()
        chosen = np.full((len(pvals), n), -1, dtype=node.outputs[0].dtype)
        for column, uniform in enumerate(samples):
            sums = left.cumsum(axis=1, dtype="float64")
            rows, categories = _first_above(sums, uniform)
            chosen[rows, column] = categories
            if not self.replace:
                left[rows] = _without(left[rows], sums[rows], categories)
        output_storage[0][0] = chosen


def _first_above(sums: np.ndarray, uniform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the rows of `sums` with an element above `uniform`, and the first such column."""
    above = sums > uniform[:, None]
    rows = np.flatnonzero(above.any(axis=1))
    return rows, above[rows].argmax(axis=1) if above.shape[1] else rows


def _without(pvals: np.ndarray, sums: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """Take a category from each row and scale the others to a sum of 1.

    The sum is built in the order and the dtypes of Theano, so that samples stay the same: what
    is before the category in float64, then the rest one by one in the dtype of `pvals`.
    """
    rows = np.arange(len(pvals))
    before = (sums[rows, categories] - pvals[rows, categories]).astype(pvals.dtype)
    later = np.where(np.arange(pvals.shape[1]) > categories[:, None], pvals, 0)
    later[rows, categories] = before
    total = later.cumsum(axis=1, dtype=pvals.dtype)[:, -1:]
    pvals[rows, categories] = 0
    with np.errstate(invalid="ignore", divide="ignore"):
        # Nothing is left after the last category, nor asked for.
        return pvals / total
