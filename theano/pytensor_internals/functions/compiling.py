"""Internals of how PyTensor compiles: aliases of arguments, rebuilding, functions, modes, reports."""
# ruff: noqa: F401 -- this file re-exports

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pytensor.compile.aliasing import (
    Supervisor,  # the feature that refuses to overwrite protected inputs
    alias_root,  # the variable whose memory a variable is, by `view_map`
    infer_reuse_pattern,  # which values die with the outputs that are written elsewhere
    insert_deepcopy,  # adds copies of outputs that are inputs or each other
    view_tree_set,  # adds to a set all that views a variable
)
from pytensor.compile.builders import OpFromGraph as OpFromGraphOfPyTensor
from pytensor.compile.builders import SymbolicOp
from pytensor.compile.compiledir import (
    basecompiledir_ls,  # the five that a command line offers of the folder of compiled C
    basecompiledir_purge,
    cleanup,
    compiledir_purge,
    print_compiledir_content,
)
from pytensor.compile.compilelock import (
    force_unlock,  # removes the lock of the folder of compiled C
    lock_ctx,  # holds it within a `with` statement
)
from pytensor.compile.debug.monitormode import (
    MonitorMode,  # calls functions before and after each node; `eval` per node
)
from pytensor.compile.executor import (
    AliasedMemoryError,  # raised by a call in which two inputs share memory that is overwritten
    Function,  # what `function` returns: `maker`, `vm`, `input_storage`, `trust_input`
    _constructor_Function,
    _pickle_Function,
)
from pytensor.compile.maker import (
    FunctionMaker,  # `inputs`, `outputs`, `fgraph`, `mode`, `create`
    UnusedInputError,  # raised for an input that no output depends on
)
from pytensor.compile.mode import (
    OPT_MERGE,  # the rewriter behind optimizer='merge'
    OPT_NONE,  # the rewriter behind optimizer='None'
    AddDestroyHandler,  # the rewriter that attaches the DestroyHandler
    AddFeatureOptimizer,  # the rewriter that attaches a given feature
    Mode,
    PrintCurrentFunctionGraph,  # the rewriter that prints the graph where it stands
    local_useless,  # the collection of rewrites that remove what does nothing
)
from pytensor.compile.ops import (
    FromFunctionOp,  # what `wrap_py` makes; `itypes`, `otypes`, `infer_shape`
    TypeCastingOp,  # base of ViewOp and others that give their input another type
    register_deep_copy_op_c_code,  # C of DeepCopyOp for a type
    register_view_op_c_code,  # C of ViewOp for a type
    wrap_py,  # the decorator that Theano called `as_op`
)
from pytensor.compile.rebuild import (
    construct_function_ins_and_outs,  # the front half of `pytensor.function`
    rebuild_collect_shared,  # copies a graph, replaces, and finds its shared variables
)
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.gradient import (
    as_list_or_tuple,  # (use_list, use_tuple, outputs) -> outputs in that form
    mode_not_slow,  # the mode for `verify_grad`, not that of debugging
)
from pytensor.graph.basic import Variable

if sys.version_info >= (3, 12):
    from theano.pytensor_internals.since_3_3.graph_operators import (
        OpFromGraph,  # an operator that is a graph; `shared_inputs`, `kwargs` of `function`
    )

    # nothing is specified about how an operator that is a graph is compiled by itself: as it is
    NODE_BY_NODE: dict[str, Any] = {}
else:
    from theano.pytensor_internals.before_3_3.graph_operators import OpFromGraph
    from theano.pytensor_internals.before_3_3.symbolic import NODE_BY_NODE


# what writes the graph inside an operator, and those of its derivatives: class and method
WRITERS_OF_GRAPHS_INSIDE = (
    (SymbolicOp, "__init__"),
    (OpFromGraphOfPyTensor, "_build_and_cache_lop_op"),
    (OpFromGraphOfPyTensor, "_build_and_cache_rop_op"),
)


class CheckedFunction(Function):
    """A compiled function of which a subclass checks the arguments before they are used."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        freeing_what_runs(self)

    def check_arguments(self, args: object, kwargs: object) -> None:
        """Store the arguments of a call in their containers; raise an error if they do not fit."""
        super()._validate_inputs(args, kwargs)

    def _validate_inputs(self, args: object, kwargs: object) -> None:
        # called first by `Function.__call__`, unless `trust_input`
        self.check_arguments(args, kwargs)


def expect_function(given: object, caller: str) -> Function:
    """Return what a function that looks at compiled functions was given.

    Raises
    ------
    TypeError
        If it is not a compiled function.
    """
    if isinstance(given, Function):
        return given
    # what holds a function, as a log density does
    holds = isinstance(getattr(given, "function", None), Function)
    raise TypeError(
        f"{caller}: expected a compiled function, as theano.function returns it, but got"
        f" {type(given).__name__}: {given!r}{'; its attribute `function` is one' if holds else ''}"
    )


def freeing_what_runs(function: Any) -> Any:
    """Return a function whose `free` asks only for graphs inside operators that run as these.

    It would compile the others, which an engine runs as part of its code, to free what they hold.
    """
    nodes = getattr(function.vm, "nodes", None)
    if nodes is not None:
        run = set(nodes)
        function._nodes_with_inner_function = [
            node for node in function._nodes_with_inner_function if node in run
        ]
    return function


def containers_by_key(function: Function) -> Mapping[Any, Any]:
    """Return the container of each input of a function, by variable, name and position."""
    return function._finder


def inputs_by_container(function: Function) -> Mapping[Any, Any]:
    """Return the input of a function to which each container belongs."""
    return function._inv_finder


def copies_aliased_inputs(function: Function) -> bool:
    """Return whether a call of a function has to look for inputs that share memory, to copy them."""
    return bool(function._potential_aliased_input_groups)


def pickled_values(function: Function) -> tuple:
    """Return what pickle stores of a function: what `unpickled_function` takes."""
    _, values = _pickle_Function(function)
    return values


def unpickled_function(*values: object) -> Function | None:
    """Return a function that was pickled, compiled again; None where a flag says so."""
    return _constructor_Function(*values)


class GradientsInContext(OpFromGraph):
    """An operator of a graph whose graphs of derivatives are built within a context."""

    def while_deriving(self) -> AbstractContextManager:
        """Return the context in which the graph of a derivative is built."""
        return nullcontext()

    def _build_and_cache_lop_op(self, disconnected_output_grads: Any) -> Any:
        # builds the graph of the gradient, once for each pattern of outputs that are not used
        with self.while_deriving():
            return super()._build_and_cache_lop_op(disconnected_output_grads)

    def _build_and_cache_rop_op(self) -> Any:
        # the same of the derivative along a direction
        with self.while_deriving():
            return super()._build_and_cache_rop_op()


def default_update_of(variable: SharedVariable) -> Variable | None:
    """Return what the functions that use a shared variable replace its value by, unless they are given updates."""
    return variable._default_update


def set_default_update(variable: SharedVariable, value: Variable | None) -> None:
    """Set it; PyTensor's own way to set it warns."""
    variable._default_update = value


def unrewritten(linker: str) -> Mode:
    """Return a mode that runs graphs as they are."""
    return Mode(linker, None)  # type: ignore[arg-type]  # which its code takes for no rewrites


def asked_rewrites(mode: Mode) -> Any:
    """Return the query of a mode, or the rewriter that it was given."""
    return mode._optimizer
