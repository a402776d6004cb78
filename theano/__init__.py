"""Theano 1.0's public names over PyTensor, with a loop whose gradient recomputes nothing.

Variables and their operations are in `theano.tensor`, loops in `theano.scan`, derivatives in
`theano.grad`, and `theano.function` compiles.
"""

# ruff: noqa: I001 -- flags come first: some of them must reach PyTensor before it is imported.
from theano import configdefaults, configparser
from theano.configparser import change_flags, config

import importlib
import sys
from typing import Any

from theano import gof, scalar, tensor
from theano import compile, gradient, misc, printing, scan_module, updates, version  # noqa: A004
from theano.compile import (
    FunctionMaker,
    In,
    Mode,
    OpFromGraph,
    Out,
    Param,
    ProfileStats,
    SymbolicInput,
    SymbolicOutput,
    as_op,
    clone,
    function,
    function_dump,
    predefined_linkers,
    predefined_modes,
    predefined_optimizers,
    shared,
)
from theano.compile.sharedvalue import register_targets
from theano.compile.truth_and_eval import install as _install_truth_and_eval
from theano.gof import (
    Apply,
    CLinker,
    Constant,
    Container,
    DualLinker,
    FunctionGraph,
    Generic,
    InconsistencyError,
    Linker,
    LocalLinker,
    Op,
    OpenMPOp,
    OpWiseCLinker,
    PerformLinker,
    Type,
    Variable,
    generic,
    object2,
    opt,
    toolbox,
    utils,
)
from theano.gradient import Lop, Rop, grad, subgraph_grad
from theano.log_handler import disable_log_handler, logging_default_handler, theano_logger
from theano.misc.safe_asarray import _asarray
from theano.printing import pp, pprint
from theano.scan_module import foldl, foldr, map, reduce, scan, scan_checkpoints  # noqa: A004
from theano.scan_module import scan_utils as _scan_utils  # noqa: F401 -- reached by its package
from theano.tensor import TensorType, dot, get_scalar_constant_value
from theano.updates import OrderedUpdates
from theano.version import api_version as __api_version__
from theano.version import version as __version__

# Programs take the package from modules that import it in Theano, itself among them
# (``from theano import theano``); no module here needs it.
for _module in (sys.modules[__name__], opt, tensor, tensor.raw_random):
    vars(_module)["theano"] = sys.modules[__name__]

# Imported when first used: they cost time that most programs need not spend.
_LAZY = (
    "d3viz",
    "gpuarray",
    "ifelse",
    "pymc",
    "raise_op",
    "sandbox",
    "sparse",
    "tests",
    "typed_list",
)
# What may be missing of other packages: such a module is then no attribute, for hasattr and inspect.
_OPTIONAL = {"pymc": ("pymc", "nutpie")}


_install_truth_and_eval()

# It needs JAX, which is optional.
register_targets(lambda: importlib.import_module("theano.gpuarray").gpuarray_shared_constructor)

if config.contexts or config.init_gpu_device or config.device.startswith(("cuda", "xla")):
    importlib.import_module("theano.gpuarray")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        try:
            return importlib.import_module(f"theano.{name}")
        except ModuleNotFoundError as error:
            missing = str(error.name).partition(".")[0]
            if missing in _OPTIONAL.get(name, ()):
                raise AttributeError(
                    f"theano.{name} needs {missing}, which is not installed: the extra [{name}]"
                ) from error
            if error.name != f"theano.{name}":
                raise
    raise AttributeError(f"module 'theano' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


def sparse_grad(var: Variable) -> Variable:
    """Return ``x[indices]`` again, such that its gradient with respect to x is a sparse matrix.

    Parameters
    ----------
    var : Variable
        What indexing a tensor with a vector of integers gave.

    Returns
    -------
    Variable
    """
    return importlib.import_module("theano.sparse").sparse_grad(var)


__all__ = [
    "Apply",
    "CLinker",
    "Constant",
    "Container",
    "DualLinker",
    "FunctionGraph",
    "FunctionMaker",
    "Generic",
    "In",
    "InconsistencyError",
    "Linker",
    "LocalLinker",
    "Lop",
    "Mode",
    "Op",
    "OpFromGraph",
    "OpWiseCLinker",
    "OpenMPOp",
    "OrderedUpdates",
    "Out",
    "Param",
    "PerformLinker",
    "ProfileStats",
    "Rop",
    "SymbolicInput",
    "SymbolicOutput",
    "TensorType",
    "Type",
    "Variable",
    "__api_version__",
    "__version__",
    "_asarray",
    "as_op",
    "change_flags",
    "clone",
    "compile",
    "config",
    "configdefaults",
    "configparser",
    "disable_log_handler",
    "dot",
    "foldl",
    "foldr",
    "function",
    "function_dump",
    "generic",
    "get_scalar_constant_value",
    "gof",
    "grad",
    "gradient",
    "logging_default_handler",
    "map",
    "misc",
    "object2",
    "opt",
    "pp",
    "pprint",
    "predefined_linkers",
    "predefined_modes",
    "predefined_optimizers",
    "printing",
    "reduce",
    "scalar",
    "scan",
    "scan_checkpoints",
    "scan_module",
    "shared",
    "sparse_grad",
    "subgraph_grad",
    "tensor",
    "theano_logger",
    "toolbox",
    "updates",
    "utils",
    "version",
]
