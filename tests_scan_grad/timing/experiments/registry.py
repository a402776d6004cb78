"""The names of the experiments. A new one is one file here next to it and one line below."""

from __future__ import annotations

from importlib import import_module

from tests_scan_grad.timing.experiment import Experiment, TimingError

NAMES = (
    "compile",
    "dotspeed",
    "gatedrnn",
    "gpu",
    "images",
    "kinds",
    "loops",
    "memory",
    "operations",
    "products",
    "pymc",
    "rnn",
    "samples",
    "scaling",
    "steps",
)


def experiment_named(name: str) -> Experiment:
    """Return the experiment of this name.

    Raises
    ------
    TimingError
        If there is none; the message lists those that there are.
    """
    if name not in NAMES:
        raise TimingError(f"no experiment is called {name!r}; there are: {', '.join(NAMES)}")
    return import_module(f"{__package__}.{name}").EXPERIMENT
