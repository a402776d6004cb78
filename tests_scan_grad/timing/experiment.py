"""Parts of an experiment: sizes, problems, and the programs that solve them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

TOLERANCE = {"float32": 1e-4, "float64": 1e-10, "tf32": 1e-2}


class TimingError(Exception):
    """A request that cannot be met; the message says what to do about it."""


class Disagreement(Exception):
    """Two programs gave different results for the same problem."""


@dataclass(frozen=True)
class Sizes:
    """The parts of an experiment to run, and their sizes; None for what it does not have.

    `rows` are the names of those problems that are wanted; `quick` asks for shorter loops.
    """

    batch: int | None = None
    steps: int | None = None
    dim: int | None = None
    dtype: str | None = None
    rows: tuple[str, ...] | None = None
    quick: bool | None = None

    def override(self, experiment: str, **given: Any) -> Sizes:
        """Return these sizes with the given ones in their place; None means not given."""
        wanted = {name: value for name, value in given.items() if value is not None}
        for name, value in wanted.items():
            if getattr(self, name) is None:
                raise TimingError(f"{experiment} has no size {name!r}: leave out --{name}")
            if type(value) is int and value < 1:
                raise TimingError(f"--{name} must be at least 1, and {value} was given")
        return replace(self, **wanted)

    def given(self) -> dict[str, Any]:
        """Return those that the experiment has."""
        return {name: value for name, value in asdict(self).items() if value is not None}


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
        The compiled function and what it is called with.
    profiled
        Compiles the function again, with a profile of its nodes, where its loops can be inspected.
    own_clock
        Runs it once and returns the seconds, where those of `call` hold more than is meant.
    own_peak
        Returns the bytes that its calls added at their peak, the most of the processes that ran.
    remarks
        What a reader of its time must know.
    """

    call: Callable[[], Any]
    to_numpy: Callable[[Any], list[np.ndarray]]
    compile_seconds: float | None = None
    function: Any = None
    arguments: tuple = ()
    profiled: Callable[[], Any] | None = None
    own_clock: Callable[[], float] | None = None
    own_peak: Callable[[], int] | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """One set of inputs, and the ways to compute the same results from it.

    Parameters
    ----------
    methods, peers
        This project's programs, and others'. Both map a name to a function that makes the
        program ready. The first method is what all others are compared with.
    dtype
        What the results are computed in, 'tf32' where products of float32 are, and so how far they
        may be apart.
    unlike
        Names of programs that do comparable work with other results, which are not compared.
    steps
        The steps of a loop whose time is told for one step; None where the whole is told.
    goals
        For the first method, the ratio to another program that is wanted at most.
    goal_seconds
        The time that is wanted of the first method at most.
    floors
        Seconds below which no program can be, by what bounds it.
    """

    label: str
    results: tuple[str, ...]
    methods: Mapping[str, Callable[[], Program]]
    peers: Mapping[str, Callable[[], Program]]
    dtype: str = "float32"
    unlike: frozenset[str] = frozenset()
    steps: int | None = None
    goals: Mapping[str, float] = field(default_factory=dict)
    goal_seconds: float | None = None
    floors: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """A named experiment: its default sizes, and its problems at given sizes.

    Parameters
    ----------
    dissected
        Whether memory, the shares of a call and the products of its loops are found too.
    body
        Makes the lines of the report on a run, where they are not the usual ones.
    """

    name: str
    summary: str
    sizes: Sizes
    peers: tuple[str, ...]
    problems: Callable[[Sizes], Iterable[Problem]]
    devices: tuple[str, ...] = ("cpu",)
    dissected: bool = True
    body: Callable[[dict[str, Any]], list[str]] | None = None
