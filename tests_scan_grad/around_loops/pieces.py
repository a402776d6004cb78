"""Operations on arrays outside of loops: each piece in NumPy, and as a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import theano.tensor as T


@dataclass(frozen=True)
class Piece:
    """Something that is computed; ``operands`` are positions among the values of a program."""

    operands: tuple[int, ...]

    def compute(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """The values that it gives, in NumPy."""
        raise NotImplementedError

    def build(self, variables: list[Any], scan: Any, mode: Any) -> list[Any]:
        """The same as variables; ``scan`` and ``mode`` make loops."""
        raise NotImplementedError


@dataclass(frozen=True)
class Join(Piece):
    """``concatenate`` along an axis."""

    axis: int

    def compute(self, arrays):
        return [np.concatenate(arrays, axis=self.axis)]

    def build(self, variables, scan, mode):
        return [T.concatenate(variables, axis=self.axis)]


@dataclass(frozen=True)
class Stack(Piece):
    """``stack`` along a new axis."""

    axis: int

    def compute(self, arrays):
        return [np.stack(arrays, axis=self.axis)]

    def build(self, variables, scan, mode):
        return [T.stack(variables, axis=self.axis)]


@dataclass(frozen=True)
class Split(Piece):
    """Two parts along an axis, the first of a given length."""

    axis: int
    lengths: tuple[int, int]

    def compute(self, arrays):
        if arrays[0].shape[self.axis] != sum(self.lengths):
            raise ValueError("lengths of parts that are not those of the whole")
        return np.split(arrays[0], [self.lengths[0]], axis=self.axis)

    def build(self, variables, scan, mode):
        return T.split(variables[0], list(self.lengths), 2, axis=self.axis)


@dataclass(frozen=True)
class Part(Piece):
    """``array[index]``: an integer or a slice for each of the first axes."""

    index: tuple[int | slice, ...]

    def compute(self, arrays):
        return [arrays[0][self.index]]

    def build(self, variables, scan, mode):
        return [variables[0][self.index]]


@dataclass(frozen=True)
class Rows(Piece):
    """Rows at places that are told by a list, some perhaps twice."""

    places: tuple[int, ...]

    def compute(self, arrays):
        return [arrays[0][list(self.places)]]

    def build(self, variables, scan, mode):
        return [variables[0][np.array(self.places)]]


@dataclass(frozen=True)
class Write(Piece):
    """The second operand is written, or added, into a part of the first."""

    index: tuple[int | slice, ...]
    add: bool

    def compute(self, arrays):
        written = arrays[0].copy()
        written[self.index] = written[self.index] * self.add + arrays[1]
        return [written]

    def build(self, variables, scan, mode):
        write = T.inc_subtensor if self.add else T.set_subtensor
        return [write(variables[0][self.index], variables[1])]


@dataclass(frozen=True)
class Frame(Piece):
    """An array in a larger one, which has one number before and behind it along an axis."""

    axis: int
    before: int
    behind: int
    number: float

    def compute(self, arrays):
        (array,) = arrays
        widths = [(0, 0)] * array.ndim
        widths[self.axis] = (self.before, self.behind)
        return [np.pad(array, widths, constant_values=self.number)]

    def build(self, variables, scan, mode):
        (variable,) = variables
        shape = [variable.shape[d] for d in range(variable.ndim)]
        length = shape[self.axis]
        shape[self.axis] = length + self.before + self.behind
        whole = T.alloc(np.asarray(self.number, variable.dtype), *shape)
        index = (slice(None),) * self.axis + (slice(self.before, self.before + length),)
        return [T.set_subtensor(whole[index], variable)]


@dataclass(frozen=True)
class Reshape(Piece):
    """All in one row, or the first or last axis kept and all others made one."""

    kept: str

    def compute(self, arrays):
        return [arrays[0].reshape(self._shape(arrays[0].shape, arrays[0].ndim))]

    def build(self, variables, scan, mode):
        (variable,) = variables
        shape = [variable.shape[d] for d in range(variable.ndim)]
        return [variable.reshape(self._shape(shape, variable.ndim), ndim=self._ndim())]

    def _ndim(self) -> int:
        return 1 if self.kept == "none" else 2

    def _shape(self, lengths: Any, ndim: int) -> tuple:
        product: Any = 1
        joined = {"none": range(ndim), "first": range(1, ndim), "last": range(ndim - 1)}[self.kept]
        for axis in joined:
            product = product * lengths[axis]
        return {
            "none": (product,),
            "first": (lengths[0], product),
            "last": (product, lengths[-1]),
        }[self.kept]


@dataclass(frozen=True)
class Transpose(Piece):
    """The axes in another order."""

    order: tuple[int, ...]

    def compute(self, arrays):
        return [arrays[0].transpose(self.order)]

    def build(self, variables, scan, mode):
        return [variables[0].dimshuffle(*self.order)]


@dataclass(frozen=True)
class Sum(Piece):
    """Added up along an axis."""

    axis: int

    def compute(self, arrays):
        return [arrays[0].sum(axis=self.axis)]

    def build(self, variables, scan, mode):
        return [variables[0].sum(axis=self.axis)]


@dataclass(frozen=True)
class Product(Piece):
    """The last axis of the first operand times the first of the second."""

    def compute(self, arrays):
        return [np.tensordot(arrays[0], arrays[1], 1)]

    def build(self, variables, scan, mode):
        first, second = variables
        if max(first.ndim, second.ndim) > 2:
            return [T.tensordot(first, second, [[first.ndim - 1], [0]])]
        return [T.dot(first, second)]


@dataclass(frozen=True)
class Map(Piece):
    """Element-wise work on one or two arrays; a second may have fewer axes."""

    work: str

    def compute(self, arrays):
        return [_WORK[self.work](np, *arrays)]

    def build(self, variables, scan, mode):
        return [_WORK[self.work](T, *variables)]


_WORK = {
    "tanh": lambda m, a: m.tanh(a),
    "half": lambda m, a: a * 0.5,
    "product": lambda m, a, b: m.tanh(a) * b,
    "sum": lambda m, a, b: a + b,
    "difference": lambda m, a, b: m.sin(a - b),
}
WORK_ON_ONE = ("tanh", "half")
WORK_ON_TWO = ("product", "sum", "difference")
