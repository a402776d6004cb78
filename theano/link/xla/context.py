"""The engine as lowerings see it, and how they refuse."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from itertools import count
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Variable

from theano.link.xla.sizes import Largest
from theano.support.data_classes import dataclass


class CannotLower(Exception):
    """XLA has no program for an operation as it is used here; the text says why."""


@dataclass(frozen=True)
class Ragged:
    """An array of which only the first rows are there; how many, running the program shows.

    Nothing reads it in the program that makes it.
    """

    rows: Any
    length: Any


@dataclass(frozen=True)
class Requirement:
    """A condition that is known only when the program runs.

    Attributes
    ----------
    holds
        A traced boolean scalar.
    error
        What is raised when it is false.
    node
        Whose condition it is.
    """

    holds: Any
    error: Exception
    node: Apply | None = None


@dataclass(frozen=True)
class Context:
    """The tracing of a graph: where it runs, and how.

    Attributes
    ----------
    precision
        Of products: a ``jax.lax.Precision``.
    in_loop
        Whether the graph is the step of a loop.
    requirements
        What must hold when the program runs; the linker checks it after the segment.
    known
        The values of the graph's variables so far.
    marks
        Numbers that no other buffer is filled with.
    platform
        What JAX calls the kind of device that runs it: 'cpu' or 'gpu'.
    before_call
        Whether it is no program that is traced: NumPy computes what a call needs to know first.
    largest
        The largest of all values so far, steps' and branches' among them.
    ratios
        How much longer than another call one may take, for each node of whose time values decide.
    loops
        The loops so far, by the names under which they are separate functions; None where all
        of a loop's steps run at once.
    once
        Variables of a step that are computed once, however often they are read.
    zeros
        Inputs of a step that are zero everywhere.
    gpu_kernels
        Which loops may be one kernel of a GPU: the flag ``scan.gpu_kernels`` when the function was compiled.
    loops_on_gpu
        For each loop that may be one kernel of a GPU, what it is, or why it has none.
    """

    precision: Any = None
    in_loop: bool = False
    requirements: list[Requirement] = field(default_factory=list)
    known: Mapping[Any, Any] = field(default_factory=dict)
    marks: Iterator[int] = field(default_factory=lambda: count(1))
    platform: str = "cpu"
    before_call: bool = False
    largest: Largest = field(default_factory=Largest)
    ratios: list[int] = field(default_factory=list)
    loops: dict[str, Any] | None = None
    once: Collection[Variable] = ()
    zeros: Collection[Variable] = ()
    gpu_kernels: str = "never"
    loops_on_gpu: dict[str, None] = field(default_factory=dict)

    def require(self, holds: Any, error: Exception) -> None:
        """Have `error` raised where `holds` is false: now, or once its value is known."""
        if is_traced(holds):
            self.requirements.append(Requirement(holds, error))
        elif not np.all(holds):
            raise error

    def of_branch(self) -> Context:
        """Return the context of a branch, whose requirements matter only if it is taken."""
        return replace(self, requirements=[], loops=None)

    def of_step(self, once: Collection[Variable] = (), zeros: Collection[Variable] = ()) -> Context:
        """Return the context of a loop's step, whose requirements the loop hands on."""
        return replace(self, in_loop=True, requirements=[], loops=None, once=once, zeros=zeros)


def is_traced(value: object) -> bool:
    """Return whether a value is JAX's, and so perhaps not known before the program runs."""
    import jax

    return isinstance(value, jax.Array)
