"""The loops in C of NumPy's and SciPy's functions of arrays, which SciPy's samplers go through.

Their last bits are those of no other library. A ufunc keeps the addresses of its loops in an object whose
layout is part of NumPy's interface for C (numpy/ufuncobject.h); each is tried out before it is used.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

__all__ = ["EINSUM", "FACTORS", "LOOPS", "loop_of", "missing_loops"]


class _Ufunc(ctypes.Structure):
    """``PyUFuncObject``, as far as the types of its loops."""

    _fields_ = (
        ("object", ctypes.c_char * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_char_p),
    )


_Loop = ctypes.CFUNCTYPE(
    None,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_ssize_t),
    ctypes.POINTER(ctypes.c_ssize_t),
    ctypes.c_void_p,
)

# in the order of tn_numpy in generators.inc: the ufunc's module, and its name
LOOPS = {
    "tan": "numpy",
    "log": "numpy",
    "power": "numpy",
    "expm1": "scipy.special",
    "log1p": "scipy.special",
    "_cauchy_ppf": "scipy.special._ufuncs",
    "cholesky_lo": "numpy.linalg._umath_linalg",
    "eigh_lo": "numpy.linalg._umath_linalg",
    "svd_f": "numpy.linalg._umath_linalg",
}
# PyTensor's name of a factor of a matrix -> the ufunc
FACTORS = {"cholesky": "cholesky_lo", "eigh": "eigh_lo", "svd": "svd_f"}
# the name, among those of loops, of sums of products in the order of numpy.einsum
EINSUM = "einsum"


@cache
def loop_of(name: str) -> tuple[int, int]:
    """Return the addresses of a ufunc's loop in double precision and of its data; 0 where there is none."""
    try:
        module = __import__(LOOPS[name], fromlist=[name])
        ufunc = getattr(module, name)
        types = "d" * ufunc.nin + "->" + "d" * ufunc.nout
        position = ufunc.types.index(types)
    except (ImportError, AttributeError, ValueError):
        return 0, 0
    seen = _Ufunc.from_address(id(ufunc))
    known = ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes, ufunc.__name__.encode()
    if (seen.nin, seen.nout, seen.nargs, seen.ntypes, seen.name) != known:
        return 0, 0
    function, data = seen.functions[position], seen.data[position] if seen.data else None
    same = _gives_the_same if ufunc.signature is None else _gives_the_same_of_matrices
    if not function or not same(ufunc, function, data):
        return 0, 0
    return function, data or 0


def missing_loops(names: tuple[str, ...]) -> str:
    """Return why a draw cannot go through functions of these names; empty if it can."""
    missing = [
        name for name in names if not (sums_are_known() if name == EINSUM else loop_of(name)[0])
    ]
    if not missing:
        return ""
    return f"no loop for {', '.join(missing)} was found in NumPy {np.__version__} and SciPy"


def _gives_the_same(ufunc: Any, function: int, data: int | None) -> bool:
    """Return whether a loop gives a ufunc's own results, for many elements at a time and for one."""
    generator = np.random.default_rng(1)
    # as samplers call them: of numbers from 0 to 1, and powers of any exponent
    given = [generator.uniform(size=517) for _ in range(ufunc.nin)]
    given[0][:2] = 2.0**-53, 1 - 2.0**-53
    if ufunc.nin == 2:
        given[1] = 8 * given[1] - 4
    if ufunc.nin == 3:
        given[1:] = np.zeros(517), np.ones(517)
    with np.errstate(all="ignore"):
        expected = ufunc(*given)
    results = [np.empty(517), np.empty(517)]
    for at_a_time, result in zip((517, 1), results, strict=True):
        for first in range(0, 517, at_a_time):
            arrays = [array[first:] for array in (*given, result)]
            pointers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
            strides = (ctypes.c_ssize_t * len(arrays))(*(a.strides[0] for a in arrays))
            _Loop(function)(pointers, (ctypes.c_ssize_t * 1)(at_a_time), strides, data)
    return all(expected.tobytes() == result.tobytes() for result in results)


def _gives_the_same_of_matrices(ufunc: Any, function: int, data: int | None) -> bool:
    """Return whether a loop over matrices gives a ufunc's own results."""
    n = 5
    rows = np.random.default_rng(1).normal(size=(n, n))
    matrix = rows @ rows.T
    expected = ufunc(matrix)
    expected = expected if isinstance(expected, tuple) else (expected,)
    arrays = [matrix, *map(np.empty_like, expected)]
    pointers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
    steps = [0] * len(arrays) + [stride for array in arrays for stride in array.strides]
    lengths = (ctypes.c_ssize_t * 4)(1, n, n, n)
    _Loop(function)(pointers, lengths, (ctypes.c_ssize_t * len(steps))(*steps), data)
    return all(a.tobytes() == b.tobytes() for a, b in zip(expected, arrays[1:], strict=True))


@cache
def sums_are_known() -> bool:
    """Return whether einsum sums products with vectors as normal_rows.inc does."""
    generator = np.random.default_rng(1)
    for n in (1, 2, 3, 7, 8, 9, 16, 31, 100):
        rows, vector = generator.normal(size=(n, n)), generator.normal(size=n)
        expected = np.einsum("...ij,...j->...i", rows, vector, optimize=False)
        products = np.zeros((n, -(-n // 2) * 2))
        products[:, :n] = rows * vector
        pairs = products.reshape(n, -1, 2)
        sums = np.zeros((n, 2))
        whole = n // 8 * 4
        order = [k + j for k in range(0, whole, 4) for j in (3, 2, 1, 0)]
        for k in [*order, *range(whole, pairs.shape[1])]:
            sums += pairs[:, k]
        if (sums[:, 0] + sums[:, 1]).tobytes() != expected.tobytes():
            return False
    return True
