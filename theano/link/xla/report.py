"""A report of what the engine did with the graph of a compiled function."""

from __future__ import annotations

from collections import Counter
from typing import Any

from theano.link.xla.buckets import BucketedProgram
from theano.link.xla.device.program import DeviceProgram
from theano.link.xla.generators.distributions import sampled_by_jax
from theano.link.xla.machine import Machine
from theano.pytensor_internals.functions.compiling import expect_function
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class StageRecord:
    """A stage of a function.

    Attributes
    ----------
    device
        The device that runs it; None is the host.
    operations
        How many nodes it has.
    programs
        How many programs XLA has made from it: one for each shape and static value so far.
    static
        The variables by whose values programs are specialised, if not by buckets of lengths.
    exact
        With ``xla.bucket_lengths``, why programs were made for single lengths all the same.
    loops
        With ``scan.gpu_kernels``, the loops of the programs so far: which are one kernel of a GPU, and
        why others are none.
    """

    device: str | None
    operations: int
    programs: int
    static: tuple[str, ...]
    exact: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()

    def __str__(self) -> str:
        operations = _counted(self.operations, "operation")
        if self.device is None:
            return f"on the host: {operations}"
        line = f"on {self.device}: {operations}, {_counted(self.programs, 'program')} so far"
        line += f", one for each value of {', '.join(self.static)}" if self.static else ""
        return "\n".join(
            [line, *(f"a program for each length, because of {e}" for e in self.exact), *self.loops]
        )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@dataclass(frozen=True)
class HostRecord:
    """An operation that stayed on the host, and why."""

    operation: str
    reason: str

    def __str__(self) -> str:
        return f"{self.operation}: on the host, because {self.reason}"


@dataclass(frozen=True)
class EngineReport:
    """The stages of a function, in the order in which they run.

    Attributes
    ----------
    host
        The operations that stayed on the host.
    cuts
        Values that a stage must know and that an earlier one computes.
    sampled_by_jax
        The names of the random variables that JAX's generators draw; see the flag ``xla.generators``.
    """

    stages: tuple[StageRecord, ...]
    host: tuple[HostRecord, ...]
    cuts: tuple[str, ...]
    sampled_by_jax: tuple[str, ...] = ()

    def __str__(self) -> str:
        drawn = [f"{name}: sampled by JAX's generators" for name in self.sampled_by_jax]
        counts = Counter([*drawn, *map(str, self.host)])
        repeated = [f"{n} times {line}" if n > 1 else line for line, n in counts.items()]
        cuts = [f"{cut}: its value must be known before the next stage" for cut in self.cuts]
        return "\n".join([*map(str, self.stages), *repeated, *cuts])


def report(function: object) -> EngineReport:
    """Return what the engine did with a function: its stages, and what stayed on the host and why.

    Parameters
    ----------
    function
        What ``theano.function`` returned.

    Returns
    -------
    EngineReport

    Raises
    ------
    TypeError
        When the function was compiled with another engine.

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> from theano.link.xla import report
    >>> x = T.vector("x")
    >>> print(report(theano.function([x], x * 2, mode="XLA")))
    on xla:cpu: 1 operation, 0 programs so far
    """
    machine = _machine_of(function)
    stages = [
        StageRecord(
            machine.values.device_name(stage.device) if stage.on_device else None,
            len(stage.nodes),
            len(program.specialisations) if stage.on_device else 0,
            () if isinstance(program, BucketedProgram) else tuple(map(str, stage.static)),
            tuple(getattr(program, "exact_because", ())),
            _loops_of(program) if stage.on_device else (),
        )
        for stage, program in zip(machine.plan.stages, machine.programs, strict=True)
    ]
    host = [HostRecord(str(node.op), why) for node, why in machine.plan.reasons.items()]
    cuts = tuple(map(str, machine.plan.cuts))
    return EngineReport(tuple(stages), tuple(host), cuts, sampled_by_jax(machine.fgraph))


def _loops_of(program: Any) -> tuple[str, ...]:
    """Return what the loops of a stage's programs are on a GPU, each line once."""
    made = program.specialisations.values()
    # a program that is split over devices has no notes
    notes = [one.notes for one in made if hasattr(one, "notes")]
    return tuple(dict.fromkeys(line for one in notes for line in one.loops_on_gpu))


@dataclass(frozen=True)
class ProgramMemory:
    """The bytes of a program that XLA has compiled, by its plan of memory.

    Attributes
    ----------
    arguments, results
        Of what it is given and of what it returns.
    reused
        Of results that take the memory of arguments.
    temporary
        Of what it computes in between.
    """

    arguments: int
    results: int
    reused: int
    temporary: int

    @property
    def added(self) -> int:
        """Return what a call takes besides its arguments."""
        return self.temporary + self.results - self.reused

    def __str__(self) -> str:
        return (
            f"{_megabytes(self.added)} next to {_megabytes(self.arguments)} of arguments: "
            f"{_megabytes(self.temporary)} for what is computed in between"
        )


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"


def memory_of(function: object) -> tuple[ProgramMemory, ...]:
    """Return the memory of each program that a function has made so far.

    Parameters
    ----------
    function
        What ``theano.function`` returned. One whose batch is split over devices has none.

    Returns
    -------
    tuple of ProgramMemory

    Examples
    --------
    >>> import numpy as np
    >>> import theano
    >>> import theano.tensor as T
    >>> from theano.link.xla import memory_of
    >>> x = T.fmatrix("x")
    >>> f = theano.function([x], x + 1, mode="XLA")
    >>> result = f(np.ones((250, 1000), "float32"))
    >>> print(*memory_of(f))
    1.0 MB next to 1.0 MB of arguments: 0.0 MB for what is computed in between
    """
    machine = _machine_of(function)
    found = []
    for stage, program in zip(machine.plan.stages, machine.programs, strict=True):
        with machine.values.precision_in_use(), machine.values.device_in_use(stage.device):
            own = program.specialisations if isinstance(program, DeviceProgram) else {}
            for made in own.values():
                plan = made.compiled().memory_analysis()
                found.append(
                    ProgramMemory(
                        plan.argument_size_in_bytes,
                        plan.output_size_in_bytes,
                        plan.alias_size_in_bytes,
                        plan.temp_size_in_bytes,
                    )
                )
    return tuple(found)


def _machine_of(function: Any) -> Machine:
    machine = expect_function(function, "report").vm
    if not isinstance(machine, Machine):
        raise TypeError(
            f"the function was compiled with {function.maker.linker}, not with the XLA engine"
        )
    return machine
