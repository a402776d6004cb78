"""Errors of inputs and outputs of ``theano.function`` that are no variables, with their places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.compile.io import In, Out
from pytensor.graph.basic import Constant, Variable

from theano.support.formatting.values import described
from theano.updates import OrderedUpdates


def check_inputs(inputs: Sequence[Any]) -> None:
    """Raise a TypeError that names the first input that callers cannot pass a value for."""
    for place, given in enumerate(inputs):
        if isinstance(given, Constant):
            raise TypeError(
                f"Constants not allowed in param list: inputs[{place}] is the constant {given};"
                " expected a variable without a value, such as T.matrix('x')"
            )
        if not isinstance(given, Variable | In):
            raise TypeError(
                f"Unknown parameter type: {type(given)}: inputs[{place}] is {described(given)};"
                " expected a variable, such as T.matrix('x'), or theano.In of one"
            )


def check_outputs(outputs: object) -> None:
    """Raise a TypeError that names the first output that no graph computes."""
    for place, given in _with_places(outputs):
        if isinstance(given, OrderedUpdates):
            raise TypeError(
                "Outputs must be Theano variables or Out instances, and one is the updates of a"
                f" loop ({place}): theano.scan returns both, `outputs, updates = theano.scan(...)`"
            )
        if not isinstance(given, Variable | Out):
            raise TypeError(
                f"Outputs must be Theano variables or Out instances. Received {given} of type"
                f" {type(given)} as {place}"
            )


def _with_places(outputs: object) -> list[tuple[str, Any]]:
    if outputs is None:
        return []
    if isinstance(outputs, dict):
        return [(f"outputs[{key!r}]", given) for key, given in outputs.items()]
    if isinstance(outputs, list | tuple):
        return [(f"outputs[{index}]", given) for index, given in enumerate(outputs)]
    return [("outputs", outputs)]
