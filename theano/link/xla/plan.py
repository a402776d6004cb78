"""Cuts a graph into stages: what runs on the device in one program, what on the host between.

Stages alternate: those with an even number run on the device, those with an odd one on the host.
Each node is in the first stage that its inputs allow; then they are moved to the stage of what
reads them, so that as few programs as possible do the work. Where the graph names devices, a stage
has a part for each of them, and further parts after each move.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph

from theano.link.xla.branches import places_of as places_in_branches
from theano.link.xla.loop.early_stop import outputs_of_unknown_length
from theano.link.xla.lowering.table import concrete_inputs, why_not
from theano.link.xla.places import parts_of_stages, places_of
from theano.link.xla.static_inputs import SHAPES, StaticValues
from theano.support.data_classes import dataclass

# The number of a stage, of the moves in it, and of a device
Part = tuple[int, int, int]


@dataclass(frozen=True)
class Stage:
    """Nodes that run together.

    Attributes
    ----------
    on_device
        Whether they are one XLA program.
    nodes
        In an order in which they can run.
    inputs
        What they read that they do not make, without the static ones.
    static
        What the program is specialised by; only on the device.
    outputs
        What is read after them.
    device
        The device of JAX that the graph names for them, if it names one.
    """

    on_device: bool
    nodes: tuple[Apply, ...]
    inputs: tuple[Variable, ...]
    static: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    device: Any = None


@dataclass(frozen=True)
class Plan:
    """The stages of a function, and why nodes are on the host.

    Attributes
    ----------
    before_call
        Variables that NumPy computes from the inputs before the stages run.
    reasons
        For each node on the host, why.
    cuts
        Values that a stage must know and that an earlier one computes.
    """

    stages: tuple[Stage, ...]
    before_call: tuple[Variable, ...]
    reasons: Mapping[Apply, str]
    cuts: tuple[Variable, ...]


def make_plan(fgraph: FunctionGraph, order: Sequence[Apply], refused: Mapping[Apply, str]) -> Plan:
    """Plan a function.

    Parameters
    ----------
    fgraph : FunctionGraph
    order : sequence of Apply
        All nodes, in an order in which they can run.
    refused : mapping
        Nodes that proved impossible to trace, and why.
    """
    reasons = dict(refused)
    for node in order:
        reason = None if node in reasons else why_not(node)
        if reason is not None:
            reasons[node] = reason
    reasons.update(_choices_on_host(fgraph, order, reasons))
    known = StaticValues(fgraph.inputs, reasons)
    must_know = {n: known.unknown_inputs(n) if n not in reasons else set() for n in order}
    must_follow = _with_cut_lengths(order, reasons, must_know)
    stage_of = _first_stages(order, reasons, must_follow)
    _move_to_readers(fgraph, order, reasons, must_follow, stage_of)
    places = places_of(fgraph, order, reasons)
    part_of = parts_of_stages(order, stage_of, places)
    numbered: dict[Part, list[Apply]] = defaultdict(list)
    for node in order:
        numbered[part_of[node]].append(node)
    stages = []
    for part in sorted(numbered):
        nodes = numbered[part]
        wanted = {v for node in nodes for v in _cut_values(node, must_know, part_of, known)}
        device = places.get(nodes[0])
        stages.append(_stage(fgraph, nodes, part, part_of, wanted | known.static, device))
    cuts = tuple(dict.fromkeys(v for node in order for v in must_know[node]))
    static = [v for stage in stages for v in stage.static if v in known.static]
    return Plan(tuple(stages), tuple(dict.fromkeys(static)), reasons, cuts)


def _with_cut_lengths(
    order: Sequence[Apply],
    reasons: Mapping[Apply, str],
    must_know: Mapping[Apply, set[Variable]],
) -> dict[Apply, set[Variable]]:
    """Return what an earlier stage must have made: also arrays whose lengths only making them shows."""
    made = [node for node in order if node not in reasons]
    unsettled = {variable for node in made for variable in outputs_of_unknown_length(node)}
    return {node: must_know[node] | unsettled.intersection(node.inputs) for node in order}


def _choices_on_host(
    fgraph: FunctionGraph, order: Sequence[Apply], reasons: Mapping[Apply, str]
) -> dict[Apply, str]:
    """Choices of which a branch is in part on the host, where only the taken one runs."""
    found: dict[Apply, str] = {}
    places = places_in_branches(order, fgraph.outputs)
    for node in reasons:
        for choice, _ in places.get(node, ()):
            why = f"a branch of {choice.op} needs {node.op}, which is there"
            under = [n for n, place in places.items() if choice in dict(place)]
            found.update((n, why) for n in (choice, *under) if n not in reasons)
    return found


def _first_stages(
    order: Sequence[Apply],
    reasons: Mapping[Apply, str],
    must_follow: Mapping[Apply, set[Variable]],
) -> dict[Apply, int]:
    stage_of: dict[Apply, int] = {}
    for node in order:
        on_host = node in reasons
        number = -1 if on_host else 0
        for variable in node.inputs:
            if variable.owner is not None:
                number = max(number, stage_of[variable.owner] + (variable in must_follow[node]))
        stage_of[node] = number + (number % 2 != on_host)
    return stage_of


def _move_to_readers(
    fgraph: FunctionGraph,
    order: Sequence[Apply],
    reasons: Mapping[Apply, str],
    must_follow: Mapping[Apply, set[Variable]],
    stage_of: dict[Apply, int],
) -> None:
    for node in reversed(order):
        on_host = node in reasons
        latest = []
        for variable in node.outputs:
            for reader, _ in fgraph.clients[variable]:
                if reader not in stage_of:
                    latest.append(stage_of[node])
                    continue
                number = stage_of[reader] - (variable in must_follow[reader])
                latest.append(number - (number % 2 != on_host))
        stage_of[node] = max(stage_of[node], min(latest, default=stage_of[node]))


def _cut_values(
    node: Apply,
    must_know: Mapping[Apply, set[Variable]],
    part_of: Mapping[Apply, Part],
    known: StaticValues,
) -> set[Variable]:
    """Return what the node must know that comes from an earlier stage."""
    values = set(must_know[node])
    pending = [node.inputs[k] for k in concrete_inputs(node)]
    while pending:
        variable = pending.pop()
        if isinstance(variable, Constant) or variable in values or variable in known.static:
            continue
        owner = variable.owner
        if owner is not None and part_of[owner] < part_of[node]:
            values.add(variable)
        elif owner is not None and not isinstance(owner.op, SHAPES):
            pending.extend(owner.inputs)
    return values


def _stage(
    fgraph: FunctionGraph,
    nodes: list[Apply],
    part: Part,
    part_of: Mapping[Apply, Part],
    concrete: set[Variable],
    device: object,
) -> Stage:
    on_device = part[0] % 2 == 0
    made = {variable for node in nodes for variable in node.outputs}
    if on_device:
        # what is known before the call need not be made from anything
        nodes = [node for node in nodes if not all(v in concrete for v in node.outputs)]
    read = dict.fromkeys(
        v
        for node in nodes
        for v in node.inputs
        if not isinstance(v, Constant) or (on_device and _is_large(v))
    )
    static = [v for v in read if v in concrete] if on_device else []
    inputs = [v for v in read if v not in made and v not in static]
    outputs = [
        v
        for node in nodes
        for v in node.outputs
        if any(part_of.get(reader) != part for reader, _ in fgraph.clients[v])
    ]
    return Stage(on_device, tuple(nodes), tuple(inputs), tuple(static), tuple(outputs), device)


# Constants of more bytes are no part of a program's text: XLA would fold, and keep, them.
LARGE_CONSTANT = 1 << 16


def _is_large(constant: Constant) -> bool:
    return getattr(constant.data, "nbytes", 0) > LARGE_CONSTANT
