"""Equations that belong to a loop and can be computed for some of its steps at a time.

After the loop that is what adds up rows of what it returns, and what reads, row by row, traces that
nothing else reads. Before it, it is what its sequences, and operands of what follows it, are computed from
row by row, where nothing else reads that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.link.xla.loop.states import Rows as RowsOfState
from theano.link.xla.step_blocks.equations import Equation, Value, readers_of
from theano.link.xla.step_blocks.rows import Rows, RowsCombined, moves, operands_of_sum, rule_of


class Group:
    """A loop and what is done next to it in blocks of steps.

    Parameters
    ----------
    loop
        The loop's equation.
    others
        All other equations, or groups, in an order in which they can run.
    results
        What the program returns.
    of_steps
        Whether a block is to be a step, which adds up and stores what is made from its own results:
        products of single rows, and what is made before the loop, are not worth that.

    Attributes
    ----------
    steps
        How many steps the loop makes.
    length
        How many steps a block has.
    before, after
        Equations that are computed in blocks, in an order in which they can run.
    members
        These and the loop.
    rows
        The rows that a step has of what only blocks have, and of what they add up or store.
    sums
        Results that add up rows, and the rows of their operands.
    whole
        Results of which all rows are stored.
    inputs, outputs
        What must be there before it runs, and what is there then.
    maker
        The equation or group that makes each value.
    sequences, traces
        Positions among the loop's sequences and outputs of those that only blocks have.
    """

    def __init__(
        self,
        loop: Equation,
        others: Sequence[Any],
        results: Sequence[Value],
        of_steps: bool = False,
    ):
        assert loop.loop is not None
        self.loop, self.while_loop = loop, loop.loop
        self.steps: int = loop.loop.most_steps
        self.length, self.of_steps = 0, of_steps
        self._others, self._results = others, frozenset(results)
        self.maker = {v: one for one in others for v in one.outputs}
        self._readers = readers_of([*others, loop])
        self.before: dict[Equation, None] = {}
        self.after: dict[Equation, None] = {}
        self.rows: dict[Value, Rows] = {}
        self.sums: dict[Value, list[Rows | None]] = {}
        self.whole: list[Value] = []
        self.sequences: dict[int, Rows] = {}
        self.traces: list[int] = []
        self._of_whole: set[Value] = set()

        self._find_after()
        if not of_steps:
            self._find_before()
        self.members: tuple[Equation, ...] = (*self.before, loop, *self.after)
        made = {value for one in self.members for value in one.outputs}
        read = dict.fromkeys(value for one in self.members for value in one.inputs)
        ends = [v for k, v in enumerate(loop.outputs) if k not in self.traces]
        self.inputs: tuple[Value, ...] = tuple(value for value in read if value not in made)
        self.outputs: tuple[Value, ...] = (*ends, *self.sums, *self.whole)

    @property
    def saved(self) -> int:
        """Bytes of the arrays of all steps that there are none of, less those that are new."""
        return sum(v.bytes for v in self.arrays) - sum(v.bytes for v in self.whole)

    @property
    def arrays(self) -> list[Value]:
        """Return what has only a block's rows where the loop reads or writes them."""
        read = [self.loop.inputs[k] for k in self.sequences]
        return [*dict.fromkeys(read), *(self.loop.outputs[k] for k in self.traces)]

    # ---- after the loop ----

    def _find_after(self) -> None:
        traces = self._outputs_with_rows(lambda storage: storage.has_one_row_a_step)
        refused: set[Equation] = set()
        while True:
            self._follow(traces, refused)
            needed = [v for v in self.rows if not self._is_read_in_blocks_alone(v)]
            # what shows rows of a trace in another way is the trace
            dropped = {v for w in needed for v in self._shown(w) if v in traces}
            made = {v: one for one in self.after for v in one.outputs}
            # all rows of what is made from arrays that are there in any case may as well follow them
            useless = {made[v] for v in needed if v in made and v in self._of_whole}
            if not dropped and not useless:
                break
            refused |= useless
            traces = {v: rows for v, rows in traces.items() if v not in dropped}
        self.whole = [v for v in needed if v in made]
        self.traces = [k for k, v in enumerate(self.loop.outputs) if v in traces]

    def _outputs_with_rows(self, chosen: Callable[[RowsOfState], bool]) -> dict[Value, Rows]:
        return {
            self.loop.outputs[k]: Rows(0, 1, storage.history)
            for k, storage in enumerate(self.while_loop.kept)
            if isinstance(storage, RowsOfState) and chosen(storage)
        }

    def _follow(self, traces: dict[Value, Rows], refused: set[Equation]) -> None:
        """Take in what reads rows of the loop's outputs, and rows of what is made from them."""
        ends = self._outputs_with_rows(lambda storage: storage.has_all_rows)
        self.rows, self.after, self.sums = {**ends, **traces}, {}, {}
        self._of_whole = {v for v in ends if v not in traces}
        late = {v for v in self.loop.outputs if v not in self.rows}
        for one in self._others:
            if one in refused or not isinstance(one, Equation) or not self._take_in(one, late):
                if any(v in late or v in self.rows for v in one.inputs):
                    late.update(one.outputs)
                continue
            self.after[one] = None
            late.update(v for v in one.outputs if v in self.sums)

    def _take_in(self, one: Equation, late: set[Value]) -> bool:
        rule, own = rule_of(one), [k for k, v in enumerate(one.inputs) if v in self.rows]
        if rule is None or not own or any(v in late for v in one.inputs):
            return False
        if self.of_steps and not rule.is_for_steps:
            return False
        (result,) = one.outputs
        try:
            rows = rule.result(one, own[0], self.rows[one.inputs[own[0]]])
            if rows is None:
                read = operands_of_sum(one, own[0], self.rows[one.inputs[own[0]]])
            else:
                read = rule.operands(one, rows)
        except RowsCombined:
            return False
        if any(read[k] != self.rows[one.inputs[k]] for k in own):
            return False
        if rows is None:
            pairs = zip(read, one.inputs, strict=True)
            covered = all(r is None or r.cover(v.shape, self.steps) for r, v in pairs)
            # XLA adds up in float32 what it rounds to fewer digits once
            if not covered or (result.dtype.kind not in "iub" and result.dtype.itemsize < 4):
                return False
            self.sums[result] = read
            return True
        if not rows.cover(result.shape, self.steps):
            return False
        self.rows[result] = rows
        if all(one.inputs[k] in self._of_whole for k in own):
            self._of_whole.add(result)
        return True

    def _is_read_in_blocks_alone(self, value: Value) -> bool:
        readers = self._readers.get(value, [])
        return value not in self._results and all(one in self.after for one in readers)

    def _shown(self, value: Value) -> set[Value]:
        """Return what a value shows in another way, and itself."""
        made, found = {v: one for one in self.after for v in one.outputs}, {value}
        while value in made and moves(made[value]):
            value = made[value].inputs[0]
            found.add(value)
        return found

    # ---- before the loop ----

    def _find_before(self) -> None:
        refused: set[Value] = set()
        after = dict(self.rows)
        sequences = {
            k: Rows(0, 1, one.first, one.stride)
            for k, one in enumerate(self.while_loop.sequences)
            if isinstance(one.first, int) and one.stride in (1, -1)
        }
        while True:
            self.rows, self.before = dict(after), {}
            wanted = self._wanted_rows(sequences, refused)
            costly = {v for v in wanted if self._reads_more(v)}
            if not costly:
                break
            refused |= costly
        self.sequences = {
            k: rows for k, rows in sequences.items() if self.loop.inputs[k] in self._made_before()
        }

    def _made_before(self) -> set[Value]:
        return {v for one in self.before for v in one.outputs}

    def _wanted_rows(self, sequences: dict[int, Rows], refused: set[Value]) -> list[Value]:
        """Take in what blocks can make; returns those of the sequences among it."""
        wanted: dict[Value, set[Rows | None]] = {}
        for k, value in enumerate(self.loop.inputs):
            wanted.setdefault(value, set()).add(sequences.get(k))
        for one in self.after:
            (result,) = one.outputs
            self._want(one, self.sums.get(result) or self._read(one, self.rows[result]), wanted)
        for one in reversed(self._others):
            if not isinstance(one, Equation) or one in self.after or len(one.outputs) != 1:
                continue
            rows = self._rows_of(one, wanted, refused)
            if rows is not None:
                self._want(one, self._read(one, rows), wanted)
        self.before = dict.fromkeys(reversed(self.before))
        return [v for k, v in enumerate(self.loop.inputs) if k in sequences and v in self.rows]

    def _want(
        self, one: Equation, read: Sequence[Rows | None], wanted: dict[Value, set[Rows | None]]
    ) -> None:
        for value, rows in zip(one.inputs, read, strict=True):
            wanted.setdefault(value, set()).add(rows)

    def _read(self, one: Equation, rows: Rows) -> list[Rows | None]:
        rule = rule_of(one)
        assert rule is not None
        return rule.operands(one, rows)

    def _rows_of(
        self, one: Equation, wanted: dict[Value, set[Rows | None]], refused: set[Value]
    ) -> Rows | None:
        """Return the rows that blocks make of a result, if only they read it and can make it."""
        (value,), rule = one.outputs, rule_of(one)
        rows, *others = wanted.get(value, {None})
        if rows is None or others or rule is None or value in refused:
            return None
        try:
            rule.operands(one, rows)
        except RowsCombined:
            return None
        if value in self._results or not all(map(self._has, self._readers[value])):
            # the array is there, of which a block reads its rows
            return rows if moves(one) else None
        self.rows[value] = rows
        self.before[one] = None
        return rows

    def _has(self, one: object) -> bool:
        return one is self.loop or one in self.after or one in self.before

    def _reads_more(self, value: Value) -> bool:
        """Return whether the arrays that a sequence is made from, which then stay, are larger than it."""
        made = self._made_before()
        pending, seen, read = [value], {value}, 0.0
        while pending:
            one = self.maker[pending.pop()]
            rows = self._read(one, self.rows[one.outputs[0]])
            for operand, of_operand in zip(one.inputs, rows, strict=True):
                if operand in seen or of_operand is None:
                    continue
                seen.add(operand)
                if operand in made:
                    pending.append(operand)
                elif operand in self.maker:
                    share = self.steps * of_operand.size / operand.shape[of_operand.axis]
                    read += operand.bytes * share
        return read > value.bytes
