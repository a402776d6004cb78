"""DebugMode: run every implementation of every node and compare them."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pytensor.tensor.type import TensorType

from theano.compile.optimizers import resolve_optimizer
from theano.configdefaults import config
from theano.pytensor_base.functions.compiling import asked_rewrites
from theano.pytensor_base.functions.debug_mode import (
    BadDestroyMap,
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DebugModeError,
    InvalidValueError,
    StochasticOrder,
)
from theano.pytensor_base.functions.debug_mode import DebugMode as PyTensorDebugMode
from theano.pytensor_base.functions.debug_mode import DebugModeMaker as PyTensorMaker
from theano.pytensor_base.graphs.rewriting import RewriteDatabaseQuery
from theano.schedule.arranged import arranged
from theano.schedule.database import optdb

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
            optdb if db is None else db,
        )

    @property
    def optimizer(self):
        """The rewriter, as other modes run it."""
        asked = asked_rewrites(self)
        if not isinstance(asked, RewriteDatabaseQuery):
            return super().optimizer
        return arranged(self.optdb.query(asked))

    @property
    def function_maker(self):
        """What makes a function that checks itself."""
        return DebugFunctionMaker


class DebugFunctionMaker(PyTensorMaker):
    """Makes functions of DebugMode, which refuse NaN and infinity where the mode says so."""

    def create(self, *args, **kwargs):
        function = super().create(*args, **kwargs)
        function.vm = _finding_infinities(function.vm)
        return function


def _finding_infinities(run: Callable) -> Callable:
    """A program that runs another one, with values checked as PyTensor's has it in mind."""

    def checked():
        with _finite_values():
            return run()

    checked.__dict__.update(run.__dict__)
    return checked


_valid_of_any_kind = TensorType.is_valid_value


@contextlib.contextmanager
def _finite_values() -> Iterator[None]:
    """Have `TensorType.filter_checks_isfinite`, which DebugMode sets and nothing reads, work."""
    if "is_valid_value" in vars(TensorType):
        yield
        return
    setattr(TensorType, "is_valid_value", _valid_and_finite)  # noqa: B010 -- mypy forbids "="
    try:
        yield
    finally:
        delattr(TensorType, "is_valid_value")


def _valid_and_finite(self: TensorType, data: Any, strict: bool = True) -> bool:
    if not _valid_of_any_kind(self, data, strict):
        return False
    numeric = getattr(data, "dtype", None) is not None and data.dtype.kind in "fc"
    return not (self.filter_checks_isfinite and numeric and not np.isfinite(data).all())
