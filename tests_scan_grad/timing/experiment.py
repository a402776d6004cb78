"""What an experiment is made of: sizes, problems, and the programs that solve them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

TOLERANCE = {"float32": 1e-4, "float64": 1e-10}


class TimingError(Exception):
    """A request that cannot be met; the message says what to do about it."""


class Disagreement(Exception):
    """Two programs gave different results for the same problem."""


@dataclass(frozen=True)
class Sizes:
    """How large a problem is. A size that an experiment does not have is None."""

    batch: int | None = None
    steps: int | None = None
    dim: int | None = None
    dtype: str = "float32"

    def override(self, experiment: str, **given: Any) -> Sizes:
        """Return these sizes with the given ones in their place; None means not given."""
        wanted = {name: value for name, value in given.items() if value is not None}
        for name, value in wanted.items():
            if getattr(self, name) is None:
                raise TimingError(f"{experiment} has no size {name!r}: leave out --{name}")
            if name != "dtype" and value < 1:
                raise TimingError(f"--{name} must be at least 1, and {value} was given")
        return replace(self, **wanted)


@dataclass(frozen=True)
class Program:
    """A program that is ready to run.

    Parameters
    ----------
    call
        Runs it once, waits for the end, and returns its results in its own form.
    to_numpy
        Turns what `call` returned into a list of arrays.
    compile_seconds
        From the start of building the graph to a program that can be called.
        None for programs that are not compiled.
    function, arguments
        The compiled function and what it is called with, where its loops can be inspected.
    """

    call: Callable[[], Any]
    to_numpy: Callable[[Any], list[np.ndarray]]
    compile_seconds: float | None = None
    function: Any = None
    arguments: tuple = ()


@dataclass(frozen=True)
class Problem:
    """One set of inputs, and the ways to compute the same results from it.

    `methods` are this project's; `peers` are others'. Both map a name to a function that
    makes the program ready. The first method is what all others are compared with.
    """

    label: str
    results: tuple[str, ...]
    methods: Mapping[str, Callable[[], Program]]
    peers: Mapping[str, Callable[[], Program]]


@dataclass(frozen=True)
class Experiment:
    """A named experiment: its default sizes, and its problems at given sizes."""

    name: str
    summary: str
    sizes: Sizes
    peers: tuple[str, ...]
    problems: Callable[[Sizes], Iterable[Problem]]
    devices: tuple[str, ...] = ("cpu",)
