"""Compiling C code into modules, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_base.functions.c_code import (
    Compiler,
    DynamicModule,
    ExtFunction,
    GCC_compiler,
    MissingGXX,
    ModuleCache,
    dlimport,
    get_lib_extension,
    get_module_cache,
    get_module_hash,
    std_lib_dirs_and_libs,
)
