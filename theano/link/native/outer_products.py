"""Matrix products outside loops, by the runtime that loops use and on its threads.

Another library's threads would go on spinning for a while and slow the next loop.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from pytensor.tensor.blas import Dot22, Gemm
from pytensor.tensor.math import Dot

from theano.link.native.runtime.load import symbol
from theano.link.native.scalar_types import FLOATS, SUFFIX

_REALS = {"float32": ctypes.c_float, "float64": ctypes.c_double}


def is_product(node: Any) -> bool:
    """Whether a node is a product of two matrices that the runtime can compute."""
    if not isinstance(node.op, Dot22 | Dot | Gemm):
        return False
    matrices = [v.type for v in node.inputs if v.type.ndim]
    dtype = node.outputs[0].type.dtype
    return dtype in FLOATS and all(
        kind.ndim == 2 and kind.dtype == dtype for kind in (*matrices, node.outputs[0].type)
    )


def product_thunk(node: Any, inputs: list[list], output: list, own: Callable) -> Callable:
    """A function that computes a product node.

    Parameters
    ----------
    inputs, output
        The cells in which the arrays lie.
    own
        Returns PyTensor's thunk, for what is rare here: an alpha that is not 1, unusual strides,
        sizes that do not match.
    """
    dtype = node.outputs[0].type.dtype
    size, pointer = ctypes.c_int64, ctypes.c_void_p
    kinds = [size] * 3 + [pointer, size, size] * 2 + [_REALS[dtype], pointer, size]
    function = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(symbol(f"tn_gemm_{SUFFIX[dtype]}"))
    own_thunk: list[Callable] = []

    def fall_back() -> None:
        if not own_thunk:
            own_thunk.append(own())
        own_thunk[0]()

    def multiply(a: Any, b: Any, beta: float, c: Any) -> bool:
        result = function(
            *(a.shape[0], b.shape[1], a.shape[1]),
            *(_address(a), *_strides(a)),
            *(_address(b), *_strides(b)),
            *(beta, _address(c), _strides(c)[0]),
        )
        return result == 0

    def dot() -> None:
        a, b = (cell[0] for cell in inputs)
        if a.shape[1] != b.shape[0] or not (_regular(a) and _regular(b)):
            return fall_back()
        c = np.empty((a.shape[0], b.shape[1]), dtype)
        if not multiply(a, b, 0.0, c):
            return fall_back()
        output[0] = c

    def gemm() -> None:
        c, alpha, a, b, beta = (cell[0] for cell in inputs)
        fits = a.shape[1] == b.shape[0] and c.shape == (a.shape[0], b.shape[1])
        if alpha != 1 or not fits or not (_regular(a) and _regular(b)):
            return fall_back()
        if not (node.op.inplace and _in_rows(c)):
            c = np.array(c, order="C")
        if not multiply(a, b, float(beta), c):
            return fall_back()
        output[0] = c

    return gemm if isinstance(node.op, Gemm) else dot


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _strides(array: np.ndarray) -> tuple[int, int]:
    rows, columns = array.strides
    return rows // array.itemsize, columns // array.itemsize


def _regular(array: np.ndarray) -> bool:
    return array.flags.aligned and not any(stride % array.itemsize for stride in array.strides)


def _in_rows(array: np.ndarray) -> bool:
    return (
        array.flags.aligned
        and array.flags.writeable
        and (array.shape[1] == 1 or array.strides[1] == array.itemsize)
        and array.strides[0] % array.itemsize == 0
    )
