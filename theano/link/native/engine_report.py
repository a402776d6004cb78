"""A report of what the engine did with the graph of a compiled function."""

from __future__ import annotations

from collections import Counter
from dataclasses import field

from theano.link.native.program import Program
from theano.link.native.render.program_text import ProgramText
from theano.pytensor_internals.functions.compiling import expect_function
from theano.pytensor_internals.graphs.scan import Scan
from theano.support.data_classes import dataclass
from theano.support.formatting.values import operation


@dataclass(frozen=True)
class LoopRecord:
    """The record of a loop: native, or why not."""

    name: str
    reason: str | None

    def __str__(self) -> str:
        if self.reason is None:
            return f"{self.name}: native"
        return f"{self.name}: by PyTensor, because the engine has no code for {self.reason}"


@dataclass(frozen=True)
class CallRecord:
    """A node outside of loops that PyTensor runs, by its C code or by Python, and why."""

    operation: str
    reason: str

    def __str__(self) -> str:
        return f"{self.operation}: by PyTensor, because the engine has no code for {self.reason}"


@dataclass(frozen=True)
class EngineReport:
    """The loops of a function, the nodes that Python runs, and the C text of the rest.

    Attributes
    ----------
    segments
        The number of nodes in each C function that the function calls.
    reasons
        Why each of them is not one with those before it; empty for the first.
    code
        The C text, in parts.
    by_llvm
        Whether LLVM compiled them in the process.
    until_it_pays
        Whether the C compiler compiles them, too, once calls have taken long enough.
    """

    loops: tuple[LoopRecord, ...]
    calls: tuple[CallRecord, ...]
    segments: tuple[int, ...]
    reasons: tuple[str, ...]
    code: ProgramText = field(repr=False)
    by_llvm: bool = False
    until_it_pays: bool = False

    @property
    def source(self) -> str:
        """The C text of what is native."""
        return self.code.text

    def __str__(self) -> str:
        counts = Counter(map(str, [*self.loops, *self.calls]))
        repeated = [f"{n} times {line}" if n > 1 else line for line, n in counts.items()]
        plural = "" if len(self.segments) == 1 else "s"
        lines = [f"{len(self.segments) or 'no'} native segment{plural}"]
        if self.segments:
            # where the C compiler follows, it depends on the calls and the caches who has compiled it
            compiled = ", compiled by LLVM" if self.by_llvm and not self.until_it_pays else ""
            lines[0] += f"{compiled}; nodes: {' + '.join(map(str, self.segments))}"
        separate = [
            f"segment {k} is separate, because {reason}"
            for k, reason in enumerate(self.reasons, 1)
            if reason
        ]
        return "\n".join([*lines, *separate, *repeated])


def report_of(program: Program, by_llvm: bool, until_it_pays: bool) -> EngineReport:
    """Return how each node of a program runs."""
    loops, calls = [], []
    for part in program.parts:
        for node in part.nodes:
            reason = None if part.native else program.reasons[node]
            if isinstance(node.op, Scan):
                loops.append(LoopRecord(node.op.name or "scan", reason))
            elif reason is not None:
                calls.append(CallRecord(operation(node.op), reason))
    segments = [part for part in program.parts if part.native]
    return EngineReport(
        tuple(loops),
        tuple(calls),
        tuple(len(part.nodes) for part in segments),
        tuple(part.reason for part in segments),
        program.code,
        by_llvm,
        until_it_pays,
    )


def report(function: object) -> EngineReport:
    """Return what the engine did with a function: which loops are native, what Python runs, and why.

    Parameters
    ----------
    function
        What ``theano.function`` or ``pytensor.function`` returned.

    Returns
    -------
    EngineReport

    Raises
    ------
    TypeError
        When it is no compiled function, or another engine's.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> from theano.link import native
    >>> x = T.matrix("x")
    >>> sums, _ = theano.scan(lambda row, total: total + row, x, T.zeros_like(x[0]), name="sums")
    >>> f = theano.function([x], sums, mode="NATIVE")
    >>> [(loop.name, loop.reason) for loop in native.report(f).loops]
    [('sums', None)]
    """
    linker = expect_function(function, "report").maker.linker
    returned = getattr(linker, "report", None)
    if not isinstance(returned, EngineReport):
        raise TypeError(f"the function was compiled with {linker}, not with the native engine")
    return returned


def source(function: object) -> str:
    """Return the C text of a function.

    Parameters
    ----------
    function
        What ``theano.function`` returned.

    Returns
    -------
    str
        Empty where Python runs all of it.

    Raises
    ------
    TypeError
        When the function was compiled with another engine.
    """
    return report(function).source
