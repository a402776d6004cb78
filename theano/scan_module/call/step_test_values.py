"""While the flag compute_test_value is on, the arguments of a step have test values, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pytensor.graph.basic import Variable

from theano.configdefaults import config
from theano.gof.test_values import get_test_value, test_values_of_user_code
from theano.scan_module.call.arguments_by_role import Given
from theano.scan_module.loop.roles import MIT_SOT


def with_test_values(fn: Callable, given: Given) -> Callable:
    """Return the step function, called with arguments that have the values of a first step.

    Parameters
    ----------
    fn
        The step function.
    given
        What the loop is given. What has no test value gives none to its slices.
    """
    if config.compute_test_value == "off":
        return fn

    def step(*arguments):
        for argument, value in zip(arguments, _values_of_arguments(given), strict=False):
            if value is not None and not hasattr(argument.tag, "test_value"):
                argument.tag.test_value = value
        with test_values_of_user_code():
            return fn(*arguments)

    return step


def _values_of_arguments(given: Given) -> Iterator[Any]:
    # slices of sequences | earlier values of outputs | invariants
    for sequence in given.sequences:
        yield from _rows(_value(sequence.array), sequence.taps)
    for result in given.results:
        if result.initial is None:
            continue
        value = _value(result.initial)
        # the state before, if only that is read, is given without an axis of time
        yield from _rows(value, result.taps) if result.kind == MIT_SOT else [value]
    for variable in given.invariants:
        yield _value(variable)


def _rows(value: Any, taps: Sequence[int]) -> Iterator[Any]:
    for tap in taps:
        place = tap - min(taps)
        yield value[place] if value is not None and place < len(value) else None


def _value(variable: Variable) -> Any:
    """Return the test value of a variable; None if it has none."""
    try:
        return get_test_value(variable)
    except AttributeError:
        return None
