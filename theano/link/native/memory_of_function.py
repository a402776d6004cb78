"""The memory of a function at given sizes: its loops' states, saved values and work memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from collections.abc import Sequence as Several
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.tensor.type import TensorType

from theano.link.native.graph.partition import Part
from theano.link.native.ir.call_sizes import UnknownSize
from theano.link.native.ir.ir import Buffer, View
from theano.link.native.ir.memory_plan import ALWAYS
from theano.link.native.ir.prologue import BeginCall
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.memory_plans import CallMemory, segment_memory
from theano.link.native.program import lowered_program
from theano.link.native.statements.base import Statement
from theano.link.native.statements.call_loop import WRITTEN_KINDS, CallLoop
from theano.link.native.statements.step_blocks import Moment, StepBlocks, moments
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.loop.arguments import unpack
from theano.scan_module.report.describe import describe
from theano.scan_module.report.lengths import evaluated
from theano.scan_module.report.loop_bytes import Shapes
from theano.scan_module.report.memory_use import (
    RESULT,
    SAVED,
    STATE,
    UPDATED,
    VALUE,
    WORK,
    MemoryPiece,
    MemoryUse,
    UnknownMemory,
    largest_first,
)
from theano.support.formatting.values import operation

_ROLES = {"ring": STATE, "untraced": STATE, "mit_mot": UPDATED, "trace": SAVED}

Shape = tuple[int, ...]


@contextmanager
def _unknown_memory() -> Iterator[None]:
    """Record for a size that is not known that the memory of the call is not."""
    try:
        yield
    except UnknownSize as reason:
        raise UnknownMemory(str(reason)) from None


class FunctionMemory:
    """The memory of calls of a function, by the plans of its parts.

    Parameters
    ----------
    fgraph, order
        Its graph, and the nodes in the order in which they run.
    in_columns
        The inputs that are read in Fortran's order.
    """

    def __init__(
        self, fgraph: FunctionGraph, order: Several[Apply], in_columns: Collection[Variable] = ()
    ):
        self.fgraph = fgraph
        self.program = lowered_program(fgraph, order, in_columns=in_columns)
        self._computed = [
            variable
            for part, segment in zip(self.program.parts, self.program.segments, strict=True)
            if segment is None
            for variable in part.nodes[0].outputs
            if isinstance(variable.type, TensorType)
        ]

    @_unknown_memory()
    def use(self, values: Several[Any]) -> MemoryUse:
        """Return what a call needs memory for, from the values of the graph's inputs.

        Raises
        ------
        UnknownMemory
            If a size depends on what is computed in the call.
        """
        pieces: list[MemoryPiece] = []
        moments: list[str] = []
        work = 0
        for part, memory, made in self._parts(values):
            first = len(moments)
            if memory is None:
                moments.append(_name(part.nodes[0].op))
            else:
                used = _SegmentUse(memory, first)
                moments += used.moments
                pieces += used.pieces()
                work += memory.bytes
            last = len(moments) - 1
            pieces += [_result(variable, shape, last) for variable, shape in made.items()]
        results = sum(piece.bytes for piece in pieces if piece.role == RESULT)
        pieces = [_within(piece, len(moments) - 1) for piece in pieces if piece.bytes]
        return MemoryUse(largest_first(pieces), tuple(moments), work, results)

    @_unknown_memory()
    def bytes(self, values: Several[Any]) -> int:
        """Return how much memory a call takes; raise as `use` does."""
        total = 0
        for _, memory, made in self._parts(values):
            total += 0 if memory is None else memory.bytes
            total += sum(_bytes(variable, shape) for variable, shape in made.items())
        return total

    @_unknown_memory()
    def longest_loop(self, values: Several[Any]) -> int:
        """Return how many steps a loop has at most, of those that are not in another one."""
        return max(
            (
                int(memory.sizes.of(entry.steps))
                for _, memory, _ in self._parts(values)
                if memory is not None
                for entry in memory.lowered.step.sizes.entries
                if isinstance(entry, BeginCall)
            ),
            default=0,
        )

    def _parts(
        self, values: Several[Any]
    ) -> Iterator[tuple[Part, CallMemory | None, dict[Variable, Shape]]]:
        """Yield the parts, the plan of those that are native, and the shapes of what each makes."""
        pairs = zip(self.fgraph.inputs, values, strict=True)
        arrays = {v: np.asarray(value) for v, value in pairs if hasattr(value, "shape")}
        known = _shapes(self.fgraph, self._computed, values)
        for part, segment in zip(self.program.parts, self.program.segments, strict=True):
            if segment is None:
                yield part, None, {v: known[v] for v in part.nodes[0].outputs if v in known}
                continue
            memory = _memory(segment, arrays, known)
            made = {
                output.variable: memory.sizes.shape(output.argument.shape)
                for output in segment.outputs
            }
            known |= made
            # what takes the memory of an input needs none
            taken = {o.variable for o in segment.outputs if o.overwrites is not None}
            yield part, memory, {v: shape for v, shape in made.items() if v not in taken}


def _shapes(
    fgraph: FunctionGraph, variables: list[Variable], values: Several[Any]
) -> dict[Variable, Shape]:
    """Return the shapes of what Python computes, as far as they follow from those of arguments."""
    if not variables:
        return {}
    known = Shapes(variables, None)
    lengths = {variable: known.of(variable) for variable in variables}
    wanted = [n for shape in lengths.values() for n in shape if isinstance(n, Variable)]
    numbers = dict(zip(wanted, evaluated(wanted, fgraph.inputs, values), strict=True))
    found = {
        v: [numbers[n] if isinstance(n, Variable) else n for n in shape]
        for v, shape in lengths.items()
    }
    return {v: tuple(n for n in s if n is not None) for v, s in found.items() if None not in s}


def _within(piece: MemoryPiece, end: int) -> MemoryPiece:
    """Return a piece of which the last moment is one of the function's."""
    return replace(piece, last=min(piece.last, end))


def _memory(
    segment: Segment, arrays: dict[Variable, np.ndarray], known: dict[Variable, Shape]
) -> CallMemory:
    shapes: list[Shape] = []
    values: list[np.ndarray | None] = []
    for argument, variable in segment.inputs:
        value = argument.constant if variable is None else arrays.get(variable)
        shape = known.get(variable) if variable is not None else None
        if value is None and shape is None:
            raise UnknownSize(f"the shape of {variable}")
        shapes.append(value.shape if value is not None else shape or ())
        values.append(value)
    return segment_memory(segment, shapes, values)


def _result(variable: Variable, shape: Shape, first: int) -> MemoryPiece:
    bytes_ = _bytes(variable, shape)
    # it is kept for the next call
    return MemoryPiece(
        describe(variable), RESULT, "", _dtype(variable), shape, bytes_, (), first, ALWAYS
    )


def _bytes(variable: Variable, shape: Shape) -> int:
    return prod(shape) * np.dtype(_dtype(variable)).itemsize


def _dtype(variable: Variable) -> str:
    return variable.type.dtype  # type: ignore[attr-defined]


def _name(op: Op) -> str:
    """Return the name of an operation, without its settings."""
    return operation(op).split("{")[0]


class _SegmentUse:
    """The pieces of a segment's work memory, and what they are."""

    def __init__(self, memory: CallMemory, first: int):
        assert isinstance(memory.lowered, Segment)
        self.segment, self.memory, self.first = memory.lowered, memory, first
        segment = self.segment
        self.done = moments(segment.step.statements)
        self.moments = [self._moment(one.statement, one.blocks) for one in self.done]
        self.variables: dict[Buffer, Variable] = {}
        for variable, value in segment.step.values.items():
            if isinstance(value, View):
                self.variables.setdefault(value.buffer.root(), variable)
        self.calls = [one.statement for one in self.done if isinstance(one.statement, CallLoop)]

    def _moment(self, statement: Statement, blocks: StepBlocks | None) -> str:
        if blocks is not None:
            length = self.memory.sizes.of(blocks.length)
            return f"{self._moment(statement, None)} ({length} steps at a time)"
        if isinstance(statement, CallLoop):
            return f"loop {statement.loop.name}"
        node = self.segment.step.origins.get(statement)
        if node is None:
            return "copy"
        loop = getattr(node.op, "name", None) if is_a(node.op, Scan) else None
        return f"initial values of {loop}" if loop else _name(node.op)

    def pieces(self) -> list[MemoryPiece]:
        """Return what lies in the slots."""
        plan = self.memory.plan
        return [self._piece(buffer, slot) for buffer, slot in plan.buffers.items()]

    def _piece(self, buffer: Buffer, number: int) -> MemoryPiece:
        slot, bytes_ = self.memory.plan.slots[number], self.memory.slots[number]
        what, role, loop = self._what(buffer)
        return MemoryPiece(
            what=what,
            role=role,
            loop=loop,
            dtype=buffer.dtype,
            shape=self.memory.shape(buffer),
            bytes=bytes_,
            readers=tuple(dict.fromkeys(self._readers(buffer, loop))),
            first=self.first + slot.first,
            last=self.first + min(slot.last, len(self.done) - 1),
        )

    def _what(self, buffer: Buffer) -> tuple[str, str, str]:
        """Return what a buffer is, what to the loop that writes it, and the loop's name."""
        for call in self.calls:
            if call.work is buffer:
                return _format_work(self.memory.loop(call.prefix)), WORK, call.loop.name
        for call in self.calls:
            for argument, operand in zip(call.loop.arguments, call.operands, strict=True):
                if argument.kind not in WRITTEN_KINDS or not isinstance(operand, View):
                    continue
                if operand.buffer.root() is buffer:
                    return self._of_loop(call, argument), _ROLES[argument.kind], call.loop.name
        variable = self.variables.get(buffer)
        return (describe(variable) if variable is not None else "a part of it"), VALUE, ""

    def _of_loop(self, call: CallLoop, argument: Any) -> str:
        """Return what a loop writes, as its step says it."""
        node = self.segment.step.origins.get(call)
        same = [one for one in call.loop.arguments if one.kind == argument.kind]
        if node is None:
            return argument.comment or argument.name
        loop, position = unpack(node), same.index(argument)
        if argument.kind == "trace":
            return describe(loop.traces[position].inner, loop)
        if argument.kind == "untraced":
            return argument.comment or argument.name
        states = [
            s
            for s in loop.ordered_states()
            if (s.kind == "mit_mot") == (argument.kind == "mit_mot")
        ]
        return describe(states[position].writes[0].inner, loop)

    def _readers(self, buffer: Buffer, maker: str) -> list[str]:
        """Return the loops and operations that read a buffer, but for the loop that writes it."""
        return [
            self._reader(one, moment)
            for one, moment in zip(self.done, self.moments, strict=True)
            if any(view.buffer.root() is buffer for view in _read(one.statement, maker))
        ]

    def _reader(self, one: Moment, moment: str) -> str:
        """Return what a moment is to a reader: what is done in blocks of steps is the loop's."""
        if one.blocks is None:
            return moment
        call = next(part for part in one.blocks.parts if isinstance(part, CallLoop))
        return f"loop {call.loop.name}"


def _read(statement: Statement, maker: str) -> list[View]:
    """Return the views that a statement reads, its loop not its own results."""
    found: list[View] = []
    for part in statement.in_order():
        values = part.values_read()
        if isinstance(part, CallLoop):
            pairs = zip(part.loop.arguments, part.operands, strict=True)
            values = [
                v for a, v in pairs if a.kind not in WRITTEN_KINDS and part.loop.name != maker
            ]
        found += [value for value in values if isinstance(value, View)]
    return found


def _format_work(memory: CallMemory) -> str:
    """Return what the work memory of a loop is for."""
    loop, plan = memory.lowered, memory.plan
    assert isinstance(loop, Loop)
    groups = {
        "packed matrices": sum(memory.slots[k] for k in plan.packed),
        "rings of states": sum(memory.slots[k] for k in plan.rings.values()),
        "temporaries of a step": sum(memory.slots[k] for k in plan.buffers.values()),
    }
    parts = [f"{name} {bytes_ / 1e6:.1f}" for name, bytes_ in groups.items() if bytes_]
    return ", ".join(parts)
