"""Restores, in the process that runs Theano's tests, what Python and NumPy removed since."""

import collections
import collections.abc
import inspect
import pickle
import unittest

import numpy as np

NUMPY_NAMES = {
    "bool": bool,
    "complex": complex,
    "float": float,
    "int": int,
    "long": int,
    "object": object,
    "str": str,
    "unicode": str,
    "complex_": np.complex128,
    "float_": np.float64,
    "string_": np.bytes_,
    "unicode_": np.str_,
    "Inf": np.inf,
    "NaN": np.nan,
    "MAXDIMS": 64,
    "NINF": -np.inf,
    "PINF": np.inf,
    "infty": np.inf,
    "alltrue": np.all,
    "cumproduct": np.cumprod,
    "product": np.prod,
    "rank": np.ndim,
    "round_": np.round,
    "sometrue": np.any,
    "trapz": np.trapezoid,
}

TEST_CASE_NAMES = {
    "assertEquals": "assertEqual",
    "assertItemsEqual": "assertCountEqual",
    "assertNotEquals": "assertNotEqual",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assertRegexpMatches": "assertRegex",
    "assert_": "assertTrue",
    "failIf": "assertFalse",
    "failUnless": "assertTrue",
    "failUnlessRaises": "assertRaises",
}


def restore() -> None:
    """Add the names to the modules and classes where Theano's tests look for them."""
    for name, value in NUMPY_NAMES.items():
        _add(np, name, value)
    _add(np, "asscalar", lambda array: array.item())
    _add(np, "cast", _Casts())
    _add(np, "find_common_type", _find_common_type)
    _add(np, "in1d", np.isin)
    _add(np.testing, "dec", _NoseDecorators)
    _add(np.linalg, "linalg", np.linalg)
    np.vstack = _of_any_iterable(np.vstack)
    for name in ("Mapping", "MutableMapping", "Sequence", "Callable", "Iterable", "Hashable"):
        _add(collections, name, getattr(collections.abc, name))
    pickle.Pickler, pickle.Unpickler = _Pickler, _Unpickler
    _add(inspect, "getargspec", inspect.getfullargspec)
    for name, today in TEST_CASE_NAMES.items():
        _add(unittest.TestCase, name, getattr(unittest.TestCase, today))


def _add(owner, name: str, value) -> None:
    if name not in vars(owner):
        setattr(owner, name, value)


def _find_common_type(array_types, scalar_types):
    """The dtype of arrays, unless scalars are of a more general kind."""
    kinds = "buifc"
    arrays = np.result_type(*array_types)
    both = np.result_type(arrays, *scalar_types)
    scalars_matter = any(
        kinds.index(np.dtype(s).kind) > kinds.index(arrays.kind) for s in scalar_types
    )
    return both if scalars_matter else arrays


def _of_any_iterable(function):
    """A function that takes a generator, too, for a sequence."""
    return lambda arrays, **options: function([*arrays], **options)


class _Pickler(pickle.Pickler):
    """One whose ``persistent_id`` can be set, which Python 3.13 does not allow."""


class _Unpickler(pickle.Unpickler):
    """One whose ``persistent_load`` can be set, which Python 3.13 does not allow."""


class _Casts:
    """``np.cast[dtype](value)``."""

    def __getitem__(self, dtype):
        return lambda value: np.asarray(value).astype(dtype)


class _NoseDecorators:
    """``numpy.testing.dec``."""

    @staticmethod
    def skipif(condition, msg=""):
        holds = condition() if callable(condition) else condition
        return unittest.skipIf(holds, msg or "the test's own condition")

    @staticmethod
    def knownfailureif(condition, msg=""):
        holds = condition() if callable(condition) else condition
        return unittest.skipIf(holds, msg or "known to fail")

    @staticmethod
    def slow(test):
        return test
