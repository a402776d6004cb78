"""PyTensor's mode that runs every implementation of a node; loaded when it is first used."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.compile.debug.debugmode import (
    BadDestroyMap,  # the errors that it raises; each tells of a node
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DebugMode,  # its arguments, of which the flags `DebugMode__...` are the defaults
    DebugModeError,
    InvalidValueError,
    StochasticOrder,
)
from pytensor.compile.debug.debugmode import (
    _Maker as DebugModeMaker,  # its `function_maker`; rewrites several times and compares
)
