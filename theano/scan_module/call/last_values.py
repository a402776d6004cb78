"""Results of a loop of which there is only the last value, which is no array of all steps."""

from __future__ import annotations

import warnings

from theano.flags.flag import caller_stacklevel
from theano.pytensor_internals.operations.tensor import RandomType
from theano.scan_module.call.arguments_by_role import UNTRACED, Given
from theano.scan_module.call.step_results import loop_name
from theano.tensor.numpy_samplers.random_function import RandomStateType

# nobody asks for the states of all steps of a random generator
_GENERATORS = (RandomType, RandomStateType)


def warn_of_last_values(given: Given, name: str | None) -> None:
    """Warn of each state without a shape: the loop gives its last value, not those of all steps.

    Theano 1.0 took arrays only.

    Warns
    -----
    UserWarning
        For each such state that is no random generator.
    """
    for position, result in enumerate(given.results):
        if result.kind != UNTRACED:
            continue
        assert result.initial is not None
        if isinstance(result.initial.type, _GENERATORS):
            continue
        warnings.warn(
            f"{loop_name(name)}: output {position} is a state of type {result.initial.type}, whose"
            " values cannot be stacked: the loop gives its last value, not the values of all steps",
            UserWarning,
            stacklevel=caller_stacklevel(),
        )
