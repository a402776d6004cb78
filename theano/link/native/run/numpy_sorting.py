"""NumPy's functions that sort and search, for the runtime: by address, out of NumPy's table for C."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

from theano.link.native.ir.scalar_types import DTYPES
from theano.link.native.runtime.load import library

# where functions are in the table that `_ARRAY_API` is (numpy/__multiarray_api.h)
_DESCRIPTION_OF_TYPE, _FUNCTIONS_OF_TYPE = 45, 365
# TN_ORDER_TYPES of runtime.h
_TYPES = 16
# of the three ways to sort that there are
_FASTEST, _STABLE = 0, 2


class _FunctionsOfType(ctypes.Structure):
    """``PyArray_ArrFuncs`` of NumPy, as far as it is read here."""

    _fields_ = [
        ("casts", ctypes.c_void_p * 21),
        ("others", ctypes.c_void_p * 5),
        ("argmax", ctypes.c_void_p),
        ("more", ctypes.c_void_p * 6),
        ("sort", ctypes.c_void_p * 3),
        ("argsort", ctypes.c_void_p * 3),
    ]


@cache
def offer_order() -> None:
    """Register with the runtime, once, where NumPy's functions are."""
    functions = {np.dtype(name).num: _functions_of(np.dtype(name).num) for name in DTYPES}
    table: list[int | None] = []
    for one in (
        lambda of: of.sort[_FASTEST],
        lambda of: of.sort[_STABLE],
        lambda of: of.argsort[_FASTEST],
        lambda of: of.argmax,
    ):
        found: dict[int, int | None] = {number: one(of) for number, of in functions.items()}
        if not all(found.values()):
            raise ImportError(f"NumPy {np.__version__} has no functions of C that sort numbers")
        table += [found.get(number) for number in range(_TYPES)]
    table.append(np.dtype("int64").num)
    library().tn_set_order((ctypes.c_void_p * len(table))(*table))


def _functions_of(number: int) -> _FunctionsOfType:
    """Return what NumPy has for a type, by its number."""
    description = _function(_DESCRIPTION_OF_TYPE, ctypes.py_object, ctypes.c_int)(number)
    pointer = ctypes.POINTER(_FunctionsOfType)
    return _function(_FUNCTIONS_OF_TYPE, pointer, ctypes.py_object)(description).contents


def _function(position: int, result: Any, argument: Any) -> Callable[..., Any]:
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(
        pointer_of(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p)
    )
    return ctypes.PYFUNCTYPE(result, argument)(table[position])
