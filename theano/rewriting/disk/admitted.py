"""Names that a pickle on disk may have: what graphs and programs consist of, and no other code.

A pickle that names a class or a function has it called, with any arguments. What is read from disk is
the user's own (`own_folders.py`); should it be something else all the same, then what it can name are
classes of operations, types, variables and records, which hold what they are given, and a short list
of functions that only compute. Operations that run a file or a function which they are given are
not among them, nor is anything that is looked up in another object, as ``os`` is in most modules.
"""

from __future__ import annotations

import builtins
import dataclasses
import io
import pickle
from pathlib import PurePath
from types import FunctionType
from typing import Any

import numpy as np
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.type import Type

from theano.pytensor_internals.functions.c_code import ExternalCOp
from theano.pytensor_internals.functions.compiling import FromFunctionOp
from theano.pytensor_internals.functions.pickles import NAMES_IN_PICKLES
from theano.pytensor_internals.graphs.graph import Feature, MetaObject
from theano.pytensor_internals.graphs.rewriting import RewriteDatabaseQuery

# classes of these packages that are of these kinds, or records
PACKAGES = ("theano", "pytensor", "pymc", "pymc_extras")
_KINDS = frozenset(
    (Op, Type, Variable, Apply, Feature, MetaObject, Mode, RewriteDatabaseQuery, Exception)
)
_NEVER = (ExternalCOp, FromFunctionOp)

_BUILTINS = (bytearray, complex, frozenset, object, range, set, slice)
# classes that are of none of the kinds, and functions, by module
_BY_NAME = {
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    **NAMES_IN_PICKLES,
    "theano.rewriting.disk.graph_pickles": {"_inner_graph", "_tag", "given_input"},
}


def is_admitted(value: object) -> bool:
    """Return whether a pickle may name a class or a function."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", "")
    if name in _BY_NAME.get(module or "", ()):
        return True
    if isinstance(value, np.ufunc):
        # operations keep that which computes them
        return getattr(np, name, None) is value
    if not isinstance(value, type):
        return False
    package = (module or "").partition(".")[0]
    if package in PACKAGES:
        # issubclass asks an abstract class for all of its subclasses
        of_kind = not _KINDS.isdisjoint(value.__mro__) or dataclasses.is_dataclass(value)
        return of_kind and value not in _NEVER
    if package == "numpy":
        return value is np.ndarray or issubclass(value, np.generic | np.dtype | Exception)
    if issubclass(value, Exception):
        return getattr(builtins, name, None) is value
    return value in _BUILTINS or issubclass(value, PurePath)


_CODE = frozenset({type, FunctionType, np.ufunc})


class Pickler(pickle.Pickler):
    """Writes what `Unpickler` reads, and refuses the rest."""

    def __init__(self, file: io.BytesIO):
        super().__init__(file, protocol=5)

    def reducer_override(self, value: object) -> Any:
        """Refuse code that is not admitted."""
        bases = type(value).__mro__
        if not _CODE.isdisjoint(bases) and not is_admitted(value):
            raise pickle.PicklingError(f"{value!r} is not admitted")
        return NotImplemented


class Unpickler(pickle.Unpickler):
    """Reads what names only what is admitted."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the class or function of that name."""
        packages = (*PACKAGES, "numpy", "builtins", "pathlib")
        if module.partition(".")[0] in packages and "." not in name:
            found = super().find_class(module, name)
            if is_admitted(found):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not admitted")


def written(value: object) -> bytes:
    """Return a value as it is kept on disk.

    Raises
    ------
    pickle.PicklingError
        If it holds what is not admitted.
    """
    file = io.BytesIO()
    Pickler(file).dump(value)
    return file.getvalue()


def read(content: bytes) -> Any:
    """Return what was written; anything else may raise anything."""
    return Unpickler(io.BytesIO(content)).load()
