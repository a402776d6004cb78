"""Compiling C code into modules, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from typing import Any

from theano.pytensor_internals.functions import c_code
from theano.pytensor_internals.functions.c_code import (
    Compiler,
    DynamicModule,
    ExtFunction,
    GCC_compiler,
    ModuleCache,
    dlimport,
    get_lib_extension,
    get_module_cache,
    get_module_hash,
    std_lib_dirs_and_libs,
)


def __getattr__(name: str) -> Any:
    """Return the exception of a missing compiler, which brings setuptools with it."""
    if name == "MissingGXX":
        return c_code.MissingGXX
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
