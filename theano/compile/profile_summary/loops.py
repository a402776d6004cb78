"""Loops in a profile: their overhead, and the operations of a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from theano.link.native.run.profile import LoopOfNodes
from theano.pytensor_internals.graphs.scan import Scan, function_of_step
from theano.support.data_classes import dataclass

COLUMNS = (
    "<Scan op time(s)> <sub scan fct time(s)> <sub scan op time(s)> "
    "<sub scan fct time(% scan op time)> <sub scan op time(% scan op time)> <node>"
)


@dataclass(frozen=True, eq=False)
class GraphOfStep:
    """The step of a native loop, as far as profiles ask for a graph.

    Attributes
    ----------
    shapes, in_memory
        As in `LoopOfNodes`.
    """

    apply_nodes: tuple[Any, ...]
    outputs: tuple[Any, ...]
    shapes: dict[Any, tuple[int, ...]]
    in_memory: frozenset

    def toposort(self) -> tuple[Any, ...]:
        """Return the nodes in the order in which they run."""
        return self.apply_nodes


def graph_of_step(loop: LoopOfNodes) -> GraphOfStep:
    """Return the step of a loop that was measured; what no node of it reads is a result."""
    nodes = tuple(loop.times)
    read = {variable for node in nodes for variable in node.inputs}
    results = tuple(v for node in nodes for v in node.outputs if v not in read)
    return GraphOfStep(nodes, results, loop.shapes, loop.in_memory)


@dataclass(frozen=True)
class _Overhead:
    """Seconds of a loop: all, with its steps, with the operations of its steps."""

    node: Any
    whole: float
    steps: float
    operations: float

    def __str__(self) -> str:
        return f"{_seconds(self.whole, self.steps, self.operations)} {self.node}"


def write_scan_overhead(profile: object, loops: Sequence[LoopOfNodes], file: TextIO) -> None:
    """Write for each loop what of its time its steps take, and what the operations in them."""
    measured, others = _measured(profile, loops)
    if not measured and not others:
        return
    print("\nScan overhead:", COLUMNS, *measured, sep="\n", file=file)
    for node in others:
        print(
            f"  The step of {node} is not profiled: set the flag profile=True before it is "
            "compiled",
            file=file,
        )
    if measured:
        sums = (
            sum(getattr(one, name) for one in measured) for name in ("whole", "steps", "operations")
        )
        print("total" + _seconds(*sums)[5:], file=file)


def _measured(profile: Any, loops: Sequence[LoopOfNodes]) -> tuple[list[_Overhead], list[Any]]:
    native = {id(loop.node): loop for loop in loops}
    measured, others = [], []
    for (_, node), seconds in profile.apply_time.items():
        if not isinstance(node.op, Scan) or not seconds:
            continue
        loop = native.get(id(node))
        step = None if loop is not None else profile_of_step(node.op)
        if loop is not None:
            operations = sum(loop.times.values())
            steps = min(loop.seconds, operations + loop.overhead)
            measured.append(_Overhead(node, loop.seconds, steps, operations))
        elif step is not None:
            operations = sum(step.apply_time.values())
            measured.append(_Overhead(node, seconds, seconds_in_steps(step), operations))
        else:
            others.append(node)
    return measured, others


def profile_of_step(op: Scan) -> Any:
    """Return the profile of a step that was compiled as a separate function, if there is one."""
    return getattr(function_of_step(op), "profile", None)


def seconds_in_steps(profile: Any) -> float:
    """Return the seconds of the steps of a loop, which PyTensor's machine counts in whole ones."""
    return max(profile.vm_call_time, sum(profile.apply_time.values()))


def _seconds(whole: float, steps: float, operations: float) -> str:
    shares = [100 * part / whole if whole else 0.0 for part in (steps, operations)]
    return (
        f"      {whole:8.2e}s  {steps:8.2e}s  {operations:8.2e}s  "
        f"{shares[0]:5.1f}%  {shares[1]:5.1f}%"
    )


def write_step_summary(profile: Any, file: TextIO) -> None:
    """Write the beginning of the profile of a loop: its calls, and what is not its steps."""
    inside, whole = seconds_in_steps(profile), profile.call_time
    share = 100 * inside / whole if whole else 0.0
    print(
        "",
        f"Scan Op profiling ( {profile.name} )" if profile.name else "Scan Op profiling",
        "==================",
        f"  Message: {profile.message}",
        f"  Time in {profile.callcount} calls of the op (for a total of {profile.nbsteps} steps) "
        f"{whole:e}s",
        "",
        f"  Total time spent in calling the VM {inside:e}s ({share:.3f}%)",
        f"  Total overhead (computing slices..) {whole - inside:e}s ({100 - share:.3f}%)",
        "",
        sep="\n",
        file=file,
    )
