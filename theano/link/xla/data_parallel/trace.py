"""Traces a graph on one device's rows of the batch, with as few sums over devices as there can be.

A node that needs a whole value waits. When nothing else can run, all the summands that are waited
for become whole values, in one all-reduce for each dtype.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.basic import Alloc, AllocEmpty
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor

from theano.link.xla.context import Context, is_traced
from theano.link.xla.data_parallel.loops import inputs_to_mask
from theano.link.xla.data_parallel.parts import (
    ALL,
    COUNT,
    SUMMAND,
    TOTAL,
    CannotSplit,
    NeedsSum,
    Rows,
    Sizes,
)
from theano.link.xla.data_parallel.rules import parts_of_results
from theano.link.xla.data_parallel.samples import rows_of_samples
from theano.link.xla.interpret import NodeFailed, performed, run_named, run_node
from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.tensor import AdvancedIncSubtensor1, AdvancedSubtensor1
from theano.sandbox.mrg_uniform import mrg_uniform

AXIS = "batch"

# The operations whose rules know lengths of the device's own rows
_READ_LENGTHS = (
    Alloc,
    AllocEmpty,
    Reshape,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    Scan,
    SpecifyShape,
)


class SplitTrace:
    """The values of a graph on one device while it is traced.

    Parameters
    ----------
    context : Context
    devices : int
        How many devices there are.
    rows : int
        How many rows of the batch each has.
    """

    def __init__(self, context: Context, devices: int, rows: int):
        self.context, self.devices, self.rows = context, devices, rows
        self.values: dict[Variable, Any] = {}
        self.parts: dict[Variable, Any] = {}
        # Of what lengths are made from: the value that it would have without the split
        self.whole: dict[Variable, Any] = {}
        # Whole values on each device that are made from samples: where a row's elements are, if known
        self.sampled: dict[Variable, Rows | None] = {}

    def run(self, nodes: Sequence[Apply], outputs: Sequence[Variable]) -> None:
        """Run all nodes; the outputs have no summands after it."""
        pending = list(nodes)
        while True:
            waited_for: dict[Variable, None] = {}
            left = [node for node in pending if not self._try(node, waited_for)]
            sums = [v for v in outputs if self.parts.get(v) is SUMMAND]
            if left and len(left) < len(pending):
                pending = left
            elif waited_for or sums:
                self._sum(list(dict.fromkeys([*waited_for, *sums])))
                pending = left
            elif left:
                raise AssertionError(f"{left[0]} has inputs that nothing computes")
            else:
                return

    def _try(self, node: Apply, waited_for: dict[Variable, None]) -> bool:
        if any(not isinstance(v, Constant) and v not in self.values for v in node.inputs):
            return False
        values = [self._value(v) for v in node.inputs]
        parts = [self._part(v, node) for v in node.inputs]
        whole = [self.whole.get(v, value) for v, value in zip(node.inputs, values, strict=True)]
        if isinstance(node.op, Shape | Shape_i) or not any(map(is_traced, values)):
            found = self._lengths(node, values, parts, whole)
            if found:
                return True
        try:
            if self._samples(node, values, parts, whole):
                return True
            values, differing = self._data_of_all_rows(node, values, whole)
            if differing and not isinstance(node.op, _READ_LENGTHS):
                raise CannotSplit("it reads how many rows there are")
            known = [
                value if v in self.parts else other
                for v, value, other in zip(node.inputs, values, whole, strict=True)
            ]
            sizes = Sizes(values, known, self.rows)
            results = self._parts_of_results(node, values, parts, whole, sizes)
        except NeedsSum as needed:
            waited_for.update(dict.fromkeys(node.inputs[k] for k in needed.positions))
            return False
        except CannotSplit as error:
            refusal = ValueError(
                f"data_parallel: {node} cannot be split over the batch: {error}. {_INSTEAD}"
            )
            raise NodeFailed(node, values) from refusal
        self._run(node, values, parts, results)
        return True

    def _samples(self, node: Apply, values: list, parts: list, whole: list) -> bool:
        """Sample, or compute with samples, as without the split, so that the samples are the same.

        Returns whether that is all; otherwise only the device's rows of the samples are left.
        """
        starts = isinstance(node.op, mrg_uniform) and values[1] is not whole[1]
        sampled = [k for k, variable in enumerate(node.inputs) if variable in self.sampled]
        if not (starts or sampled):
            return False
        if isinstance(node.op, Scan) or any(part is not ALL for part in parts):
            for k in sampled:
                rows = self.sampled[node.inputs[k]]
                if rows is None:
                    raise CannotSplit("it takes samples that are not in the order of the batch")
                parts[k], values[k] = rows, self._own_rows(values[k], rows.axis)
                whole[k] = values[k]
            return False
        results = run_node(node, whole, replace(self.context, known=self.values))
        self.values.update(zip(node.outputs, results, strict=True))
        self.sampled.update(rows_of_samples(node, self.sampled, values, whole, self.rows))
        return True

    def _own_rows(self, value: Any, axis: int) -> Any:
        import jax

        length = value.shape[axis] // self.devices
        start = jax.lax.axis_index(AXIS) * length
        return jax.lax.dynamic_slice_in_dim(value, start, length, axis)

    def _parts_of_results(
        self, node: Apply, values: list, parts: list, whole: list, sizes: Sizes
    ) -> list:
        """Return what the device has of a node's results; a loop may need `values` that are whole."""
        try:
            return parts_of_results(node, parts, sizes)
        except CannotSplit as error:
            refusal = error
        # numbers of rows that a step computes with, as what a mean divides by
        for as_data in _numbers_as_data(node, parts):
            with contextlib.suppress(CannotSplit):
                results = parts_of_results(node, as_data, sizes)
                break
        else:
            raise refusal
        parts[:] = as_data
        values[:] = [w if p is TOTAL else v for v, w, p in zip(values, whole, parts, strict=True)]
        return results

    def _data_of_all_rows(self, node: Apply, values: list, whole: list) -> tuple[list, bool]:
        """Replace numbers made from lengths where they are data, as what a mean divides by.

        Returns also whether others are left, which are lengths of the device's own rows.
        """
        replaced, left = list(values), False
        for k, (own, other) in enumerate(zip(values, whole, strict=True)):
            if own is other or node.inputs[k] in self.parts:
                continue
            number = np.size(other) == 1
            is_data = isinstance(node.op, Elemwise) or (isinstance(node.op, Alloc) and k == 0)
            if number and (is_data or np.asarray(other).dtype.kind == "f"):
                replaced[k] = other
            else:
                left = True
        return replaced, left

    def _part(self, variable: Variable, reader: Apply) -> Any:
        part = self.parts.get(variable, ALL)
        if part is ALL and isinstance(reader.op, Scan) and variable in self.whole:
            value = np.asarray(self.values[variable])
            # a step may read it as a length, where it must be the device's own
            is_data = value.dtype.kind == "f" and value.size == 1
            return ALL if is_data else COUNT
        return part

    def _value(self, variable: Variable) -> Any:
        return variable.data if isinstance(variable, Constant) else self.values[variable]

    def _lengths(self, node: Apply, values: list, parts: list, whole: list) -> bool:
        """Run a node on lengths, here and as it would be without the split."""
        if isinstance(node.op, Alloc):
            values, _ = self._data_of_all_rows(node, values, whole)
        results = run_node(node, values, replace(self.context, known=self.values))
        if any(map(is_traced, results)):
            return False
        self.values.update(zip(node.outputs, results, strict=True))
        if isinstance(node.op, Shape | Shape_i):
            shape = np.array(np.shape(values[0]), dtype="int64")
            if isinstance(parts[0], Rows):
                shape[parts[0].axis] *= self.devices
            others = [shape[node.op.i] if isinstance(node.op, Shape_i) else shape]
        elif any(a is not b for a, b in zip(values, whole, strict=True)):
            others = performed(node, whole)
        else:
            return True
        for variable, own, other in zip(node.outputs, results, others, strict=True):
            if np.array_equal(own, other):
                continue
            self.whole[variable] = np.asarray(other, dtype=variable.type.dtype)
            axis = self._axis_of_equal_rows(np.asarray(own), np.asarray(other))
            if axis is not None:
                self.parts[variable] = Rows(axis)
        return True

    def _axis_of_equal_rows(self, own: np.ndarray, other: np.ndarray) -> int | None:
        """Return the dimension with the batch of an array that is the same for each device's rows."""
        axes = [k for k, (a, b) in enumerate(zip(own.shape, other.shape, strict=True)) if a != b]
        if len(axes) != 1 or own.shape[axes[0]] != self.rows:
            return None
        pieces = np.split(other, self.devices, axes[0])
        return axes[0] if all(np.array_equal(own, piece) for piece in pieces) else None

    def _run(self, node: Apply, values: list, parts: list, results: list) -> None:
        import jax

        if isinstance(node.op, Scan):
            for k in inputs_to_mask(node.op, parts, self.rows):
                first = jax.lax.axis_index(AXIS) == 0
                values[k] = jax.numpy.where(first, values[k], 0)
        # a loop reads what its sequences are made from; of samples, that is whole
        known: Mapping[Variable, Any] = self.values
        if self.sampled:
            known = {v: value for v, value in known.items() if v not in self.sampled}
        computed = run_named(node, values, replace(self.context, known=known))
        self.values.update(zip(node.outputs, computed, strict=True))
        self.parts.update(zip(node.outputs, results, strict=True))

    def _sum(self, variables: list[Variable]) -> None:
        import jax
        import jax.numpy as jnp

        for dtype in dict.fromkeys(self.values[v].dtype for v in variables):
            group = [v for v in variables if self.values[v].dtype == dtype]
            shapes = [self.values[v].shape for v in group]
            joined = jnp.concatenate([self.values[v].ravel() for v in group])
            total = jax.lax.psum(joined, AXIS)
            ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
            pieces = jnp.split(total, ends)
            for variable, piece, shape in zip(group, pieces, shapes, strict=True):
                self.values[variable] = piece.reshape(shape)
                self.parts[variable] = ALL


_INSTEAD = (
    "Devices compute what treats each row of the batch alike, and sums over the batch; what does "
    "more is to be computed from the function's results, or by a function without data_parallel"
)


def _is_number(variable: Variable) -> bool:
    return getattr(variable.type, "ndim", 0) == 0


# more numbers of rows are data together, or one of them is
_NUMBERS_IN_EACH_WAY = 6


def _numbers_as_data(node: Apply, parts: list) -> Iterator[list]:
    """Yield the parts with some numbers of rows as data, the fewest first; the others are lengths."""
    counts = dict.fromkeys(
        variable
        for variable, part in zip(node.inputs[1:], parts[1:], strict=True)
        if part is COUNT and _is_number(variable)
    )
    few = len(counts) <= _NUMBERS_IN_EACH_WAY
    for size in range(1, len(counts) + 1) if few else (1, len(counts)):
        for data in combinations(counts, size):
            yield [
                parts[0],
                *(
                    TOTAL if variable in data else part
                    for variable, part in zip(node.inputs[1:], parts[1:], strict=True)
                ),
            ]
