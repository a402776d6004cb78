"""The linker of NanGuardMode: each value is looked at when it was computed.

Values that only element-wise operations read are no results of operations where maps are fused, as
they are in other modes, and may be wrong where a switch does not choose them. They are looked at when a
result that follows from them is wrong, to find the operation where it began.
"""

from __future__ import annotations

import logging
import pdb
from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Switch
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.subtensor import IncSubtensor

from theano.compile.errors.wrong_values import Wrongs, WrongValueError, summary
from theano.configdefaults import config
from theano.link.native.run.one_by_one import slow_in_python
from theano.pytensor_internals.functions.python_machine import PythonVMLinker
from theano.scan_module.report.describe import describe
from theano.source_locations.lines import format_lines, line_of

_log = logging.getLogger("theano.compile.nanguardmode")


class GuardedLinker(PythonVMLinker):
    """PyTensor's machine, in which values that are wrong are an error.

    Parameters
    ----------
    wrongs
        What is looked for.
    of_inputs
        Whether inputs are looked at; those of a loop's step were, as results of others.
    """

    # loops say of an error which step it was in
    counts_steps = True

    def __init__(self, wrongs: Wrongs, of_inputs: bool = True):
        # values are kept until the next call: one of them may be where an error began
        super().__init__(allow_gc=False)
        self.wrongs, self.of_inputs = wrongs, of_inputs

    def accept(
        self, fgraph: FunctionGraph, no_recycling: object = None, profile: object = None
    ) -> Any:
        """Return the linker of a graph: this one, or a copy if it has another."""
        if self.fgraph is not None and self.fgraph is not fgraph:
            made = copy(self)
            made.fgraph = None
            return made.accept(fgraph, no_recycling, profile)
        # NumPy's errors say more than those of C, which takes long to compile
        self.c_thunks = self.c_thunks and any(map(slow_in_python, fgraph.apply_nodes))
        guard = _Guard(fgraph, self.wrongs)
        self.callback = guard.after_node
        self.callback_input = guard.of_input if self.of_inputs else None
        return super().accept(fgraph, no_recycling, profile)


class _Guard:
    """Looks at the values of a graph."""

    def __init__(self, graph: FunctionGraph, wrongs: Wrongs):
        self.graph, self.wrongs = graph, wrongs
        self.inside_maps = {
            variable
            for node in graph.apply_nodes
            if isinstance(node.op, Elemwise)
            for variable in node.outputs
            if _only_maps_read(graph, variable)
        }

    def after_node(self, node: Apply, thunk: object, storage_map: Any, compute_map: Any) -> None:
        """Look at what an operation computed."""
        if _is_written_in_part(node):
            return
        for variable in node.outputs:
            if variable in self.inside_maps or not compute_map[variable][0]:
                continue
            if not getattr(variable.tag, "nan_guard_mode_check", True):
                continue
            found = self.wrongs.names(storage_map[variable][0])
            if found:
                self._report_result(found, variable, storage_map)

    def of_input(self, variable: Variable, value: object) -> None:
        """Look at an input of the graph, a shared variable or a constant."""
        if not getattr(variable.tag, "nan_guard_mode_check", True):
            return
        if isinstance(variable, Constant) and _only_choices_read(self.graph, variable):
            # such as the NaN that a rewrite gives for the square of a square root of what is negative
            return
        found = self.wrongs.names(value)
        if found:
            where = line_of(variable)
            lines = [
                *found,
                f"NanGuardMode found an error in an input of the graph: {variable}",
                *([f"Created at: {where}"] if where else []),
                f"Value: {summary(value)}",
            ]
            _report(WrongValueError("\n".join(lines)))

    def _report_result(self, found: list[str], variable: Variable, storage_map: Any) -> None:
        value, checked = storage_map[variable][0], variable.owner
        place: tuple[int, ...] = ()
        if isinstance(value, np.ndarray):
            place = self.wrongs.at(value)
            variable, place = self._where_it_began(variable, place, storage_map)
            value = storage_map[variable][0]
        node = variable.owner
        lines = [*found, *_number_made(variable, place, storage_map), f"Result: {summary(value)}"]
        for k, operand in enumerate(node.inputs):
            lines.append(f"Input {k}: {summary(storage_map[operand][0])}")
        error = WrongValueError("\n".join(lines))
        error.node, error.checked = node, checked
        _report(error)

    def _where_it_began(
        self, variable: Variable, place: tuple[int, ...], storage_map: Any
    ) -> tuple[Variable, tuple[int, ...]]:
        """Return the first of the element-wise operations to make a number wrong, and where."""
        while True:
            for operand, at in _numbers_read(variable.owner, place, storage_map):
                value = storage_map[operand][0]
                if operand in self.inside_maps and self.wrongs.wrong_at(value, at):
                    variable, place = operand, at
                    break
            else:
                return variable, place


def _only_maps_read(graph: FunctionGraph, variable: Variable) -> bool:
    readers = graph.clients[variable]
    return bool(readers) and all(isinstance(node.op, Elemwise) for node, _ in readers)


def _only_choices_read(graph: FunctionGraph, variable: Variable) -> bool:
    """Return whether all that reads a variable may choose another, and is looked at itself."""
    return all(
        isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Switch) and operand > 0
        for node, operand in graph.clients[variable]
    )


def _is_written_in_part(node: Apply) -> bool:
    """Return whether a node writes a part of new memory, such as a loop's: the rest may hold anything."""
    while isinstance(node.op, IncSubtensor) and node.inputs[0].owner is not None:
        node = node.inputs[0].owner
        if isinstance(node.op, AllocEmpty):
            return True
    return False


def _numbers_read(
    node: Apply, place: tuple[int, ...], storage_map: Any
) -> Iterator[tuple[Variable, tuple[int, ...]]]:
    """Yield the operands of an element-wise operation from which a number was computed, and where."""
    if not isinstance(node.op, Elemwise):
        return
    numbers = []
    for operand in node.inputs:
        shape = np.shape(storage_map[operand][0])
        at = tuple(0 if n == 1 else k for k, n in zip(place, shape, strict=True))
        numbers.append((operand, at))
    if isinstance(node.op.scalar_op, Switch):
        condition, at = numbers[0]
        del numbers[2 if storage_map[condition][0][at] else 1]
    yield from numbers


def _number_made(variable: Variable, place: tuple[int, ...], storage_map: Any) -> list[str]:
    """Return how the number at a place was computed, such as ``log(-3.0) = nan at [2]``."""
    node = variable.owner
    values = {v: storage_map[v][0][at] for v, at in _numbers_read(node, place, storage_map)}
    if not values:
        return []
    text = describe(variable, {v: f"{value}" for v, value in values.items()})
    where = f" at {list(place)}" if place else ""
    return [f"{text} = {storage_map[variable][0][place]}{where}"]


def _report(error: WrongValueError) -> None:
    """Do with values that are wrong as the flag says."""
    action = config.NanGuardMode.action
    if action == "raise":
        raise error
    message = str(error)
    if error.node is not None:
        message += (
            f"\nIn: {describe(error.node.outputs[0])}\nCreated at: {format_lines(error.node)}"
        )
    if action == "pdb":
        print(message)
        pdb.set_trace()
    else:
        _log.error(message)
