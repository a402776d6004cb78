"""A segment: nodes of a function's graph that become one C function, and how it is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable

from theano.link.native.ir.ir import Argument, Buffer, StepError
from theano.link.native.ir.memory_plan import MemoryPlan
from theano.link.native.ir.partitions import Share
from theano.link.native.ir.prologue import Require
from theano.link.native.ir.symbolic import Name, Operation, SizeOfArray
from theano.link.native.lowering.loop import Loop, loops_of
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Statement
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class Output:
    """A variable that others need, where it is stored, and its shape.

    Attributes
    ----------
    overwrites
        The position of the input whose memory it may take.
    element_by_element
        Whether it is computed there, so that no other input may lie in that memory.
    """

    variable: Variable
    argument: Argument
    buffer: Buffer
    overwrites: int | None = None
    element_by_element: bool = False


@dataclass(frozen=True, eq=False)
class Passed:
    """An array that is passed to a segment's C function.

    Attributes
    ----------
    variable
        What it is the value of; none for a constant, which is here.
    name
        What messages call it.
    in_columns
        Whether the code reads it in Fortran's order, and not in C's.
    overwrites, element_by_element
        Of a result, as in `Output`.
    """

    variable: Variable | None
    dtype: str
    ndim: int
    name: str = ""
    constant: np.ndarray | None = None
    in_columns: bool = False
    overwrites: int | None = None
    element_by_element: bool = False


@dataclass(frozen=True)
class Check:
    """A condition without which a call is refused.

    Attributes
    ----------
    text
        The error message, with a ``%lld`` for each of the sizes.
    sizes
        Of each size that it gives, the position of an input and the dimension.
    """

    text: str
    sizes: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, eq=False)
class SegmentCall:
    """All that is needed to call a segment's C function once it is compiled.

    Attributes
    ----------
    nodes
        What it computes.
    destroyed
        The positions of the inputs that its nodes may change in place.
    commits
        Whether it writes into shared variables, as the last part of the function.
    checks, errors
        The error messages of a call that fails, and what it raises; see `Sizes` and `Step`.
    may_stop_early
        Whether rows of results may be left out.
    """

    name: str
    nodes: tuple[Any, ...]
    inputs: tuple[Passed, ...]
    outputs: tuple[Passed, ...]
    checks: tuple[Check, ...]
    errors: tuple[StepError, ...]
    may_stop_early: bool
    destroyed: tuple[int, ...] = ()
    commits: bool = False

    def __str__(self) -> str:
        return described(self.name, self.nodes)


@dataclass(eq=False)
class Segment:
    """All that is needed to write a segment in C.

    Attributes
    ----------
    inputs
        The arguments that the caller passes, each with its variable, or with none for a constant.
    destroyed, commits
        As in `SegmentCall`.
    mutable
        The inputs that may be overwritten, and of a shared variable its next value.
    is_last
        Whether nothing of the function runs after it.
    parts
        What each of several threads does of statements that are shared by themselves.
    commit
        The position of the first statement that writes into an input.
    memory
        Where what lies in work memory lies there.
    """

    name: str
    nodes: list[Any]
    step: Step
    inputs: list[tuple[Argument, Variable | None]] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    destroyed: tuple[int, ...] = ()
    commits: bool = False
    mutable: Mapping[Variable, Variable | None] = field(default_factory=dict)
    is_last: bool = False
    parts: dict[Statement, Share] = field(default_factory=dict)
    commit: int | None = None
    memory: MemoryPlan | None = None
    # a segment has no states, and statements share threads one by one
    rings: tuple[Argument, ...] = ()
    sharing: None = None

    def __str__(self) -> str:
        return described(self.name, self.nodes)

    @property
    def results(self) -> list[Argument]:
        """The arrays that the caller makes when it knows their sizes."""
        return [output.argument for output in self.outputs]

    @property
    def passed(self) -> list[Argument]:
        """The arrays that the caller passes."""
        return [argument for argument, _ in self.inputs]

    @property
    def loops(self) -> list[Loop]:
        """The loops that it calls, and those that these call, each after those that it calls."""
        return loops_of(self.step)

    def call(self) -> SegmentCall:
        """Return how it is called."""
        step = self.step
        return SegmentCall(
            self.name,
            tuple(self.nodes),
            tuple(_passed(variable, argument) for argument, variable in self.inputs),
            tuple(
                replace(
                    _passed(output.variable, output.argument),
                    overwrites=output.overwrites,
                    element_by_element=output.element_by_element,
                )
                for output in self.outputs
            ),
            self._checks(),
            tuple(step.errors),
            bool(step.rows_reached),
            self.destroyed,
            self.commits,
        )

    def _checks(self) -> tuple[Check, ...]:
        """Return the conditions of a call, in the order of their numbers."""
        sizes = self.step.sizes
        conditions = {e.check: e.condition for e in sizes.entries if isinstance(e, Require)}
        passed = {
            size: (k, d)
            for k, (argument, _) in enumerate(self.inputs)
            for d in range(len(argument.shape))
            for size in (Name(f"{argument.name}_n{d}"), SizeOfArray(argument.name, d))
        }
        return tuple(
            self._check(why, conditions.get(number), passed)
            for number, why in enumerate(sizes.checks, 1)
        )

    def _check(self, why: str, condition: object, passed: dict[Any, tuple[int, int]]) -> Check:
        """Return a check whose message gives the sizes that differ, as far as a call is given them."""
        match condition:
            case Operation("==", a, b) if a in passed or b in passed:
                expected, got = (a, b) if b in passed else (b, a)
                sizes, wanted = [passed[got]], ""
                if isinstance(expected, int):
                    wanted = f"expected {expected}, "
                elif expected in passed:
                    sizes.insert(0, passed[expected])
                    wanted = f"expected %lld, as {self._place(*passed[expected])} has, "
                place = self._place(*passed[got])
                return Check(f"{_of_c(why)}: {wanted}got %lld along {place}", tuple(sizes))
        return Check(f"what does not hold: {_of_c(why)}")

    def _place(self, position: int, dimension: int) -> str:
        argument, variable = self.inputs[position]
        return _of_c(f"dimension {dimension} of {argument.comment or variable}")


def _of_c(text: str) -> str:
    """Return a text within a format of C."""
    return text.replace("%", "%%")


def _passed(variable: Variable | None, argument: Argument) -> Passed:
    name = argument.comment or argument.name
    ndim = len(argument.shape)
    return Passed(variable, argument.dtype, ndim, name, argument.constant, argument.in_columns)


def described(name: str, nodes: Sequence[Any]) -> str:
    """Return the name of a segment, with how many nodes of which operations it has."""
    counts = Counter(str(node.op).split("{")[0] for node in nodes)
    return f"{name}: " + ", ".join(f"{n} {operation}" for operation, n in counts.items())


def takes_offers(segment: Segment | SegmentCall) -> bool:
    """Return whether a call may be offered the results of the call before as room for its own.

    Not where memory of inputs is taken for results: whether it can be is decided by the inputs.
    """
    return not segment.commits and all(o.overwrites is None for o in segment.outputs)
