"""`theano.function`: from a graph to something that can be called."""

import functools
import os
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pytensor.compile.io import Out
from pytensor.compile.mode import Mode as PyTensorMode
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors

from theano.compile.calls.rollback import with_rollback
from theano.compile.errors.compile_errors import explain_compile_error
from theano.compile.errors.wrong_arguments import check_inputs, check_outputs
from theano.compile.function_module import Function, FunctionWithExtras
from theano.compile.kept_graph import keep_less
from theano.compile.mode import get_mode
from theano.compile.mode_components.split_batch import split_mode
from theano.compile.profiling import ProfileStats, profile_for
from theano.compile.update_pairs import given_pairs, of_other_dtype, update_pairs
from theano.configdefaults import config
from theano.flags.blas_messages import no_blas_warnings
from theano.gof.fg import MissingInputError
from theano.gof.test_values import no_test_values
from theano.link.native.graph.overwriting import mark_overwritten
from theano.misc.pkl_utils import StripPickler
from theano.pytensor_internals.functions.c_code import is_of_compiler
from theano.pytensor_internals.functions.compiling import (
    UnusedInputError,
    construct_function_ins_and_outs,
)
from theano.pytensor_internals.graphs.untraced import untraced
from theano.source_locations.lines import users_frame
from theano.support.garbage_collection import counted_when_it_dies, rare_collections
from theano.support.recursion_depth import with_room_for_deep_graphs
from theano.support.views_as_lists import as_list

__all__ = ["function", "function_dump"]

# What PyTensor's errors call things, and what they are called here.
THEANOS_NAMES = {
    "pytensor.clone_replace": "theano.clone",
    "pytensor.function": "theano.function",
    "pytensor Variable": "Theano variables",
    "PyTensor flag": "Theano flag",
}

# One function is rewritten at a time: meanwhile PyTensor sets flags, which all threads read.
_rewriting = threading.RLock()

Pairs = Mapping[Variable, Any] | Iterable[tuple[Variable, Any]]
Outputs = Variable | Out | Sequence | dict[str, Any] | None


@with_room_for_deep_graphs
def function(
    inputs: Sequence,
    outputs: Outputs = None,
    mode: str | PyTensorMode | None = None,
    updates: Pairs | None = None,
    givens: Pairs | None = None,
    no_default_updates: bool | list = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: bool | str | ProfileStats | None = None,
    on_unused_input: str | None = None,
    data_parallel: Sequence | None = None,
    devices: Sequence[str] | None = None,
    memory_budget: float | None = None,
) -> Function:
    """Compile a graph into a function.

    Parameters
    ----------
    inputs : list of Variable or In
        What callers pass, in this order.
    outputs : Variable or Out, list of them, or dict of them by name, optional
        What the function returns: a value, a list or a dict; an empty list when not given.
    mode : str or Mode, optional
        How to compile; by default the flag `mode`.
    updates : pairs or mapping, optional
        Shared variables, and the expressions that replace their values after each call.
    givens : pairs or mapping, optional
        Variables, and the expressions that stand for them in this function.
    no_default_updates : bool or list of shared variables, optional
        Whether, or for which variables, not to apply default updates.
    accept_inplace : bool, optional
        Whether the graph may already hold operations that overwrite their inputs.
    name : str, optional
        Name in profiles and errors; by default the caller's file and line.
    rebuild_strict : bool, optional
        Whether `givens` must keep each variable's type.
    allow_input_downcast : bool, optional
        True lets passed values lose precision, False does not, None does so for Python floats.
    profile : bool or str or ProfileStats, optional
        Whether, under which name, or where to count time; by default the flag `profile`.
    on_unused_input : {'raise', 'warn', 'ignore'}, optional
        What to do when an input is not used; by default the flag of that name.
    data_parallel : list of Variable or (Variable, int), optional
        Inputs that hold a batch, each with the dimension that does (by default the first). Each
        device computes with its rows of them, in the mode 'XLA'; the function gives what it gives
        on one device, to rounding.
    devices : list of str, optional
        The devices for that, such as 'cuda0' and 'cuda1'; by default all of the engine's kind.
    memory_budget : float, optional
        MiB that a call may take for results and work memory; 0: any. Loops that are differentiated
        keep as many steps as that allows, and compute the others again. By default the flag
        `scan.memory_budget`.

    Returns
    -------
    Function

    Raises
    ------
    TypeError
        When `inputs`, `data_parallel` or `devices` is not a list, or an input, output or update has
        the wrong type.
    ValueError
        When `updates` is not made of pairs, updates a variable twice, or a mode is not known;
        when `data_parallel` names what is no input, or, in a call, an operation cannot be split;
        when `memory_budget` is asked of another engine than the native one.
    MemoryError
        In a call that takes more than its budget, however few steps are kept.
    AssertionError
        When `givens` replaces a variable twice.
    UnusedInputError
        When an input is not used, or is listed twice.

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> x = T.vector("x")
    >>> total = theano.shared(0.0)
    >>> f = theano.function([x], 2 * x, updates=[(total, total + x.sum())])
    >>> f([1, 2])
    array([2., 4.])
    >>> float(total.get_value())
    3.0
    """
    inputs, outputs = as_list(inputs), as_list(outputs)
    if not isinstance(inputs, list | tuple):
        raise TypeError(
            "Input variables of a Theano function should be contained in a list, even when there "
            f"is a single input; got {type(inputs).__name__}"
        )
    if not isinstance(no_default_updates, bool | list):
        raise TypeError("no_default_updates should be either a boolean or a list")
    check_inputs(inputs)
    check_outputs(outputs)
    output_keys, outputs = _split_dict(outputs)
    name = name or _caller()
    replacements = given_pairs(givens)
    try:
        with rare_collections():
            with _rewriting:
                mode = split_mode(get_mode(mode), inputs, data_parallel, devices, replacements)
                specs, cloned_outputs = construct_function_ins_and_outs(
                    list(inputs),
                    outputs,
                    updates=update_pairs(updates),
                    givens=replacements,
                    no_default_updates=no_default_updates,
                    rebuild_strict=rebuild_strict,
                    allow_input_downcast=allow_input_downcast,
                )
                if _all_are_used(specs, _variables_of(cloned_outputs)):
                    # PyTensor looks each up in a list of all variables
                    on_unused_input = "ignore"
                budget = _budget(memory_budget, mode)
                if budget:
                    # it imports all of the loops, which few programs need at once
                    from theano.compile.memory_budget import within_budget

                    specs, cloned_outputs = within_budget(specs, cloned_outputs, budget)
                results = _variables_of(cloned_outputs)
                if accept_inplace:
                    mark_overwritten([spec.variable for spec in specs], results)
                with no_test_values(), no_blas_warnings(), _no_traces(), with_rollback(specs, mode):
                    maker = mode.function_maker(
                        specs,
                        cloned_outputs,
                        mode,
                        accept_inplace=accept_inplace,
                        function_class=_function_class(specs, output_keys),
                        profile=profile_for(profile, name),
                        on_unused_input=on_unused_input,
                        name=name,
                    )
            with no_test_values(), no_blas_warnings(), _no_traces():
                function = maker.create()
                keep_less(maker)
    except (TypeError, RuntimeError, UnusedInputError, MissingInputError) as error:
        error.args = tuple(_in_theanos_name(argument) for argument in error.args)
        if str(error).startswith("Cannot convert Type"):
            error.args = ("\n".join(filter(None, [str(error), of_other_dtype(replacements)])),)
        raise
    except Exception as error:
        if is_of_compiler(error):
            explain_compile_error(error)
        raise
    return counted_when_it_dies(function)


def _no_traces() -> AbstractContextManager[None]:
    """Return a context in which PyTensor sets the limit of traces to what it is: 0, but for a flag."""
    return nullcontext() if config.traceback.compile_limit else untraced


def _forget_other_threads() -> None:
    """After a fork the child has this thread only: nobody else rewrites."""
    global _rewriting
    _rewriting = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)


def function_dump(
    filename: str,
    inputs: Sequence,
    outputs: Outputs = None,
    mode: str | PyTensorMode | None = None,
    updates: Pairs | None = None,
    givens: Pairs | None = None,
    no_default_updates: bool | list = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: bool | str | ProfileStats | None = None,
    on_unused_input: str | None = None,
    extra_tag_to_remove: str | None = None,
) -> None:
    """Pickle the arguments of `theano.function` to a file, to study a compilation elsewhere.

    Parameters
    ----------
    filename : str
        File to write. ``theano.function(**pickle.load(file))`` compiles what it holds.
    extra_tag_to_remove : str, optional
        Tags of variables to leave out.
    inputs, outputs, mode, updates, givens, no_default_updates, accept_inplace, name, \
rebuild_strict, allow_input_downcast, profile, on_unused_input
        As for `theano.function`.
    """
    arguments = locals().copy()
    del arguments["filename"], arguments["extra_tag_to_remove"]
    with open(filename, "wb") as file:
        StripPickler(file, protocol=-1, extra_tag_to_remove=extra_tag_to_remove).dump(arguments)


def _split_dict(outputs):
    """Return the keys, in order, and the values of a dict of outputs; other outputs unchanged."""
    if not isinstance(outputs, dict):
        return None, outputs
    for key in outputs:
        if not isinstance(key, str):
            raise AssertionError(f"The keys of a dict of outputs must be strings, not {key!r}")
    keys = sorted(outputs)
    return keys, [outputs[key] for key in keys]


def _variables_of(outputs: object) -> list:
    given = outputs if isinstance(outputs, list) else [outputs]
    return [getattr(result, "variable", result) for result in given]


def _all_are_used(specs: Sequence, results: list) -> bool:
    """Return whether each input is read, or is a shared variable that is updated."""
    updates: list = [spec.update for spec in specs if spec.update is not None]
    inputs = [spec.variable for spec in specs]
    computed = [v for v in (*results, *updates) if isinstance(v, Variable)]
    used: set[Variable] = set(ancestors(computed, blockers=inputs))
    return all(spec.update is not None or spec.variable in used for spec in specs)


def _budget(asked: float | None, mode: PyTensorMode) -> float:
    """Return the MiB that calls may take; 0 where there is no bound."""
    keeps = getattr(mode.linker, "keeps_to_budgets", False)
    if asked is None:
        return config.scan.memory_budget if keeps else 0
    if asked < 0:
        raise ValueError(f"memory_budget: expected MiB, or 0 for no bound; got {asked}")
    if asked and not keeps:
        raise ValueError(f"memory_budget: only the native engine supports it; the mode is {mode}")
    return asked


def _function_class(specs, output_keys):
    if output_keys is not None:
        return functools.partial(FunctionWithExtras, output_keys=output_keys)
    if any(getattr(spec, "has_default", False) for spec in specs):
        return FunctionWithExtras
    return Function


def _caller() -> str:
    """Return the line of the program that has a function compiled, as its name."""
    nearest = sys._getframe(2)
    frame = users_frame(nearest) or nearest
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _in_theanos_name(argument):
    if not isinstance(argument, str):
        return argument
    for name, theanos in THEANOS_NAMES.items():
        argument = argument.replace(name, theanos)
    return argument
