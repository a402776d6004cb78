"""Dimensions of a program's inputs that are the lengths of its loops."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.shape import Shape_i

from theano.link.xla.loop.early_stop import outputs_of_unknown_length
from theano.link.xla.plan import Stage
from theano.link.xla.static_inputs import SHAPES
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.loop.roles import Roles


class Place(NamedTuple):
    """The place where a length is given: a dimension of an input, or a static number.

    Attributes
    ----------
    position
        Of the input, or of the static number.
    axis
        The dimension; None of a number.
    extra
        How many more rows there are than the length says.
    """

    position: int
    axis: int | None
    extra: int = 0


# The places that have one length, for each length that a program has
Pattern = tuple[tuple[Place, ...], ...]


def loop_places(stage: Stage) -> frozenset[Place]:
    """Return the places that the numbers of steps of a stage's loops are made from.

    They are also the rows of loops that stopped early, which an earlier stage has run.
    """
    inputs = {v: k for k, v in enumerate(stage.inputs)}
    stopped = {k: extra for k, v in enumerate(stage.inputs) for extra in _rows_of_stopped_loop(v)}
    static = {v: k for k, v in enumerate(stage.static)}
    nodes = set(stage.nodes)
    pending = [node.inputs[0] for node in stage.nodes if isinstance(node.op, Scan)]
    found = {Place(k, 0, extra) for k, extra in stopped.items()}
    seen: set[Variable] = set()
    while pending:
        variable = pending.pop()
        if variable in seen:
            continue
        seen.add(variable)
        node = variable.owner
        if variable in static:
            found.add(Place(static[variable], None))
        elif node is None or node not in nodes:
            continue
        elif isinstance(node.op, Shape_i) and node.inputs[0] in inputs:
            k = inputs[node.inputs[0]]
            if k not in stopped or node.op.i:
                found.add(Place(k, node.op.i))
        elif not isinstance(node.op, SHAPES):
            pending.extend(node.inputs)
    if found:
        # lengths of what an earlier stage read
        found |= {Place(k, None) for v, k in static.items() if _is_length(v)}
    return frozenset(found)


def _is_length(variable: Variable) -> bool:
    return variable.owner is not None and isinstance(variable.owner.op, Shape_i)


def _rows_of_stopped_loop(variable: Variable) -> list[int]:
    """For a result of a loop that stops early: how many rows there are besides those of its steps."""
    node = variable.owner
    if node is None or variable not in outputs_of_unknown_length(node):
        return []
    return [Roles.of(node.op).history(node.outputs.index(variable))]


class Patterns:
    """Proposes what to pad, from what the calls so far had in common.

    Parameters
    ----------
    stage : Stage
    """

    def __init__(self, stage: Stage):
        self.stage = stage
        self.of_loops = loop_places(stage)
        self.worked: Pattern | None = None
        # dimensions and numbers that were as long as a loop's in every call
        self._same: set[tuple[Place, Place]] | None = None

    def proposed(self, values: Sequence[Any], static: Sequence[Any]) -> Iterator[Pattern]:
        """Patterns to try for a call, the most promising first."""
        lengths = {place: length_at(place, values, static) for place in self.of_loops}
        if not lengths or not all(lengths.values()):
            return
        if self.worked is not None and _fits(self.worked, values, static):
            yield self.worked
        self._compare(values, static, lengths)
        yield from dict.fromkeys(
            [
                self._with_others(lengths, shared=False),
                self._with_others(lengths, shared=True),
                _grouped(lengths),
            ]
        )

    def _dimensions_and_numbers(
        self, values: Sequence[Any], static: Sequence[Any]
    ) -> Iterator[Place]:
        for k, value in enumerate(values):
            if not isinstance(self.stage.inputs[k], Constant):
                yield from (Place(k, axis) for axis in range(value.ndim))
        for k, value in enumerate(static):
            if np.ndim(value) == 0 and np.asarray(value).dtype.kind == "i":
                yield Place(k, None)

    def _compare(
        self, values: Sequence[Any], static: Sequence[Any], lengths: Mapping[Place, int]
    ) -> None:
        now = {
            (place, of_loop)
            for place in self._dimensions_and_numbers(values, static)
            for of_loop, length in lengths.items()
            if length_at(place, values, static) == length
        }
        self._same = now if self._same is None else self._same & now

    def _with_others(self, lengths: Mapping[Place, int], shared: bool) -> Pattern:
        """Also what no loop's number of steps is made from, such as the length of what is aimed at."""
        assert self._same is not None
        taken = {place.position for place in lengths if place.axis is not None}
        found = dict(lengths)
        for place, of_loop in sorted(self._same, key=repr):
            if place.axis is None:
                found[place] = lengths[of_loop]
                continue
            variable = self.stage.inputs[place.position]
            if place.position not in taken and (shared or not _is_shared(variable)):
                taken.add(place.position)
                found[place] = lengths[of_loop]
        return _grouped(found)


def _is_shared(variable: Variable) -> bool:
    return getattr(variable, "keeps_device_values", False)


def made_of_lengths(stage: Stage, places: Collection[Place]) -> dict[int, list[Apply]]:
    """Return static numbers that are made from the lengths at some places: position -> in which steps."""
    inputs = set(stage.inputs)
    lengths = {stage.static[place.position] for place in places if place.axis is None}
    known = set(stage.static)

    def steps_to(variable: Variable) -> list[Apply] | None:
        if variable in lengths or isinstance(variable, Constant):
            return []
        node = variable.owner
        if node is None:
            return [] if variable in known else None
        if isinstance(node.op, SHAPES) and node.inputs[0] in inputs:
            return [node]
        before = [steps_to(source) for source in node.inputs]
        if None in before:
            return None
        return [*(step for steps in before for step in steps or ()), node]

    found: dict[int, list[Apply]] = {}
    for position, variable in enumerate(stage.static):
        steps = None if variable in lengths else steps_to(variable)
        if steps:
            found[position] = list(dict.fromkeys(steps))
    return found


def length_at(place: Place, values: Sequence[Any], static: Sequence[Any]) -> int:
    """Return the length that a call has at a place."""
    if place.axis is None:
        return int(np.asarray(static[place.position]))
    return int(values[place.position].shape[place.axis]) - place.extra


def _grouped(lengths: Mapping[Place, int]) -> Pattern:
    """One group of places for each length; groups and places are in a fixed order."""
    groups: dict[int, list[Place]] = {}
    for place in sorted(lengths, key=repr):
        groups.setdefault(lengths[place], []).append(place)
    return tuple(map(tuple, groups.values()))


def _fits(pattern: Pattern, values: Sequence[Any], static: Sequence[Any]) -> bool:
    return all(_have_one_length(group, values, static) for group in pattern)


def _have_one_length(group: Iterable[Place], values: Sequence[Any], static: Sequence[Any]) -> bool:
    return len({length_at(place, values, static) for place in group}) == 1
