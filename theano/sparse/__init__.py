"""Theano 1.0's `theano.sparse`: PyTensor's sparse matrices, imported when first used."""

import importlib
from typing import Any

_RENAMED = {"sgn": "sign"}


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    pytensor_sparse = importlib.import_module("pytensor.sparse")
    try:
        return getattr(pytensor_sparse, _RENAMED.get(name, name))
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
