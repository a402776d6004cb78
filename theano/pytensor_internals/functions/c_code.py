"""Internals of how PyTensor writes, compiles and loads C."""
# ruff: noqa: F401 -- this file re-exports

import importlib
import sys
from typing import Any

from pytensor.link.c.basic import (
    CLinker,  # one C function of a graph
    DualLinker,  # runs C code and `perform`, and compares
    OpWiseCLinker,  # a C function of each node
)
from pytensor.link.c.cmodule import (
    Compiler,  # compiles a source file: `compile_str`
    DynamicModule,  # a module of C that is being written
    ExtFunction,  # a function of it
    GCC_compiler,  # the compiler of the flag `cxx`
    ModuleCache,  # the folder of compiled modules
    dlimport,  # loads a module from a file
    get_lib_extension,  # so, pyd or dylib
    get_module_cache,  # the one ModuleCache of the process
    get_module_hash,  # the key of a module: hash of source and options
    std_lib_dirs_and_libs,  # where Python's own library lies
)
from pytensor.link.c.interface import (
    CLinkerObject,  # `c_headers`, `c_libraries` and the like
    CLinkerType,  # `c_declare`, `c_extract` and the like, of a type
)
from pytensor.link.c.op import (
    COp,  # an operator with `c_code`
    ExternalCOp,  # an operator whose C lies in a file
    OpenMPOp,  # an operator that may run on several threads
)
from pytensor.link.c.op import (
    _NoPythonCOp as NoPythonCOp,  # an operator whose `perform` raises an error: C only
)
from pytensor.link.c.params_type import (
    Params,  # the values that an operator passes to its C
    ParamsType,  # their type
)
from pytensor.link.c.type import (
    CDataType,  # the type of a pointer to C's data
    CDataTypeConstant,  # a constant of it
    CEnumType,  # names that stand for numbers in C
    CType,  # a type with C
    EnumList,  # names numbered from 0
    EnumType,  # names with numbers
    Generic,  # the type of any Python object
    generic,  # the one instance of Generic
)

# bases of operators whose `perform` raises an error
if sys.version_info >= (3, 12):
    C_ONLY: tuple[type, ...] = (NoPythonCOp,)
else:
    from theano.pytensor_internals.before_3_3.c_code import C_ONLY


def __getattr__(name: str) -> Any:
    """Return what takes long to import, when it is asked for."""
    if name == "MissingGXX":  # raised when C is asked for and there is no compiler
        return importlib.import_module("pytensor.link.c.exceptions").MissingGXX
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def is_of_compiler(error: Exception) -> bool:
    """Return whether C did not compile; the text is the command and the compiler's output.

    The class is not imported before: it brings setuptools with it.
    """
    module = sys.modules.get("pytensor.link.c.exceptions")
    return module is not None and isinstance(error, module.CompileError)
