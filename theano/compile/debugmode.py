"""DebugMode: run every implementation of every node and compare them."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.traversal import io_toposort
from pytensor.tensor.type import TensorType

from theano.compile.errors.call_errors import lines_about
from theano.compile.errors.wrong_steps import where_it_began
from theano.compile.errors.wrong_values import Wrongs, summary
from theano.compile.mode_components.optimizers import resolve_optimizer, rewriter_of
from theano.configdefaults import config
from theano.pytensor_internals.functions.c_code import COp
from theano.pytensor_internals.functions.debug_mode import (
    BadDestroyMap,
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DebugModeError,
    InvalidValueError,
    StochasticOrder,
    values_when_raised,
)
from theano.pytensor_internals.functions.debug_mode import DebugMode as PyTensorDebugMode
from theano.pytensor_internals.functions.debug_mode import DebugModeMaker as PyTensorMaker
from theano.pytensor_internals.graphs.scan import Scan
from theano.rewriting.database import optdb
from theano.rewriting.rewrites.elementwise.few_operands import has_too_many_operands
from theano.rewriting.rewrites.of_pytensor.left_out import SLOW_IN_PYTHON
from theano.source_locations.lines import format_lines, nearest_line

__all__ = [
    "BadDestroyMap",
    "BadOptimization",
    "BadThunkOutput",
    "BadViewMap",
    "DebugMode",
    "DebugModeError",
    "InvalidValueError",
    "StochasticOrder",
    "default_make_thunk",
]

# A program that has its own `make_thunk` compares with these whether an operator has another.
default_make_thunk = [Op.make_thunk, COp.make_thunk]


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
            if not given(check_c_code, flags.check_c and bool(config.cxx)):
                query = query.excluding(*SLOW_IN_PYTHON)
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
        return rewriter_of(self)

    @property
    def function_maker(self):
        """Return what makes a function that checks itself."""
        return DebugFunctionMaker


class DebugFunctionMaker(PyTensorMaker):
    """Makes functions of DebugMode, which refuse NaN and infinity where the mode says so."""

    def create(self, *args, **kwargs):
        _forget_what_was_taken_back(self.fgraph)
        if not self.mode.check_c_code:
            _forget_what_python_cannot_run(self.fgraph)
        function = super().create(*args, **kwargs)
        function.vm = _finding_infinities(function.vm)
        return function


def _forget_what_was_taken_back(graph: FunctionGraph) -> None:
    """Have no replacement checked that put back what another one had replaced.

    The type of what stood there first may give less than that of what was tried in its place, and the check
    takes that for a fault.
    """
    tracker = getattr(graph, "equivalence_tracker", None)
    for why in [] if tracker is None else tracker.reasons.values():
        # each entry: reason | old variable | text of both graphs
        why[:] = [entry for entry in why if not str(entry[0]).startswith("('Revert'")]


def _forget_what_python_cannot_run(graph: FunctionGraph) -> None:
    """Have nothing run that was replaced because it has more operands than NumPy's functions take."""
    tracker = getattr(graph, "equivalence_tracker", None)
    if tracker is None:
        return
    without: set[Any] = set()
    for node in io_toposort(graph.inputs, tracker.all_variables_ever):
        if has_too_many_operands(node) or not without.isdisjoint(node.inputs):
            without.update(node.outputs)
    tracker.all_variables_ever = [v for v in tracker.all_variables_ever if v not in without]
    for why in tracker.reasons.values():
        why[:] = [entry for entry in why if entry[1] not in without]


def _finding_infinities(run: Callable) -> Callable:
    """Return a program that runs another one, with values checked as PyTensor's has it in mind."""

    def checked():
        with _finite_values():
            try:
                return run()
            except InvalidValueError as error:
                _add_location(error)
                raise

    checked.__dict__.update(run.__dict__)
    return checked


def _add_location(error: InvalidValueError) -> None:
    """Add to an error of a NaN or an infinity the user's line, and of a loop its step."""
    node = getattr(error.r, "owner", None)
    if node is None or not Wrongs(nan=True, inf=True, big=False).names(error.v):
        return
    lines = [
        f"Created at: {format_lines(node) or nearest_line(node)}",
        f"Result: {summary(error.v)}",
    ]
    values = values_when_raised(error)
    known = all(isinstance(v, Constant) or v in values for v in node.inputs)
    if isinstance(node.op, Scan) and known:
        found = where_it_began(node, values)
        if found is not None:
            again, operations = found
            lines = [*str(again).splitlines(), *lines_about(operations)]
    error.specific_hint = "\n          ".join(lines)


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
