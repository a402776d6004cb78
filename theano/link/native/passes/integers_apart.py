"""Put what a map computes of integers into a separate map, so that its functions run on vectors.

A map runs on vectors where all that it reads and computes has one floating-point type, or is a mask. Counts
that are observed, and what they are compared with, would have all of it done one by one, which takes five times
as long as to store a row. Check: the map has functions, or more arithmetic than a row is worth, and all the rest
of it runs on vectors.
Transformation: what is computed of integers alone, and casts of what the rest reads of them, are a map before it.
"""

from __future__ import annotations

from typing import Any

import pytensor.scalar as ps

from theano.link.native.ir.ir import Compute, Scalar, View
from theano.link.native.ir.scalar_expressions import expression_of
from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import Step
from theano.link.native.passes.results_of_maps import computed
from theano.link.native.statements.base import of_kind
from theano.link.native.statements.map import Map
from theano.link.native.statements.vector_maps import is_condition, takes_vectors, vector_type

# So few elements are sooner done one by one.
_FEW = 16
_MUCH_ARITHMETIC = 5

Operand = View | Scalar | Compute


def put_integers_apart(lowered: Loop | Segment) -> None:
    """Part maps into what they compute of integers and the rest; positions change."""
    step = lowered.step
    for statement in list(of_kind(step.statements, Map)):
        dtype = _type_of_most(statement)
        if dtype is None or step.sizes.known_below(statement.shape, _FEW):
            continue
        if vector_type(statement, {view.dtype for view in statement.views()}) is None:
            parted = _Parted(step, statement, dtype)
            if parted.before and parted.runs_on_vectors():
                _replace(step, statement, parted)


def _type_of_most(statement: Map) -> str | None:
    """Return the type of what is worth being done on vectors; None where that is little, or of two types."""
    operations = [one.operation for one in statement.body if one.operation.in_vectors]
    functions = [one for one in operations if one.function]
    if not functions and len(operations) < _MUCH_ARITHMETIC:
        return None
    types = {one.operand_dtype for one in functions or operations} & set(FLOATS)
    return types.pop() if len(types) == 1 else None


def _replace(step: Step, statement: Map, parted: _Parted) -> None:
    before = Map(statement.shape, parted.before)
    step.origins[before] = step.origins.get(statement)
    step.statements.insert(step.statements.index(statement), before)
    statement.body = parted.rest
    for one, operands in parted.operands.items():
        one.operands, one.dtypes = operands, tuple(each.dtype for each in operands)


class _Parted:
    """A map in two: what is done first, and the rest, with what that reads instead.

    Attributes
    ----------
    before, rest
        The computations of each.
    operands
        Those of the rest, once it is parted.
    """

    def __init__(self, step: Step, statement: Map, dtype: str):
        self.step, self.shape, self.dtype = step, statement.shape, dtype
        self.before: list[Compute] = []
        self.rest: list[Compute] = []
        self.operands: dict[Compute, list[Operand]] = {}
        self._cast: dict[tuple[int, str], Compute] = {}
        early: set[Compute] = set()
        for one in statement.body:
            if self._is_of_integers(one, early):
                early.add(one)
                self.before.append(one)
            else:
                self.rest.append(one)
        for one in self.rest:
            operands = enumerate(one.operands)
            self.operands[one] = [self._read(one, k, each, early) for k, each in operands]

    def runs_on_vectors(self) -> bool:
        """Return whether the rest does."""
        return all(takes_vectors(self._changed(one), self.dtype) for one in self.rest)

    def _changed(self, one: Compute) -> Compute:
        """Return a computation on what it reads once the map is parted."""
        operands = self.operands[one]
        dtypes = tuple(each.dtype for each in operands)
        return Compute(one.name, one.dtype, one.operation, operands, dtypes)

    def _is_of_integers(self, one: Compute, early: set[Compute]) -> bool:
        """Return whether something is computed of integers, or is one that is made of arrays alone."""
        if one.buffer is not None and one.buffer.place is not None:
            # where it goes, the rest may read before
            return False
        arrays = [each for each in one.operands if not isinstance(each, Scalar)]
        is_integer = one.dtype not in (self.dtype, "bool")
        known = [
            each in early if isinstance(each, Compute) else is_integer or each.dtype != self.dtype
            for each in arrays
        ]
        if not arrays or not all(known) or one.operation.function:
            return False
        of_other_types = any(each.dtype not in (self.dtype, "bool") for each in arrays)
        return one.dtype != self.dtype or (of_other_types and one.operation.operation == "cast")

    def _read(self, one: Compute, position: int, operand: Operand, early: set[Compute]) -> Operand:
        """Return what the rest reads in place of an operand: a view of what is stored, in its own type."""
        if isinstance(operand, Scalar):
            return operand
        if is_condition(one, position):
            wanted = "bool"
        else:
            wanted = operand.dtype if operand.dtype == "bool" else self.dtype
        if operand.dtype != wanted:
            operand = self._made(operand, wanted)
        elif not (isinstance(operand, Compute) and operand in early):
            return operand
        assert isinstance(operand, Compute) and operand.buffer is not None
        return View.of(operand.buffer)

    def _made(self, operand: Any, dtype: str) -> Compute:
        """Return an operand cast to a type, among what is done first."""
        key = id(operand), dtype
        if key not in self._cast:
            expression = expression_of(ps.Cast(ps.get_scalar_type(dtype)), [operand.dtype], dtype)
            self._cast[key] = computed(
                self.step.temporary(dtype, self.shape), expression, [operand]
            )
            self.before.append(self._cast[key])
        return self._cast[key]
