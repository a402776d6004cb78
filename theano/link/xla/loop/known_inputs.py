"""What must be known before a loop is traced, and which loops cannot be."""

from __future__ import annotations

from collections.abc import Collection
from weakref import WeakKeyDictionary

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph

from theano.link.step_graph import prepared
from theano.link.xla.lowering.table import concrete_inputs, why_not
from theano.link.xla.static_inputs import SHAPES

_NEEDED: WeakKeyDictionary[FunctionGraph, frozenset[int]] = WeakKeyDictionary()


def known_inputs(node: Apply) -> Collection[int]:
    """Positions of the inputs of a loop's node that must be concrete.

    They are the number of steps, the lengths of traces, and the invariants that the step makes
    shapes and lengths of.
    """
    op = node.op
    first_length = op.nit_sot_arg_offset
    first_invariant = first_length + op.info.n_nit_sot
    first_inside = op.info.n_inner_inputs - op.info.n_non_seqs
    inside = _needed_inside(prepared(op))
    return (
        0,
        *range(first_length, first_invariant),
        *(first_invariant + k - first_inside for k in sorted(inside) if k >= first_inside),
    )


def why_no_loop(node: Apply) -> str | None:
    """Why a loop's node cannot be traced, or None."""
    graph = prepared(node.op)
    for inner in graph.toposort():
        reason = why_not(inner)
        if reason is not None:
            return f"{inner.op} in its step: {reason}"
    first_inside = node.op.info.n_inner_inputs - node.op.info.n_non_seqs
    changing = [k for k in sorted(_needed_inside(graph)) if k < first_inside]
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
