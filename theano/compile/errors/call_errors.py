"""Errors of calls of compiled functions: which input, where, what was expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytensor.raise_op import CheckAndRaise

from theano.compile.errors.hints import hints_for, lengths_that_differ
from theano.compile.errors.wrong_values import WrongValueError
from theano.compile.specify_shape import SpecifyShape, WrongShapeError
from theano.pytensor_internals.functions.compiling import Function as PyTensorFunction
from theano.pytensor_internals.functions.compiling import containers_by_key
from theano.source_locations.lines import format_lines, nearest_line
from theano.support.formatting.nearest_name import did_you_mean
from theano.support.formatting.values import described, shortened

if TYPE_CHECKING:
    from theano.compile.errors.failed_operations import FailedOperation

__all__ = [
    "explain_bad_call",
    "explain_failure",
    "lines_about",
    "mark_explained",
    "signature",
    "title",
]

# Errors whose arguments are a message and nothing else.
_PLAIN_ERRORS = (
    AssertionError,
    IndexError,
    RuntimeError,
    TypeError,
    ValueError,
    WrongShapeError,
    WrongValueError,
)


# So many characters of an operation's message are shown.
_LONGEST_MESSAGE = 2000


def explain_bad_call(
    function: PyTensorFunction, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Exception | None:
    """Return the error that says what is wrong with a call, or None if nothing is found.

    Parameters
    ----------
    function : Function
        The function that was called.
    args, kwargs : sequence, mapping
        What it was called with.

    Returns
    -------
    TypeError or the kind of error that the input's type raised, or None
    """
    explicit = _explicit_inputs(function)
    called = title(function)
    if len(args) > len(explicit):
        return TypeError(
            f"Too many parameters passed to {called}: it takes {len(explicit)} "
            f"({signature(function)}), and {len(args)} were given"
        )
    names = [spec.name for _, spec, _ in explicit if spec.name]
    for name in kwargs:
        if name not in containers_by_key(function):
            return TypeError(
                f"Unknown input {name!r} to {called}: it has {signature(function)}"
                f"{did_you_mean(str(name), names)}"
            )
    for index, spec, container in explicit:
        if index < len(args) and spec.name and spec.name in kwargs:
            return TypeError(
                f"Multiple values of input {spec.name!r} passed to {called}: at index {index}"
                " (0-based), and by its name"
            )
        if index < len(args):
            value = args[index]
        elif spec.name in kwargs:
            value = kwargs[spec.name]
        elif container.required:
            return TypeError(
                f"Missing required input {_named(spec)}to {called} at index {index} (0-based): "
                f"expected {spec.variable.type}"
            )
        else:
            continue
        try:
            spec.variable.type.filter(
                value, strict=container.strict, allow_downcast=container.allow_downcast
            )
        except Exception as error:
            kind = type(error) if type(error) in (TypeError, ValueError) else TypeError
            reason = "None is no array." if value is None else shortened(str(error))
            return kind(
                f"Bad input argument {_named(spec)}to {called} at index {index} (0-based): "
                f"expected {spec.variable.type}, got {described(value)}. {reason}"
            )
    return None


def explain_failure(function: PyTensorFunction, error: Exception) -> Exception:
    """Return an error of a running function with the operation, the user's line, and the inputs.

    Parameters
    ----------
    function : Function
        The function that failed; it still holds what it was called with.
    error : Exception
        What it raised. A plain error says more afterwards; one of another class gets a note.

    Returns
    -------
    Exception
        The same error; of a wrong shape a WrongShapeError.
    """
    # Imported when first used: it knows loops.
    from theano.compile.errors.failed_operations import failed_operations

    failed = failed_operations(error, function.maker.fgraph)
    # An error of the arguments has been explained, and no operation has run.
    if not failed or hasattr(error, "explained_by_theano"):
        return error
    if type(error) is AssertionError and isinstance(failed[-1].node.op, SpecifyShape):
        error = WrongShapeError(*error.args).with_traceback(error.__traceback__)
    _forget_pytensors_hint(error)
    lines = lines_about(failed)
    passed = [
        f"{spec.name or f'input {i}'}: {described(box.storage[0])}, expected {spec.variable.type}"
        for i, spec, box in _explicit_inputs(function)
    ]
    lines.append(f"Called was {title(function)} with {'; '.join(passed) or 'no inputs'}")
    lines += hints_for(error, failed[-1].node)
    text = "\n".join(lines)
    if type(error) in _PLAIN_ERRORS:
        message = ", ".join(map(str, error.args))
        if type(failed[-1].node.op).__module__.startswith(("pytensor.", "theano.")):
            # some of them print whole arrays
            message = shortened(message, most=_LONGEST_MESSAGE)
        error.args = (f"{message}\n{text}",)
    else:
        error.add_note(text)
    mark_explained(error)
    return error


def mark_explained(error: Exception) -> None:
    """Note on an error that it needs no more explanation."""
    error.explained_by_theano = True  # type: ignore[attr-defined]


def _forget_pytensors_hint(error: Exception) -> None:
    """Take away the note on each raise again, that a flag adds more to the message: it is set."""
    notes = getattr(error, "__notes__", [])
    notes[:] = [note for note in notes if "config.exception_verbosity" not in note]


def lines_about(failed: Sequence[FailedOperation]) -> list[str]:
    """Lines about operations that failed, of a loop after that of its step."""
    return [line for each in reversed(failed) for line in (each.title, *_about(each))]


def _about(operation: FailedOperation) -> list[str]:
    """Lines that say where an operation was made, at which step it ran, and what it was given."""
    lines, node, thunk = [], operation.node, operation.thunk
    if where := format_lines(node):
        lines.append(f"Created at: {where}")
    elif where := nearest_line(node):
        lines.append(f"Computed from what was created at: {where}")
    if operation.step:
        lines.append(operation.step)
    lines.append(f"Inputs types: {[variable.type for variable in node.inputs]}")
    if hasattr(thunk, "inputs"):
        shapes = [getattr(box[0], "shape", None) for box in thunk.inputs]
        lines += [f"Inputs shapes: {shapes}", *lengths_that_differ(node, shapes)]
        if isinstance(node.op, CheckAndRaise):
            lines.append(f"Inputs values: {', '.join(described(box[0]) for box in thunk.inputs)}")
    return lines


def _explicit_inputs(function):
    pairs = zip(function.maker.inputs, function.input_storage, strict=True)
    return [(i, spec, box) for i, (spec, box) in enumerate(pairs) if not spec.implicit]


def title(function) -> str:
    return f'theano function with name "{function.name}"' if function.name else "theano function"


def signature(function) -> str:
    inputs = [
        f"{spec.name or 'unnamed'}: {spec.variable.type}"
        for _, spec, _ in _explicit_inputs(function)
    ]
    return ", ".join(inputs) or "no inputs"


def _named(spec) -> str:
    return f'with name "{spec.name}" ' if spec.name else ""
