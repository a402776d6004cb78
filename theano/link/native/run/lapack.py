"""LAPACK's and BLAS's functions for the runtime: those that SciPy has for Cython, by address."""

from __future__ import annotations

import ctypes
import threading
from functools import cache
from types import ModuleType

from theano.link.native.runtime.load import library

# in the order of TN_LAPACK in runtime.h
_FUNCTIONS = (
    "potrf",
    "trsm",
    "gesv",
    "posv",
    "getrf",
    "syevr",
    "gees",
    "trsyl",
    "geqrf",
    "orgqr",
    "gesdd",
)
_OF_BLAS = ("trsm",)
_PRECISIONS = ("s", "d")

_lock = threading.RLock()


@cache
def offer_lapack() -> None:
    """Register with the runtime, once, whom to ask when it needs the first of these functions.

    To import SciPy's linear algebra takes a fifth of a second, which most programs never need.
    """
    library().tn_find_lapack_by(_find)


@ctypes.CFUNCTYPE(None)
def _find() -> None:
    from scipy.linalg import cython_blas, cython_lapack

    addresses = [
        _address(cython_blas if name in _OF_BLAS else cython_lapack, precision + name)
        for precision in _PRECISIONS
        for name in _FUNCTIONS
    ]
    with _lock:
        library().tn_set_lapack((ctypes.c_void_p * len(addresses))(*addresses))


def _address(module: ModuleType, name: str) -> int:
    """Return the address of a function that a module of Cython exports."""
    capsule = module.__pyx_capi__[name]
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer_of(capsule, name_of(capsule))
