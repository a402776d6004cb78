"""Forward loops that a gradient built again with more outputs, and how they become one again.

The gradient of a loop needs values of its steps that the loop does not return. It builds the
loop again, the same but for further traces, and notes in the new op which op it extends. Before
anything else is done to a graph, the loops of such a family over the same inputs are made one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.scan_module.gradient.equal_gradients import MergeBeforeGradients, what_decides_gradient
from theano.scan_module.loop.arguments import BuiltLoop, Loop, Trace, unpack
from theano.scan_module.loop.roles import Roles, given_by, given_to
from theano.scan_module.loop.step_copy import copied


def extend_loop(op: PyTensorScan, loop: Loop, values: Iterable[Variable], policy: str) -> BuiltLoop:
    """Build a loop again with ``values`` of its step as further traces.

    Parameters
    ----------
    op
        The op that the loop was taken from.
    loop
        The loop.
    values
        Inner variables of the loop's step.
    policy
        What chose them, for reports.
    """
    traces = (*loop.traces, *(Trace(loop.n_steps, value) for value in values))
    built = replace(loop, traces=traces).build(type(op))
    built.node.op.extends = family_of(op)
    built.node.op.save_policy = policy
    return built


def family_of(op: PyTensorScan) -> PyTensorScan:
    """Return the op that an op extends, or the op itself."""
    return getattr(op, "extends", None) or op


def unify_forward_loops(graph: FunctionGraph) -> int:
    """Replace the loops of each family over the same inputs by one; returns how many went."""
    families: dict[tuple, list[Apply]] = {}
    for node in in_order(graph):
        if is_a(node.op, PyTensorScan) and _traces_every_step(node):
            families.setdefault(_key(node), []).append(node)
    removed = 0
    for nodes in families.values():
        if len(nodes) > 1 and any(hasattr(node.op, "extends") for node in nodes):
            graph.replace_all(list(_unified(nodes).items()), reason="unify_forward_loops")
            removed += len(nodes) - 1
    return removed


def _traces_every_step(node: Apply) -> bool:
    given = given_to(node)
    return all(length is given.n_steps for length in given.trace_lengths)


def _key(node: Apply) -> tuple:
    family = family_of(node.op)
    inputs = replace(given_to(node), trace_lengths=[]).in_order()
    return family, what_decides_gradient(family), tuple(inputs)


def _unified(nodes: list[Apply]) -> dict[Variable, Variable]:
    """Return replacements of all outputs of the nodes by those of one new node."""
    common = Roles.of(family_of(nodes[0].op)).traces
    nodes = sorted(nodes, key=lambda node: Roles.of(node.op).traces, reverse=True)
    if all(Roles.of(node.op).traces == common for node in nodes[1:]):
        return _given_by_widest(nodes, common)
    widest = unpack(nodes[0])
    traces = [replace(trace, output=None) for trace in widest.traces]
    positions = [list(range(len(traces)))]
    for node in nodes[1:]:
        other = unpack(node)
        renamed = copied(
            [trace.inner for trace in other.traces[common:]],
            dict(zip(other.inner_inputs, widest.inner_inputs, strict=True)),
        )
        first = len(traces)
        positions.append([*range(common), *range(first, first + len(renamed))])
        traces += [Trace(widest.n_steps, inner) for inner in renamed]
    loop = _merge_step(replace(widest, traces=tuple(traces)))
    # traces that came out equal are kept once; those of the original loop keep their places
    kept: dict[Variable, Trace] = {}
    chosen = [
        trace if place < common else kept.setdefault(trace.inner, trace)
        for place, trace in enumerate(loop.traces)
    ]
    built = replace(loop, traces=tuple(dict.fromkeys(chosen))).build(type(nodes[0].op))
    built.node.op.extends = family_of(nodes[0].op)
    policies = [node.op.save_policy for node in nodes if hasattr(node.op, "save_policy")]
    built.node.op.save_policy = " and ".join(dict.fromkeys(policies))
    given = given_by(built.node)
    replacements: dict[Variable, Variable] = {}
    for node, places in zip(nodes, positions, strict=True):
        rows: list[Variable] = [built.rows(chosen[place]) for place in places]
        new = replace(given, traces=rows).in_order()
        replacements.update(zip(node.outputs, new, strict=True))
    return replacements


def _given_by_widest(nodes: list[Apply], common: int) -> dict[Variable, Variable]:
    """Return replacements by the outputs of the first node, which has all that the others have."""
    given = given_by(nodes[0])
    narrow = replace(given, traces=given.traces[:common]).in_order()
    return {old: new for node in nodes[1:] for old, new in zip(node.outputs, narrow, strict=True)}


def _merge_step(loop: Loop) -> Loop:
    graph = FunctionGraph(loop.inner_inputs, loop.inner_outputs, clone=False)
    MergeBeforeGradients().rewrite(graph)
    return loop.with_inner_outputs(list(graph.outputs))
