"""While the flag compute_test_value is on, the arguments of a step have test values, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.tensor.basic import as_tensor_variable

from theano.configdefaults import config
from theano.gof.test_values import get_test_value, test_values_of_user_code
from theano.scan_module.call.given import listed


def with_test_values(
    fn: Callable, sequences: Any, outputs_info: Any, non_sequences: Any
) -> Callable:
    """The step function, called with arguments that have the values of a first step.

    Parameters
    ----------
    fn
        The step function.
    sequences, outputs_info, non_sequences
        As given to ``scan``. What has no test value gives none to its slices.
    """
    if config.compute_test_value == "off":
        return fn

    def step(*arguments):
        values = _values_of_arguments(sequences, outputs_info, non_sequences)
        for argument, value in zip(arguments, values, strict=False):
            if value is not None and not hasattr(argument.tag, "test_value"):
                argument.tag.test_value = value
        with test_values_of_user_code():
            return fn(*arguments)

    return step


def _values_of_arguments(sequences, outputs_info, non_sequences) -> Iterator[Any]:
    # slices of sequences | earlier values of outputs | invariants
    for entry in listed(sequences):
        entry = entry if isinstance(entry, dict) else {"input": entry}
        yield from _rows(_value(entry["input"]), _taps(entry, 0))
    for entry in listed(outputs_info):
        entry = entry if isinstance(entry, dict) else {"initial": entry}
        if entry.get("initial") is None:
            continue
        value, taps = _value(entry["initial"]), _taps(entry, -1)
        # the state before, if only that is read, is given without an axis of time
        yield from [value] if taps == [-1] else _rows(value, taps)
    for entry in listed(non_sequences):
        yield _value(entry)


def _taps(entry: dict, default: int) -> list[int]:
    taps = entry.get("taps")
    taps = default if taps is None else taps
    return [taps] if isinstance(taps, int) else list(taps)


def _rows(value: Any, taps: list[int]) -> Iterator[Any]:
    for tap in taps:
        place = tap - min(taps)
        yield value[place] if value is not None and place < len(value) else None


def _value(given: Any) -> Any:
    """The test value of what the user gave; None if it has none."""
    variable = given if isinstance(given, Variable) else as_tensor_variable(given)
    try:
        return get_test_value(variable)
    except AttributeError:
        return None
