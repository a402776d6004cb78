"""PyTensor's mode that looks for NaN and infinity; loaded when it is first used."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.compile.debug.nanguardmode import (
    NanGuardMode,  # nan_is_error, inf_is_error, big_is_error; its linker checks after each node
    contains_inf,  # whether an array holds infinity
    contains_nan,  # whether an array holds NaN
)
