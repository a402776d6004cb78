"""The memory that the values of a profiled function take, node by node.

As in Theano's tables each node counts as if it ran on its own, and views and operations in place
take what their operation declares. Native code has fewer arrays: it fuses, and shares memory.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.type import DenseTensorType

from theano.configdefaults import config
from theano.support.data_classes import dataclass

# Sets of nodes that are looked at for the least peak of any order
MOST_STATES = 100_000


@dataclass(frozen=True)
class Peaks:
    """The most bytes that are held at a time: in the order of the nodes, and all together."""

    freed: int
    kept: int


@dataclass(frozen=True)
class Memory:
    """The bytes of the values of a graph, and who holds whose memory.

    Attributes
    ----------
    sizes
        The bytes of each value that a node makes; none where the shape is not known.
    """

    nodes: tuple[Any, ...]
    results: frozenset
    sizes: Mapping[Any, int]

    @classmethod
    def of(cls, graph: Any, shapes: Mapping[Any, tuple[int, ...]]) -> Memory:
        """Those of a graph with these shapes."""
        nodes = tuple(graph.toposort())
        sizes = {v: bytes_of(v, shapes) for node in nodes for v in node.outputs}
        return cls(nodes, frozenset(graph.outputs), sizes)

    def holders(self, in_place: bool) -> dict[Any, Any]:
        """For each value that lies in another's memory, the value that was there first."""
        first: dict[Any, Any] = {}
        for node in self.nodes:
            taken = {**node.op.view_map, **(node.op.destroy_map if in_place else {})}
            for k, positions in taken.items():
                if positions:
                    source = node.inputs[positions[0]]
                    first[node.outputs[k]] = first.get(source, source)
        return first

    def peaks(self, order: Sequence[Any], in_place: bool = True) -> Peaks:
        """Return the peaks of an order of the nodes."""
        state = _Running(self, in_place)
        most = 0
        for node in order:
            most = max(most, state.run(node))
        return Peaks(most, state.made)

    def least_peak(self) -> int | None:
        """Return the least peak of any order of the nodes; None if there are too many to look at."""
        state = _Running(self, True)
        needs = {node: state.nodes_before(node) for node in self.nodes}
        whole = frozenset(self.nodes)
        number = itertools.count()
        waiting: list[tuple[int, int, frozenset]] = [(0, next(number), frozenset())]
        seen: set[frozenset] = set()
        while waiting and len(seen) < MOST_STATES:
            # the least peak first, so that the first way to the end is the best
            peak, _, done = heapq.heappop(waiting)
            if done == whole:
                return peak
            if done in seen:
                continue
            seen.add(done)
            held = state.held_after(done)
            for node in self.nodes:
                if node not in done and needs[node] <= done:
                    after = max(peak, held + state.allocated(node))
                    heapq.heappush(waiting, (after, -next(number), done | {node}))
        return None


class _Running:
    """Memory that is held while nodes run one after the other."""

    def __init__(self, memory: Memory, in_place: bool):
        self._memory, self._in_place = memory, in_place
        self._holders = memory.holders(in_place)
        self._readers: dict[Any, set[Any]] = {}
        self._kept = {self._holders.get(v, v) for v in memory.results}
        for node in memory.nodes:
            for variable in node.inputs:
                self._readers.setdefault(self._holder(variable), set()).add(node)
            for variable in node.outputs:
                self._readers.setdefault(self._holder(variable), set())
        self._makers = {
            v: node for node in memory.nodes for v in node.outputs if v not in self._holders
        }
        self._held: dict[Any, int] = {}
        self._done: set[Any] = set()
        self.made = 0

    def _holder(self, variable: Variable) -> Any:
        return self._holders.get(variable, variable)

    def allocated(self, node: Apply) -> int:
        return sum(self._memory.sizes[v] for v in node.outputs if v not in self._holders)

    def run(self, node: Apply) -> int:
        """Run a node; return what is held while it runs."""
        new = {v: self._memory.sizes[v] for v in node.outputs if v not in self._holders}
        self._held |= new
        self.made += sum(new.values())
        peak = sum(self._held.values())
        self._done.add(node)
        for variable in [*node.inputs, *node.outputs]:
            holder = self._holder(variable)
            if holder in self._held and self._is_free(holder, self._done):
                del self._held[holder]
        return peak

    def _is_free(self, holder: object, done: Iterable[Any]) -> bool:
        return holder not in self._kept and self._readers[holder] <= set(done)

    def held_after(self, done: frozenset) -> int:
        return sum(
            self._memory.sizes[v]
            for v, maker in self._makers.items()
            if maker in done and not self._is_free(v, done)
        )

    def nodes_before(self, node: Apply) -> frozenset:
        """Return the nodes that must have run: those it reads, and those that read what it overwrites."""
        makers = {v.owner for v in node.inputs if v.owner is not None}
        for positions in node.op.destroy_map.values():
            for k in positions:
                holder = self._holder(node.inputs[k])
                makers |= {
                    other
                    for other in self._readers[holder]
                    if other is not node and not self._reads_after(other, node)
                }
        return frozenset(makers & set(self._memory.nodes))

    def _reads_after(self, other: Any, node: Apply) -> bool:
        """Return whether another node needs what a node makes, directly or not."""
        waiting, seen = [other], set()
        while waiting:
            one = waiting.pop()
            for variable in one.inputs:
                if variable.owner is node:
                    return True
                if variable.owner is not None and variable.owner not in seen:
                    seen.add(variable.owner)
                    waiting.append(variable.owner)
        return False


def bytes_of(variable: Variable, shapes: Mapping[Any, tuple[int, ...]]) -> int:
    """Return the bytes of a value; none where it is no array or number, or was not computed."""
    shape = shapes.get(variable)
    if isinstance(shape, tuple) and isinstance(variable.type, DenseTensorType | ScalarType):
        return math.prod(shape) * np.dtype(variable.type.dtype).itemsize
    return 0


def write_memory(profile: Any, graphs: Sequence[Any], file: TextIO, most: int) -> None:
    """Write the memory profile of the graphs of a profile: peaks, and the largest values."""
    memories = [Memory.of(graph, profile.variable_shape) for graph in graphs]
    executed = [
        profile.executed_order(graph) or memory.nodes for graph, memory in _pairs(graphs, memories)
    ]
    several = len(graphs) > 1
    print(
        "Memory Profile" + (" (the max between all functions in that profile)" if several else ""),
        "(Sparse variables are ignored)",
        "(The values in brackets are for the order of the graph)",
        "---",
        sep="\n",
        file=file,
    )
    for title, in_place in (
        ("Max peak memory with current setting", True),
        ("Max peak memory with current setting and Theano flag optimizer_excluding=inplace", False),
    ):
        run = [m.peaks(order, in_place) for m, order in zip(memories, executed, strict=True)]
        plain = [m.peaks(m.nodes, in_place) for m in memories]
        print(f"    {title}", file=file)
        print(
            f"        CPU: {_kb(max(p.freed for p in run))} ({_kb(max(p.freed for p in plain))})",
            file=file,
        )
    kept = max(m.peaks(m.nodes).kept for m in memories)
    print("    Max peak memory if allow_gc=False (linker don't make a difference)", file=file)
    print(f"        CPU: {_kb(kept)}\n---", file=file)
    if config.profiling.min_peak_memory:
        _write_least_peak(memories, file)
    print(file=file)
    _write_nodes(profile, memories, file, most)


def _write_least_peak(memories: Sequence[Memory], file: TextIO) -> None:
    least = [memory.least_peak() for memory in memories]
    if None in least:
        print(f"    Minimum peak: not found among {MOST_STATES} sets of nodes\n---", file=file)
        return
    peak = max(value for value in least if value is not None)
    print(f"    Minimum peak from all valid apply node order is {_kb(peak)}\n---", file=file)


def _write_nodes(profile: Any, memories: Sequence[Memory], file: TextIO, most: int) -> None:
    if len(memories) > 1:
        print("    This list is based on all functions in the profile", file=file)
    print(
        "    <Sum apply outputs (bytes)> <Apply outputs shape> <created/inplace/view/fused> "
        "<Apply node>\n",
        file=file,
    )
    sizes = {
        node: sum(memory.sizes[v] for v in node.outputs)
        for memory in memories
        for node in memory.nodes
    }
    order = sorted(sizes, key=lambda node: -sizes[node])
    shown = [node for node in order[:most] if sizes[node] >= config.profiling.min_memory_size]
    for node in shown:
        shapes = str([profile.variable_shape.get(v, "no shape") for v in node.outputs])
        print(f"     {sizes[node]:9d}B  {shapes} {_how(profile, node)} {node}", file=file)
    rest, whole = sum(sizes[node] for node in order[len(shown) :]), sum(sizes.values())
    print(
        f"   ... (remaining {len(order) - len(shown)} Apply account for {rest:4d}B/{whole}B "
        f"({100 * rest / whole if whole else 0:.2f}%) of the Apply with dense outputs sizes)\n",
        file=file,
    )
    print(
        "    <created/inplace/view> is taken from the Op's declaration.",
        "    What is fused is computed in native code where it is read, and is no array.\n",
        sep="\n",
        file=file,
    )


def _how(profile: Any, node: Apply) -> str:
    letters = []
    for k, variable in enumerate(node.outputs):
        if variable in profile.fused:
            letters.append("f")
        elif k in node.op.destroy_map:
            letters.append("i")
        else:
            letters.append("v" if k in node.op.view_map else "c")
    return " ".join(letters)


def _pairs(graphs: Sequence[Any], memories: Sequence[Memory]) -> Iterable[tuple[Any, Memory]]:
    return zip(graphs, memories, strict=True)


def _kb(count: int) -> str:
    return f"{round(count / 1024)}KB"
