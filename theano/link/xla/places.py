"""The device of each node, where the graph names devices.

A variable whose type has a `device` is there. A node runs where its output is; else where its
inputs are, the first of them decides; else where all its readers are. Other nodes have no place:
they run on the engine's own device.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph


def device_of(variable: Variable) -> Any:
    """Return the device that a variable's type names, or None."""
    return getattr(variable.type, "device", None)


def places_of(
    fgraph: FunctionGraph, order: Sequence[Apply], on_host: Collection[Apply]
) -> dict[Apply, Any]:
    """Return the device of each node that has one; `order` is one in which they can run."""
    places: dict[Apply, Any] = {}

    def place_of(variable: Variable) -> Any:
        device = device_of(variable)
        return places.get(variable.owner) if device is None and variable.owner else device

    for node in order:
        named = [*map(device_of, node.outputs), *map(place_of, node.inputs)]
        device = next((device for device in named if device is not None), None)
        if device is not None and node not in on_host:
            places[node] = device
    for node in reversed(order):
        if node not in places and node not in on_host:
            readers = {places.get(r) for v in node.outputs for r, _ in fgraph.clients[v]}
            if len(readers) == 1 and None not in readers:
                places[node] = readers.pop()
    return places


def parts_of_stages(
    order: Sequence[Apply], stage_of: Mapping[Apply, int], places: Mapping[Apply, Any]
) -> dict[Apply, tuple[int, int, int]]:
    """Cut stages into parts that each run on one device.

    Returns
    -------
    dict
        For each node its stage; how many moves between devices come before it in the stage; and
        a number for its device. Parts that differ in the last alone do not need each other.
    """
    numbers = {device: k for k, device in enumerate(dict.fromkeys(places.values()), start=1)}
    part_of: dict[Apply, tuple[int, int, int]] = {}
    for node in order:
        device, moves = numbers.get(places.get(node), 0), 0
        for variable in node.inputs:
            earlier = part_of.get(variable.owner)
            if earlier is not None and earlier[0] == stage_of[node]:
                moves = max(moves, earlier[1] + (earlier[2] != device))
        part_of[node] = (stage_of[node], moves, device)
    return part_of
