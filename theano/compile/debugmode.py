"""DebugMode: run every implementation of every node and compare them."""

from pytensor.compile.debug.debugmode import (
    BadDestroyMap,
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DebugModeError,
    InvalidValueError,
    StochasticOrder,
)
from pytensor.compile.debug.debugmode import DebugMode as PyTensorDebugMode

from theano.compile.mode import resolve_optimizer
from theano.configdefaults import config

__all__ = [
    "BadDestroyMap",
    "BadOptimization",
    "BadThunkOutput",
    "BadViewMap",
    "DebugMode",
    "DebugModeError",
    "InvalidValueError",
    "StochasticOrder",
]


class DebugMode(PyTensorDebugMode):
    """Mode that checks operators and rewrites while it runs a function; very slow.

    Parameters
    ----------
    optimizer : str or query, optional
        Which rewrites run and are checked.
    stability_patience : int, optional
        How often to rewrite, in search of a result that depends on chance.
    check_c_code, check_py_code : bool, optional
        Whether to run C and Python implementations.
    check_isfinite : bool, optional
        Whether NaN and infinity are errors.
    check_preallocated_output : list of str, optional
        Kinds of preallocated output to try.
    require_matching_strides : int, optional
        0 for no check of strides, 1 to warn, 2 to raise.
    linker, db : optional
        For internal use.

    Raises
    ------
    DebugModeError
        When the compiled function is called and a check fails.

    Notes
    -----
    What is not given comes from the flags of the section DebugMode.
    """

    def __init__(
        self,
        optimizer="fast_run",
        stability_patience=None,
        check_c_code=None,
        check_py_code=None,
        check_isfinite=None,
        check_preallocated_output=None,
        require_matching_strides=None,
        linker=None,
        db=None,
    ):
        flags = config.DebugMode

        def given(value, flag):
            return flag if value is None else value

        query = resolve_optimizer(optimizer)
        if hasattr(query, "excluding"):
            # It makes operators whose Python implementation is wrong, and Python is run here.
            query = query.excluding("local_careduce_fusion")
        super().__init__(
            query,
            given(stability_patience, flags.patience),
            given(check_c_code, flags.check_c and bool(config.cxx)),
            given(check_py_code, flags.check_py),
            given(check_isfinite, flags.check_finite),
            given(check_preallocated_output, flags.check_preallocated_output.split(":")),
            given(require_matching_strides, flags.check_strides),
            linker,
            db,
        )
