"""Checks of the arguments and results of a step's function, with errors before the loop is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.scan import get_updates_and_outputs, until
from theano.scan_module.call.written_step import WrittenStep
from theano.scan_module.step.sparse_matrices import check_not_sparse
from theano.source_locations.dtypes import origin_of_dtype

WHAT_STEPS_RETURN = (
    "expected a variable or a list of variables, then, if there are any, a dictionary of updates of"
    " shared variables, then until(condition): `return [a, b], updates, until(a > 1)`. A number is"
    " returned as T.constant(number) (doc/tutorials/scan_by_example.md)"
)


def checked(fn: Callable, outputs_info: object, name: str | None) -> Callable:
    """Return the step function, with the numbers of its arguments and of its outputs checked.

    Raises
    ------
    TypeError
        If ``fn`` is no function.
    """
    if not callable(fn):
        raise TypeError(f"{loop_name(name)}: expected a function of one step, got {fn!r}")
    expected = None
    if outputs_info is not None:
        expected = len(outputs_info) if isinstance(outputs_info, list | tuple) else 1
    title = f"{loop_name(name)}: the {_named(fn)}"
    without_state = _entries_without_state(outputs_info)

    def step(*arguments):
        if reason := _misfit(fn, arguments):
            raise TypeError(
                f"{title} is called with {len(arguments)} argument(s), in this order: elements of"
                f" the sequences, values of the steps before, non_sequences; {reason}{without_state}"
            )
        result = fn(*arguments)
        try:
            _, outputs, updates = get_updates_and_outputs(result)
        except ValueError:
            last = result[-1] if isinstance(result, list | tuple) and len(result) else None
            raise ValueError(
                f"{title} returned {_shown(result)}; {WHAT_STEPS_RETURN}.{_without_until(last)}"
            ) from None
        for key in updates:
            if not isinstance(key, SharedVariable):
                raise TypeError(
                    f"{title} returned {_shown(result)}, in which a pair or a dictionary is of"
                    f" updates, and {key} is no shared variable; {WHAT_STEPS_RETURN}"
                )
        if expected and len(outputs) != expected:
            surplus = outputs[-1] if len(outputs) == expected + 1 else None
            raise ValueError(
                f"{title} returned {len(outputs)} output(s), but"
                f" outputs_info has {expected} entr{'y' if expected == 1 else 'ies'}; give one"
                f" entry per output, None for an output that no step reads.{_without_until(surplus)}"
            )
        for place, output in enumerate(outputs):
            check_not_sparse(output, f"{title}: output {place}")
        return result

    return step


def _named(fn: Callable) -> str:
    """Return a step function's name, and where it is written if that is known."""
    code = getattr(fn, "__code__", None)
    where = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
    return f"step function {getattr(fn, '__name__', fn)}{where}"


def _entries_without_state(outputs_info: object) -> str:
    """Return what to say of the outputs whose values no step is passed."""
    if not isinstance(outputs_info, list | tuple):
        return "" if outputs_info is not None else ". Without outputs_info, no state is passed"
    places = [str(place) for place, entry in enumerate(outputs_info) if _initial(entry) is None]
    if not places:
        return ""
    which = "entry" if len(places) == 1 else "entries"
    return (
        f". In outputs_info, {which} {', '.join(places)} {'is' if len(places) == 1 else 'are'} None,"
        f" so no state is passed for {'it' if len(places) == 1 else 'them'}; give an initial value"
        " if the step reads the value of the step before"
    )


def _initial(entry: object) -> Any:
    return entry.get("initial") if isinstance(entry, dict) else entry


def _without_until(last: object) -> str:
    """Return what to say of something returned last that reads like a condition to end by."""
    if not isinstance(last, Variable) or not isinstance(last.type, TensorType):
        return ""
    if last.type.dtype != "bool" or last.type.ndim != 0:
        return ""
    return f" If the loop shall end once {last} is true, return until({last}) in its place."


def _shown(result: object) -> str:
    """Return what a step returned, by classes of what is no variable."""
    if isinstance(result, list | tuple):
        text = ", ".join(map(_shown, result))
        return f"[{text}]" if isinstance(result, list) else f"({text})"
    if isinstance(result, dict):
        return "{" + ", ".join(f"{_shown(k)}: {_shown(v)}" for k, v in result.items()) + "}"
    if isinstance(result, until):
        return f"until({result.condition})"
    return str(result) if isinstance(result, Variable) else repr(result)


def _misfit(fn: Callable, arguments: Sequence[Any]) -> str | None:
    """Why a function cannot be called with these arguments, as far as that is known before."""
    try:
        parameters = signature(fn)
    except (TypeError, ValueError):  # of a function that is not Python's
        return None
    try:
        parameters.bind(*arguments)
    except TypeError as error:
        return f"it takes {parameters}: {error}"
    return None


@contextmanager
def clearer_errors(
    fn: Callable, step: WrittenStep, outputs_info: object, name: str | None
) -> Iterator[None]:
    """Raise a ValueError that names the state, where PyTensor refuses one whose type changes."""
    try:
        yield
    except ValueError as error:
        reason = _type_that_changes(step.outputs, outputs_info)
        if reason is None:
            raise
        raise ValueError(f"{loop_name(name)}: {reason}; it is the {_named(fn)}") from error


def _type_that_changes(outputs: Sequence[Any], outputs_info: object) -> str | None:
    entries = outputs_info if isinstance(outputs_info, list | tuple) else [outputs_info]
    for position, (output, entry) in enumerate(zip(outputs, entries, strict=False)):
        initial = _initial(entry)
        if initial is None:
            continue
        start = as_tensor_variable(initial)
        before, after = start.type, as_tensor_variable(output).type
        if not (isinstance(before, TensorType) and isinstance(after, TensorType)):
            continue
        which = f"output {position}" + (f" ({start.name})" if start.name else "")
        taps = entry.get("taps") if isinstance(entry, dict) else None
        # the first axis of what is read several steps back is that of the steps
        ndim = before.ndim - (taps not in (None, -1, [-1], (-1,)))
        rank = f"{ndim}, and the step returns {after.ndim}" if ndim != after.ndim else ""
        if before.dtype != after.dtype:
            return (
                f"a state keeps its type, but the initial value of {which} has dtype"
                f" {before.dtype}, and the step returns {after.dtype}."
                f"{rank and f' The numbers of its dimensions differ, too: it has {rank}.'}"
                f" Give the initial value the step's type, such as"
                f" T.zeros(shape, dtype='{after.dtype}'), cast what the step returns, or mend what"
                f" made it {after.dtype}: {origin_of_dtype(after.dtype, as_tensor_variable(output))}"
            )
        if rank:
            each = "" if ndim == before.ndim else " for each step"
            return (
                f"a state keeps its number of dimensions, but the initial value of {which} has"
                f" {rank.replace(',', f'{each},', 1)}"
            )
    return None


def loop_name(name: str | None) -> str:
    return f"scan {name!r}" if name else "scan"
