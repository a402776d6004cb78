"""Calls of a loop: its kernel, which array of a node is which argument, and what the other nodes compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.fg import FunctionGraph

from theano.link.cuda.kernel import Kernel, kernel_of_loop, lowered
from theano.link.cuda.model import DEVICE, Device
from theano.link.cuda.plan import Plan
from theano.link.cuda.refusals import NoKernel
from theano.link.native.ir.ir import Argument
from theano.link.native.lowering.loop import Loop
from theano.link.native.run.one_by_one import make_thunk_for_one_call
from theano.scan_module.loop.roles import OuterInputs, Roles

# a number on which sizes depend is one of so few
MOST_NUMBERS = 64
_WITH_ROWS = ("sequence", "mit_mot", "ring")


def kernel_of_node(
    node: Any, inputs: Sequence[Any], device: Device = DEVICE, blocks: int = 0
) -> Kernel:
    """Return the kernel of a Scan's node for values of its inputs; the rest as in `kernel_of_loop`."""
    loop = lowered(node.op)
    arrays = bound_arrays(node.op, loop, inputs)
    shapes, numbers = row_shapes(loop, arrays), numbers_of_sizes(loop, arrays)
    return kernel_of_loop(loop, shapes, numbers, device, blocks)


def values_of_graph(
    graph: FunctionGraph,
    inputs: Sequence[Any],
    run: Callable[[Any, list[Any]], Sequence[Any]],
) -> list[Any]:
    """Return the outputs of a graph, of which each node's results are what `run` says for its inputs."""
    known: dict[Variable, Any] = dict(zip(graph.inputs, inputs, strict=True))

    def value(variable: Variable) -> Any:
        return variable.data if isinstance(variable, Constant) else known[variable]

    for node in graph.toposort():
        results = run(node, [value(variable) for variable in node.inputs])
        known.update(zip(node.outputs, results, strict=True))
    return [value(variable) for variable in graph.outputs]


def performed(node: Any, inputs: Sequence[Any]) -> list[Any]:
    """Return the results of a node by PyTensor's Python, which may write over its inputs."""
    copies = [np.array(value) if isinstance(value, np.ndarray) else value for value in inputs]
    cells = {variable: [value] for variable, value in zip(node.inputs, copies, strict=True)}
    cells |= {variable: [None] for variable in node.outputs}
    computed = {variable: [variable in node.inputs] for variable in cells}
    make_thunk_for_one_call(node, cells, computed, False)()
    return [cells[variable][0] for variable in node.outputs]


def bound_arrays(op: object, loop: Loop, inputs: Sequence[Any]) -> dict[str, Any]:
    """Return what a node of a Scan is given, by the names of its loop's arguments; traces are left out.

    What JAX traces stays what it is: it has a shape and a dtype.
    """
    given: OuterInputs[Any] = Roles.of(op).outer_inputs(inputs)
    by_kind = {
        "sequence": given.sequences,
        "untraced": given.untraced,
        "invariant": given.invariants,
    }
    found = {a.name: np.asarray(a.constant) for a in loop.arguments if a.constant is not None}
    for kind, values in by_kind.items():
        arguments = [a for a in _of_kind(loop, kind) if a.constant is None]
        found |= {a.name: _array(v) for a, v in zip(arguments, values, strict=True)}
    # a Scan's order of states: those with several outputs a step come first
    states = [*_of_kind(loop, "mit_mot"), *_of_kind(loop, "ring")]
    found |= {a.name: _array(v) for a, v in zip(states, given.states, strict=True)}
    return found


def _array(value: object) -> Any:
    return value if hasattr(value, "shape") and hasattr(value, "dtype") else np.asarray(value)


def _of_kind(loop: Loop, kind: str) -> Iterator[Argument]:
    return (argument for argument in loop.arguments if argument.kind == kind)


def row_shapes(loop: Loop, arrays: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shapes that a kernel is written for: of a row, where an array has rows."""
    return {
        a.name: arrays[a.name].shape[1:] if a.kind in _WITH_ROWS else arrays[a.name].shape
        for a in loop.arguments
        if a.kind != "trace"
    }


def numbers_of_sizes(loop: Loop, arrays: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return those short arrays of integers on which sizes of the step depend.

    Raises
    ------
    NoKernel
        If JAX traces one: its value is not known yet.
    """
    reach = loop.step.sizes.names_that_reach_a_size()
    found = {
        a.name: arrays[a.name]
        for a in _of_kind(loop, "invariant")
        if a.name in reach
        and arrays[a.name].dtype.kind in "iub"
        and arrays[a.name].size <= MOST_NUMBERS
    }
    for name, array in found.items():
        if not isinstance(array, np.ndarray | np.generic):
            raise NoKernel(f"sizes that depend on the values of {name}")
    return found


def trace_shapes(op: object, plan: Plan, inputs: Sequence[Any]) -> list[tuple[int, ...]]:
    """Return the shapes of a node's traces."""
    lengths = Roles.of(op).outer_inputs(inputs).trace_lengths
    traces = zip(lengths, _of_kind(plan.loop, "trace"), strict=True)
    return [(int(length), *plan.fixed.shape(a.shape)) for length, a in traces]


def result_shapes(op: object, plan: Plan, inputs: Sequence[Any]) -> list[tuple[int, ...]]:
    """Return the shapes of a node's results if its loop makes all steps."""
    given: OuterInputs[Any] = Roles.of(op).outer_inputs(inputs)
    return [
        *(np.shape(state) for state in given.states),
        *trace_shapes(op, plan, inputs),
        *(np.shape(value) for value in given.untraced),
    ]
