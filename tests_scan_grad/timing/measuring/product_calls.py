"""Products by this package's runtime, called as quickly as other libraries' bindings call theirs.

`ctypes` converts each argument again: eleven take 0.6 microseconds more than `numpy.dot` takes for all of its
own work, an eighth of a product of 64 x 64 x 64. Here C passes them on from a structure.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tests_scan_grad.native.runtime import runtime_calls
from tests_scan_grad.timing.measuring.c_code import C_TYPES, compiled
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.runtime.load import symbol

PROGRAM = """
#include <stdint.h>
struct product {
    void *function;
    int64_t m, n, k;
    const REAL *a;
    int64_t a_strides[2];
    const REAL *b;
    int64_t b_strides[2];
    REAL *c;
    int64_t c_row_stride, panels;
};
void multiply(const struct product *p)
{
    void (*gemm)(int64_t, int64_t, int64_t, const REAL *, int64_t, int64_t, const REAL *, int64_t, int64_t,
                 REAL *, int64_t) = p->function;
    gemm(p->m, p->n, p->k, p->a, p->a_strides[0], p->a_strides[1], p->b, p->b_strides[0], p->b_strides[1],
         p->c, p->c_row_stride);
}
void multiply_packed(const struct product *p)
{
    void (*gemm)(int64_t, int64_t, int64_t, const REAL *, int64_t, int64_t, const REAL *, REAL, REAL *,
                 int64_t, int64_t, int64_t) = p->function;
    gemm(p->m, p->n, p->k, p->a, p->a_strides[0], p->a_strides[1], p->b, 0, p->c, p->c_row_stride, 0,
         p->panels);
}
"""


class _Product(ctypes.Structure):
    """The structure of the C program."""

    _fields_ = (
        ("function", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("m", "n", "k")),
        ("a", ctypes.c_void_p),
        ("a_strides", ctypes.c_int64 * 2),
        ("b", ctypes.c_void_p),
        ("b_strides", ctypes.c_int64 * 2),
        ("c", ctypes.c_void_p),
        ("c_row_stride", ctypes.c_int64),
        ("panels", ctypes.c_int64),
    )


def multiplication(a: np.ndarray, b: np.ndarray) -> Callable[[], np.ndarray]:
    """Return a function that computes the product of two matrices as they lie in memory."""
    return _call("multiply", "tn_gemm", a, b, b, b.shape[1])


def packed_multiplication(a: np.ndarray, b: np.ndarray) -> Callable[[], np.ndarray]:
    """Return a function that computes the product with a matrix that is packed beforehand."""
    return _call("multiply_packed", "tn_gemm_packed", a, b, runtime_calls.pack(b), b.shape[1])


def _call(
    name: str, of_runtime: str, a: np.ndarray, b: np.ndarray, read: np.ndarray, columns: int
) -> Callable[[], np.ndarray]:
    dtype = str(a.dtype)
    out = np.empty((len(a), columns), a.dtype)
    product = _Product(
        function=symbol(f"{of_runtime}_{SUFFIX[dtype]}"),
        m=len(a),
        n=columns,
        k=a.shape[1],
        a=a.ctypes.data,
        a_strides=_strides(a),
        b=read.ctypes.data,
        b_strides=_strides(b),
        c=out.ctypes.data,
        c_row_stride=columns,
        panels=-(-columns // runtime_calls.panel_width(dtype)),
    )
    function, given = getattr(_library(dtype), name), ctypes.byref(product)
    function.restype = None

    def call() -> np.ndarray:
        function(given)
        return out

    # their addresses are in the structure
    call.reads = a, read  # type: ignore[attr-defined]
    return call


def _strides(array: np.ndarray) -> Any:
    return (ctypes.c_int64 * 2)(*(stride // array.itemsize for stride in array.strides))


@functools.cache
def _library(dtype: str) -> ctypes.CDLL:
    return compiled(PROGRAM, f"-DREAL={C_TYPES[dtype]}")
