"""Values that must be known before a loop is traced, and loops that cannot be."""

from __future__ import annotations

from collections.abc import Collection
from weakref import WeakKeyDictionary

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph

from theano.link.step_graph import prepared
from theano.link.xla.lowering.table import concrete_inputs, why_not
from theano.link.xla.static_inputs import SHAPES
from theano.scan_module.loop.roles import places_in_step, places_of_inputs

_NEEDED: WeakKeyDictionary[FunctionGraph, frozenset[int]] = WeakKeyDictionary()


def known_inputs(node: Apply) -> Collection[int]:
    """Positions of the inputs of a loop's node that must be concrete.

    They are the number of steps, the lengths of traces, and the invariants that the step makes
    shapes and lengths of.
    """
    op = node.op
    places, inside = places_of_inputs(op), places_in_step(op)
    outside = dict(zip(inside.invariants, places.invariants, strict=True))
    needed = _needed_inside(prepared(op))
    return (
        places.n_steps,
        *places.trace_lengths,
        *(outside[k] for k in sorted(needed) if k in outside),
    )


def why_no_loop(node: Apply) -> str | None:
    """Why a loop's node cannot be traced, or None."""
    graph = prepared(node.op)
    for inner in graph.toposort():
        reason = why_not(inner)
        if reason is not None:
            return f"{inner.op} in its step: {reason}"
    invariants = places_in_step(node.op).invariants
    changing = [k for k in sorted(_needed_inside(graph)) if k not in invariants]
    if changing:
        return (
            f"its step makes shapes or lengths of {graph.inputs[changing[0]]}, "
            "which differs between steps"
        )
    return None


def _needed_inside(graph: FunctionGraph) -> frozenset[int]:
    """Positions of the inputs of a step's graph of which shapes and lengths are made."""
    if graph not in _NEEDED:
        pending = [node.inputs[k] for node in graph.apply_nodes for k in concrete_inputs(node)]
        seen: set[Variable] = set()
        while pending:
            variable = pending.pop()
            if variable in seen or isinstance(variable, Constant):
                continue
            seen.add(variable)
            if variable.owner is not None and not isinstance(variable.owner.op, SHAPES):
                pending.extend(variable.owner.inputs)
        _NEEDED[graph] = frozenset(k for k, v in enumerate(graph.inputs) if v in seen)
    return _NEEDED[graph]
