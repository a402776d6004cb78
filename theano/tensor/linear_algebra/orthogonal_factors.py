"""The factors Q and R of a matrix, whose gradient is one expression for matrices of any shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Variable
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import concatenate, tril, zeros_like
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.linalg import QR as PyTensorQR
from pytensor.tensor.linalg import solve_triangular
from pytensor.tensor.math import le, minimum
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor, known_tensors
from theano.raise_op import Assert

Mode = Literal["full", "r", "economic", "raw"]

_TALL_AND_COMPLETE = Assert(
    "the gradient of qr(mode='complete'): expected no more rows than columns, for the last columns"
    " of Q are not determined; use mode='reduced'"
)


class QR(PyTensorQR):
    """PyTensor's factors: in `r` mode, too, R has as many rows as the matrix.

    PyTensor's gradient chooses lazily, by the shape, between two expressions, which a loop's step and
    a stack of matrices cannot.
    """

    def pullback(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        cotangents: Sequence[Variable],
    ) -> list[Variable]:
        """Return the first of two blocks of columns, and what those columns determine of the others.

        H.-J. Liao, J.-G. Liu, L. Wang and T. Xiang, Differentiable Programming Tensor Networks,
        arXiv:1903.09650, appendix A. The second block may be empty.
        """
        a = known_tensor(inputs[0])
        q, r, of_q, of_r = self._reduced(a, outputs, cotangents)
        count = r.shape[0]
        first, second = r[:, :count], None
        of_first = None if of_r is None else of_r[:, :count]
        if not _is_known_tall(a) and of_r is not None:
            second = of_r[:, count:]
            through_others = a[:, count:] @ second.T
            of_q = through_others if of_q is None else of_q + through_others
        inner = 0
        if of_first is not None:
            inner = first @ of_first.T
        if of_q is not None:
            inner = inner - of_q.T @ q
        symmetric = tril(inner) + tril(inner, k=-1).T
        side = q @ symmetric if of_q is None else of_q + q @ symmetric
        of_columns = solve_triangular(first, side.T).T
        if second is not None:
            of_columns = concatenate([of_columns, q @ second], axis=1)
        elif not _is_known_tall(a):
            of_columns = concatenate([of_columns, zeros_like(a[:, count:])], axis=1)
        return [of_columns]

    def _reduced(
        self, a: TensorVariable, outputs: Sequence[Variable], cotangents: Sequence[Variable]
    ) -> tuple[TensorVariable, TensorVariable, TensorVariable | None, TensorVariable | None]:
        """Q, R and their cotangents as of the reduced mode; None: there is none."""
        if self.mode == "r":
            q, r = known_tensors(QR(mode="economic")(a))
            return q, r, None, known_tensor(cotangents[0])[: r.shape[0]]
        q, r = known_tensors(outputs)
        of_q, of_r = (
            None if isinstance(c.type, DisconnectedType) else known_tensor(c) for c in cotangents
        )
        if self.mode == "economic":
            return q, r, of_q, of_r
        count = minimum(*a.shape)
        if of_q is not None:
            q = known_tensor(_TALL_AND_COMPLETE(q, le(*a.shape)))
            of_q = of_q[:, :count]
        return q[:, :count], r[:count], of_q, None if of_r is None else of_r[:count]


def _is_known_tall(a: TensorVariable) -> bool:
    rows, columns = a.type.shape
    return rows is not None and columns is not None and rows >= columns


def orthogonal_factors(a: TensorLike, mode: str) -> Any:
    """Q and R, or only R, in one of PyTensor's modes; stacks of matrices are taken one by one."""
    # which refuses other modes
    return Blockwise(QR(mode=cast("Mode", mode)))(a)
