"""Computes a traced program, its loops with what belongs to them block by block."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from theano.link.xla.loop.lower import WhileLoop
from theano.link.xla.loop.sequences import Sequence as RowSequence
from theano.link.xla.loop.states import RowOfStep, RowsOfBlock, unwritten
from theano.link.xla.step_blocks.equations import Equation, Program, Value, program_of
from theano.link.xla.step_blocks.group import Group
from theano.link.xla.step_blocks.plan import planned
from theano.link.xla.step_blocks.rows import ADDS_TO_ROWS, Rows, RowsCombined, moves, rule_of


def in_blocks(traced: object, loops: Mapping[str, WhileLoop], platform: str) -> Callable[..., list]:
    """Return a function that computes what JAX traced.

    Parameters
    ----------
    traced : ClosedJaxpr
    loops
        The loops that it calls by these names.
    platform
        What JAX calls the kind of device.
    """
    from jax.extend.core import jaxpr_as_fun

    program = program_of(traced, loops) if loops else None
    units = [] if program is None else planned(program, platform)
    if program is None or not any(isinstance(one, Group) for one in units):
        return jaxpr_as_fun(traced)
    return lambda *given: _computed(program, units, given)


def _computed(program: Program, units: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    known = {**program.constants, **dict(zip(program.inputs, given, strict=True))}
    # others than those of the trace
    marks = count(64)
    for one in units:
        if isinstance(one, Group):
            known.update(_Blocks(one, known, marks).run())
        else:
            operands = [_whole(value, known) for value in one.inputs]
            known.update(zip(one.outputs, one.computed(operands), strict=True))
    return [_whole(value, known) for value in program.outputs]


def _whole(value: Value, known: Mapping[Value, Any]) -> Any:
    return known[value] if value.constant is None else value.constant


class _Blocks:
    """A group as it is computed.

    Parameters
    ----------
    group : Group
    known : dict
        The arrays of what it reads.
    marks
        Numbers that no other buffer is filled with.
    """

    def __init__(self, group: Group, known: Mapping[Value, Any], marks: Iterator[int]):
        self.group, self.known, self.marks = group, known, marks
        self.length = group.length
        # a sequence that only blocks have is of no array
        self.loop = group.while_loop.with_arrays(
            [value if value in group.rows else _whole(value, known) for value in group.loop.inputs]
        )

    def run(self) -> dict[Value, Any]:
        """Return the arrays of the group's outputs."""
        from jax import lax

        group = self.group
        blocks, rest = divmod(group.steps, self.length)
        number = self.loop.number
        _, state = lax.while_loop(
            lambda state: state[0] < blocks,
            lambda state: (
                state[0] + 1,
                self._block(state[0] * self.length, self.length, state[1]),
            ),
            (number(0), self._start()),
        )
        if rest:
            state = {**state, "traces": self._buffers(rest)}
            state = self._block(number(blocks * self.length), rest, state)
        ends = [
            storage.finish(kept, group.steps)
            for k, (storage, kept) in enumerate(zip(self.loop.kept, state["kept"], strict=True))
            if k not in group.traces
        ]
        values = [*ends, *state["well"], *state["sums"], *state["whole"]]
        return dict(zip(group.outputs, values, strict=True))

    def _nothing(self, value: Value) -> Any:
        """Return a sum of rows before any is added."""
        import jax.numpy as jnp

        one = self.group.maker[value]
        if one.name == ADDS_TO_ROWS:
            return _whole(one.inputs[0], self.known)
        return jnp.zeros(value.shape, value.dtype)

    def _start(self) -> dict[str, Any]:
        """Return what is kept from block to block, before the first."""
        group = self.group
        kept, well = self.loop.start()
        return {
            "kept": [() if k in group.traces else rows for k, rows in enumerate(kept)],
            "well": well,
            "traces": self._buffers(self.length),
            "sums": [self._nothing(value) for value in group.sums],
            "whole": [self._unwritten(value, value.shape) for value in group.whole],
        }

    def _buffers(self, steps: int) -> list[Any]:
        if self.group.of_steps:
            return [() for _ in self.group.traces]
        traces = [self.group.loop.outputs[k] for k in self.group.traces]
        return [self._unwritten(value, (steps, *value.shape[1:])) for value in traces]

    def _unwritten(self, value: Value, shape: tuple[int, ...]) -> Any:
        return unwritten(shape, value.dtype, next(self.marks))

    def _block(self, begin: object, count: int, state: dict[str, Any]) -> dict[str, Any]:
        """Return what is kept after the steps of a block."""
        group, block = self.group, _Block(self.group, self.known, begin, count)
        storages, kept = list(self.loop.kept), list(state["kept"])
        for k, buffer in zip(group.traces, state["traces"], strict=True):
            if group.of_steps:
                storages[k] = RowOfStep(self.loop.kept[k].initial)
            else:
                storages[k] = RowsOfBlock(buffer, begin)
            kept[k] = storages[k].start()
        sequences = list(self.loop.sequences)
        for k, rows in group.sequences.items():
            sequences[k] = block.sequence(group.loop.inputs[k], rows)
        loop = replace(self.loop, sequences=sequences, kept=storages)
        after, well = loop.advanced((tuple(kept), state["well"]), begin, count)
        traces = [() if group.of_steps else after[k][0] for k in group.traces]
        block.take(after, dict(zip(group.sums, state["sums"], strict=True)))
        return {
            "kept": [() if k in group.traces else rows for k, rows in enumerate(after)],
            "well": well,
            "traces": traces,
            "sums": [block.made[value] for value in group.sums],
            "whole": [
                block.stored(value, rows)
                for value, rows in zip(group.whole, state["whole"], strict=True)
            ],
        }


class _Block:
    """The values that some steps have.

    Parameters
    ----------
    group : Group
    known : dict
        The arrays of all steps.
    begin, count
        The first of the steps, which is traced, and how many there are.
    """

    def __init__(self, group: Group, known: Mapping[Value, Any], begin: Any, count: int):
        self.group, self.known, self.begin, self.count = group, known, begin, count
        self.made: dict[Value, Any] = {}
        self.whole: dict[Value, Any] = {}
        self.sums: Mapping[Value, Any] = {}
        for one in group.before:
            self._compute(one)

    def sequence(self, value: Value, rows: Rows) -> RowSequence:
        """Return a sequence of the loop, whose steps count from the first of all."""
        first = -self.begin if rows.stride == 1 else self.begin + (self.count - 1)
        return RowSequence(self.made[value], first, rows.stride, self.count)

    def take(self, kept: Sequence[Any], sums: Mapping[Value, Any]) -> None:
        """Compute what is made from rows of what the loop keeps, and add to the sums of the blocks before."""
        self.sums = sums
        for k, value in enumerate(self.group.loop.outputs[: len(kept)]):
            if k in self.group.traces:
                self.made[value] = kept[k][0]
            elif value in self.group.rows:
                self.whole[value] = kept[k][0]
        for one in self.group.after:
            self._compute(one)

    def stored(self, value: Value, array: Any) -> Any:
        """Return the array of all steps with the rows of these."""
        from jax import lax

        rows = self.group.rows[value]
        return lax.dynamic_update_slice_in_dim(
            array, self.made[value], self._position(rows), rows.axis, allow_negative_indices=False
        )

    def _compute(self, one: Equation) -> None:
        (value,) = one.outputs
        rows = self.group.rows.get(value)
        if rows is None:
            operands = [
                self._operand(*pair)
                for pair in zip(one.inputs, self.group.sums[value], strict=True)
            ]
            if one.name == ADDS_TO_ROWS:
                (self.made[value],) = one.computed([self.sums[value], *operands[1:]])
            else:
                (added,) = one.computed(operands)
                self.made[value] = self.sums[value] + added
        else:
            self.made[value] = self._shown(one, rows)

    def _shown(self, one: Equation, rows: Rows) -> Any:
        rule = rule_of(one)
        assert rule is not None
        operands = [
            self._operand(*pair) for pair in zip(one.inputs, rule.operands(one, rows), strict=True)
        ]
        (result,) = one.computed(operands, **rule.params(one, rows, self.count))
        return result

    def _operand(self, value: Value, rows: Rows | None) -> Any:
        from jax import lax

        if rows is None:
            return _whole(value, self.known)
        if value in self.made:
            return self.made[value]
        one = self.group.maker.get(value)
        if isinstance(one, Equation) and moves(one):
            # the rows of what it shows, so that it is not made for all steps
            with contextlib.suppress(RowsCombined):
                return self._shown(one, rows)
        array = self.whole[value] if value in self.whole else self.known[value]
        return lax.dynamic_slice_in_dim(
            array,
            self._position(rows),
            self.count * rows.size,
            rows.axis,
            allow_negative_indices=False,
        )

    def _position(self, rows: Rows) -> Any:
        """Return where the rows of the steps begin along their axis."""
        row = self.begin + rows.first
        if rows.stride == -1:
            row = rows.first - (self.count - 1) - self.begin
        return row * rows.size
