"""A stage as programs of which each is for all lengths of a bucket."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from theano.link.background import fetched
from theano.link.xla.buckets.bounds import bucket_of
from theano.link.xla.buckets.numbers import Varying
from theano.link.xla.buckets.padding import CannotBucket, Padded
from theano.link.xla.buckets.patterns import (
    Pattern,
    Patterns,
    Place,
    length_at,
    made_of_lengths,
)
from theano.link.xla.buckets.trace import BucketTrace
from theano.link.xla.context import Context
from theano.link.xla.device.arguments import Arguments
from theano.link.xla.device.program import Call, DeviceProgram, Notes, Specialisation
from theano.link.xla.interpret import NodeFailed
from theano.link.xla.plan import Stage

# Combinations of lengths for which what is made from them is computed beforehand
MOST_CASES = 1 << 14


class Bucket:
    """The lengths and types that a program is made for.

    Parameters
    ----------
    stage : Stage
    pattern : Pattern
        The places of each length.
    ranges : tuple of range
        The lengths that there may be, for each.

    Attributes
    ----------
    cases
        How many combinations of lengths there are.
    lengths
        The length at each place, for each combination.
    made
        The static numbers that follow from the lengths, and how.
    """

    def __init__(self, stage: Stage, pattern: Pattern, ranges: tuple[range, ...]):
        self.pattern, self.ranges = pattern, ranges
        self.cases = prod(map(len, ranges))
        self.lengths: dict[Place, np.ndarray] = {}
        if self.cases <= MOST_CASES:
            grids = np.meshgrid(*map(np.array, ranges), indexing="ij")
            for group, grid in zip(pattern, grids, strict=True):
                self.lengths.update(dict.fromkeys(group, grid.ravel()))
        self.made = made_of_lengths(stage, self.lengths)

    def case(self, lengths: Sequence[int]) -> np.ndarray:
        """Return which combination a call has."""
        offsets = [n - r.start for n, r in zip(lengths, self.ranges, strict=True)]
        return np.asarray(np.ravel_multi_index(offsets, [*map(len, self.ranges)]), "int32")

    def fixed(self, static: Sequence[Any]) -> list[Any]:
        """Return the static values that are the same for all lengths."""
        varying = {place.position for place in self.lengths if place.axis is None}
        return [x for k, x in enumerate(static) if k not in varying and k not in self.made]


class BucketedProgram(DeviceProgram):
    """Runs a stage on the device, on padded arrays where that gives the same.

    Parameters
    ----------
    stage, overwritten, context, arguments
        As for `DeviceProgram`.
    setting : str
        The flag ``xla.bucket_lengths``.

    Attributes
    ----------
    exact_because
        Why programs were made for exact lengths.
    """

    def __init__(
        self,
        stage: Stage,
        overwritten: Collection[int],
        context: Callable[[], Context],
        setting: str,
        arguments: Arguments | None = None,
    ):
        super().__init__(stage, overwritten, context, arguments)
        self.setting = setting
        self.patterns = Patterns(stage)
        self.exact_because: dict[str, None] = {}
        self._refused: set[Any] = set()
        self._buckets: dict[Any, Bucket] = {}

    def prepared(self, values: Sequence[Any], static: Sequence[Any]) -> Call:
        """Return the call that computes the outputs."""
        reasons = []
        for pattern in self.patterns.proposed(values, static):
            lengths = [length_at(group[0], values, static) for group in pattern]
            bucket = self._bucket(pattern, tuple(bucket_of(n, self.setting) for n in lengths))
            if bucket.cases == 1:
                continue
            try:
                return self._prepared_padded(bucket, lengths, values, static)
            except CannotBucket as error:
                reasons.append(str(error))
        self.exact_because.update(dict.fromkeys(filter(None, reasons[:1])))
        return super().prepared(values, static)

    def _bucket(self, pattern: Pattern, ranges: tuple[range, ...]) -> Bucket:
        key = (pattern, ranges)
        if key not in self._buckets:
            self._buckets[key] = Bucket(self.stage, pattern, ranges)
        return self._buckets[key]

    def _prepared_padded(
        self, bucket: Bucket, lengths: list[int], values: Sequence[Any], static: Sequence[Any]
    ) -> Call:
        if bucket.cases > MOST_CASES:
            raise CannotBucket(f"its lengths have more than {MOST_CASES} combinations")
        values = list(values)
        for place, each in bucket.lengths.items():
            if place.axis is not None:
                k = place.position
                values[k] = _padded(values[k], place.axis, int(each[-1]) + place.extra)
        key = (bucket.pattern, bucket.ranges, self._key(values, bucket.fixed(static)))
        if key in self._refused:
            raise CannotBucket("")
        case = bucket.case(lengths)
        try:
            program = self._program(
                key,
                [*values, case],
                lambda given, notes: self._trace_padded(given, static, bucket, notes),
            )
        except (CannotBucket, NodeFailed) as error:
            self._refused.add(key)
            if isinstance(error, CannotBucket):
                raise
            raise CannotBucket(f"{error.node.op}: {error.__cause__}") from error
        self.patterns.worked = bucket.pattern
        call = self.call_of(program, [*values, case])
        return replace(call, outputs=partial(self._outputs_cut, program, case))

    def _outputs_cut(
        self, program: Specialisation, case: np.ndarray, returned: Sequence[Any]
    ) -> list[Any]:
        outputs = self._outputs(program, returned)
        for position, axis, each in program.notes.cuts:
            rows = (slice(None),) * axis + (slice(int(each[case])),)
            outputs[position] = np.array(fetched(outputs[position])[rows])
        return outputs

    def _trace_padded(
        self, given: Sequence[Any], static: Sequence[Any], bucket: Bucket, notes: Notes
    ) -> list[Any]:
        *values, case = given
        trace = BucketTrace(self.context(), bucket.cases, case)
        trace.values.update(zip(self.stage.inputs, values, strict=True))
        for k, variable in enumerate(self.stage.static):
            if k not in bucket.made:
                trace.values[variable] = static[k]
        for place, each in bucket.lengths.items():
            if place.axis is None:
                dtype = np.asarray(static[place.position]).dtype
                trace.values[self.stage.static[place.position]] = Varying(each.astype(dtype))
                continue
            variable = self.stage.inputs[place.position]
            if isinstance(trace.values[variable], Padded):
                raise CannotBucket(f"two dimensions of {variable} would be padded")
            rows = each + place.extra
            trace.values[variable] = Padded(values[place.position], place.axis, rows, True)
        trace.context.ratios.extend(lengths[-1] // lengths[0] for lengths in bucket.ranges)
        for steps in bucket.made.values():
            trace.run(steps)
        trace.run(self.stage.nodes)
        outputs = []
        for position, variable in enumerate(self.stage.outputs):
            value = trace.data(trace.value(variable))
            if isinstance(value, Padded):
                notes.cuts.append((position, value.axis, value.lengths))
                value = value.value
            outputs.append(value)
        return self._as_outputs(outputs, given, trace.context, notes)


def _padded(value: object, axis: int, length: int) -> np.ndarray:
    """Return the array with zeros up to a length."""
    value = np.asarray(value)
    rows = [(0, 0)] * value.ndim
    rows[axis] = (0, length - value.shape[axis])
    return np.pad(value, rows)
