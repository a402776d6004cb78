"""From graphs to functions: modes, functions, shared variables, profiles, debugging."""

from typing import TYPE_CHECKING

from theano.compile.builders import OpFromGraph
from theano.compile.clone import clone
from theano.compile.function import function, function_dump
from theano.compile.function_module import (
    AliasedMemoryError,
    Function,
    FunctionMaker,
    Supervisor,
    UnusedInputError,
    alias_root,
    infer_reuse_pattern,
    insert_deepcopy,
    view_tree_set,
)
from theano.compile.io import In, Out, Param, SymbolicInput, SymbolicOutput
from theano.compile.mode import (
    FAST_COMPILE,
    OPT_FAST_COMPILE,
    OPT_FAST_RUN,
    OPT_FAST_RUN_STABLE,
    OPT_MERGE,
    OPT_NONE,
    OPT_O2,
    OPT_O3,
    OPT_STABILIZE,
    OPT_UNSAFE,
    AddDestroyHandler,
    AddFeatureOptimizer,
    Mode,
    PrintCurrentFunctionGraph,
    get_default_mode,
    get_mode,
    local_useless,
    optdb,
    predefined_linkers,
    predefined_modes,
    predefined_optimizers,
    register_linker,
    register_mode,
    register_optimizer,
)
from theano.compile.ops import (
    DeepCopyOp,
    FromFunctionOp,
    Rebroadcast,
    Shape,
    Shape_i,
    SpecifyShape,
    ViewOp,
    as_op,
    deep_copy_op,
    register_deep_copy_op_c_code,
    register_view_op_c_code,
    shape,
    specify_shape,
    view_op,
)
from theano.compile.pfunc import pfunc, rebuild_collect_shared
from theano.compile.profiling import ProfileStats
from theano.compile.sharedvalue import SharedVariable, shared, shared_constructor
from theano.configdefaults import config
from theano.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from theano.compile.debugmode import DebugMode
    from theano.compile.mode import FAST_RUN
    from theano.compile.monitormode import MonitorMode
    from theano.compile.nanguardmode import NanGuardMode

_LAZY = {
    "DebugMode": ".debugmode",
    "FAST_RUN": ".mode",
    "MonitorMode": ".monitormode",
    "NanGuardMode": ".nanguardmode",
    "ProfileMode": ".profilemode",
    "debugmode": ".debugmode",
    "monitormode": ".monitormode",
    "nanguardmode": ".nanguardmode",
    "profilemode": ".profilemode",
}
__getattr__, __dir__ = lazy_names(__name__, _LAZY)

__all__ = [
    "FAST_COMPILE",
    "FAST_RUN",
    "OPT_FAST_COMPILE",
    "OPT_FAST_RUN",
    "OPT_FAST_RUN_STABLE",
    "OPT_MERGE",
    "OPT_NONE",
    "OPT_O2",
    "OPT_O3",
    "OPT_STABILIZE",
    "OPT_UNSAFE",
    "AddDestroyHandler",
    "AddFeatureOptimizer",
    "AliasedMemoryError",
    "DebugMode",
    "DeepCopyOp",
    "FromFunctionOp",
    "Function",
    "FunctionMaker",
    "In",
    "Mode",
    "MonitorMode",
    "NanGuardMode",
    "OpFromGraph",
    "Out",
    "Param",
    "PrintCurrentFunctionGraph",
    "ProfileStats",
    "Rebroadcast",
    "Shape",
    "Shape_i",
    "SharedVariable",
    "SpecifyShape",
    "Supervisor",
    "SymbolicInput",
    "SymbolicOutput",
    "UnusedInputError",
    "ViewOp",
    "alias_root",
    "as_op",
    "clone",
    "config",
    "deep_copy_op",
    "function",
    "function_dump",
    "get_default_mode",
    "get_mode",
    "infer_reuse_pattern",
    "insert_deepcopy",
    "local_useless",
    "optdb",
    "pfunc",
    "predefined_linkers",
    "predefined_modes",
    "predefined_optimizers",
    "rebuild_collect_shared",
    "register_deep_copy_op_c_code",
    "register_linker",
    "register_mode",
    "register_optimizer",
    "register_view_op_c_code",
    "shape",
    "shared",
    "shared_constructor",
    "specify_shape",
    "view_op",
    "view_tree_set",
]
