"""Theano 1.0's public names over PyTensor, with a loop whose gradient recomputes nothing.

Variables and their operations are in `theano.tensor`, loops in `theano.scan`, derivatives in
`theano.grad`, and `theano.function` compiles.
"""

# ruff: noqa: I001 -- flags come first: some of them must reach PyTensor before it is imported.
from theano import configdefaults, configparser
from theano.configparser import change_flags, config

import importlib
import sys
from typing import TYPE_CHECKING, Any

from theano import gof, scalar, tensor
from theano import compile, gradient, misc, printing, updates, version
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
from theano.compile.variables.bool_and_eval import install as _install_bool_and_eval
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
from theano.support.lazy_names import lazy_names
from theano.support.log_handler import disable_log_handler, logging_default_handler, theano_logger
from theano.misc.safe_asarray import _asarray
from theano.printing import pp, pprint
from theano.rewriting.database import optdb
from theano.tensor import TensorType, dot, get_scalar_constant_value
from theano.updates import OrderedUpdates
from theano.version import api_version as __api_version__
from theano.version import version as __version__

if TYPE_CHECKING:
    from theano import scan_module
    from theano.scan_module import foldl, foldr, map, reduce, scan, scan_checkpoints

# Programs take the package from modules that import it in Theano, itself among them
# (``from theano import theano``); no module here needs it.
for _module in (sys.modules[__name__], opt, tensor, tensor.raw_random):
    vars(_module)["theano"] = sys.modules[__name__]

_LAZY = {
    "d3viz": ".d3viz",
    "foldl": ".scan_module",
    "foldr": ".scan_module",
    "gpuarray": ".gpuarray",
    "ifelse": ".ifelse",
    "map": ".scan_module",
    "pymc": ".pymc",
    "raise_op": ".raise_op",
    "reduce": ".scan_module",
    "sandbox": ".sandbox",
    "scan": ".scan_module",
    "scan_checkpoints": ".scan_module",
    "scan_module": ".scan_module",
    "sparse": ".sparse",
    "tests": ".tests",
    "typed_list": ".typed_list",
}
_find, __dir__ = lazy_names(__name__, _LAZY)
# What may be missing of other packages: such a module is then no attribute, for hasattr and inspect.
_OPTIONAL = {"pymc": ("pymc", "nutpie")}


_install_bool_and_eval()

# They are not needed before a graph is rewritten.
optdb.complete_by(lambda: importlib.import_module("theano.all_rewrites"))

# It needs JAX, which is optional.
register_targets(lambda: importlib.import_module("theano.gpuarray").gpuarray_shared_constructor)

if config.contexts or config.init_gpu_device or config.device.startswith(("cuda", "xla")):
    importlib.import_module("theano.gpuarray")


def __getattr__(name: str) -> Any:
    try:
        return _find(name)
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        if missing in _OPTIONAL.get(name, ()):
            raise AttributeError(
                f"theano.{name} needs {missing}, which is not installed: the extra [{name}]"
            ) from error
        if error.name != f"theano.{name}":
            raise
    raise AttributeError(f"module 'theano' has no attribute {name!r}")


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
