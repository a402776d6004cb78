"""The modes that compile the steps of loops: whoever defines modes says here which they are.

A loop is a graph and needs no engine; but its operation keeps the mode of its step, which is a
its own function where the loop is not compiled as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.compile.mode import Mode

from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class StepModes:
    """The modes that steps may have.

    Attributes
    ----------
    of_step
        The mode for what a user gives as one, or for None.
    default
        The mode of steps for which the user names none.
    quick
        The mode of steps that take longer to compile than to run.
    """

    of_step: Callable[[Any], Mode]
    default: Callable[[], Mode]
    quick: Mode


_in_use: list[StepModes] = []


def use_step_modes(modes: StepModes) -> None:
    """Record which modes steps have."""
    _in_use[:] = [modes]


def step_modes() -> StepModes:
    """Return the modes that steps have."""
    [modes] = _in_use
    return modes
