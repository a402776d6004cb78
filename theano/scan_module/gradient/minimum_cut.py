"""The minimum cut of a small network, nearest to its sink."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Hashable, Mapping
from typing import TypeVar

Vertex = TypeVar("Vertex", bound=Hashable)


def behind_the_cut(
    edges: Mapping[tuple[Vertex, Vertex], int], source: Vertex, sink: Vertex
) -> set[Vertex]:
    """Return the vertices on the sink's side of the minimum cut that is nearest to the sink.

    Parameters
    ----------
    edges
        The capacity of each edge, by where it begins and ends.
    source, sink
        What the cut separates.

    Examples
    --------
    >>> sorted(behind_the_cut({("s", "a"): 5, ("a", "b"): 2, ("b", "t"): 2}, "s", "t"))
    ['t']
    """
    room: dict[Vertex, dict[Vertex, int]] = {source: {}, sink: {}}
    for (begin, end), capacity in edges.items():
        if capacity:
            room.setdefault(begin, {}).setdefault(end, 0)
            room.setdefault(end, {}).setdefault(begin, 0)
            room[begin][end] += capacity
    while True:
        # backwards, because the cut is asked for as what still reaches the sink
        onwards = _ways_to(room, sink, source)
        if source not in onwards:
            return set(onwards)
        path = [source]
        while path[-1] != sink:
            path.append(onwards[path[-1]])
        hops = list(itertools.pairwise(path))
        flow = min(room[begin][end] for begin, end in hops)
        for begin, end in hops:
            room[begin][end] -= flow
            room[end][begin] += flow


def _ways_to(
    room: dict[Vertex, dict[Vertex, int]], sink: Vertex, wanted: Vertex
) -> dict[Vertex, Vertex]:
    """Return the next vertex on a shortest way to the sink, of vertices that reach it."""
    onwards = {sink: sink}
    queue = deque([sink])
    while queue and wanted not in onwards:
        end = queue.popleft()
        for begin in room[end]:
            if begin not in onwards and room[begin][end]:
                onwards[begin] = end
                queue.append(begin)
    return onwards
