"""PyTensor's mode that runs every implementation of a node; loaded when it is first used."""
# ruff: noqa: F401 -- this file re-exports

import traceback
from collections.abc import Mapping
from typing import Any

from pytensor.compile.debug.debugmode import (
    BadDestroyMap,  # the errors that it raises; each names a node
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


def values_when_raised(error: DebugModeError) -> Mapping[Any, Any]:
    """Return the values of variables when the mode raised an error; none if no operation had run."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    known = [frame.f_locals["r_vals"] for frame in frames if "r_vals" in frame.f_locals]
    return known[0] if known else {}
