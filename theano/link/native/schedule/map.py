"""Element-wise operations in one pass over the elements, on vectors where they have a form on those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytensor.scalar as ps

from theano.link.native.ir.ir import Compute, Scalar, View
from theano.link.native.ir.layout import Product
from theano.link.native.ir.loop_nests import (
    Apply,
    For,
    Form,
    Kind,
    Let,
    Local,
    Node,
    Store,
    Value,
    named,
    times,
)
from theano.link.native.ir.partitions import Share
from theano.link.native.ir.scalar_expressions import Expression, expression_of
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Size
from theano.link.native.schedule.elements import Operands, over_elements
from theano.link.native.schedule.polls import between_polls
from theano.link.native.schedule.registry import schedules
from theano.link.native.statements.map import Map
from theano.link.native.statements.vector_maps import is_condition, vector_type

# Elements for which the reciprocal of what they are divided by is worth computing.
_MANY = 64
# What names of numbers begin with that are held for all elements.
_LETTERS = {Kind.VECTOR: "s", Kind.DIVISOR: "d"}
_ZERO = Scalar("0.0", "float64", invariant=True, literal=0.0)


@schedules(Map)
def schedule_map(statement: Map, sizes: Sizes, polls: bool, share: Share | None) -> list[Node]:
    """Return the computations in one pass over the elements, or a thread's share of them."""
    elements = Elements(statement, sizes)
    every = between_polls(len(statement.body)) if polls else 0
    return over_elements(statement.shape, elements.operands, elements.inner, share, every)


class Elements:
    """A pass over elements: its operands, and its innermost loop.

    Parameters
    ----------
    apart
        Results that are stored in rows to which the caller has the next pointers.
    """

    def __init__(self, statement: Map, sizes: Sizes, apart: Sequence[Compute] = ()):
        self.statement, self.apart = statement, apart
        self.operands = operands = Operands(sizes)
        self.loads: dict[tuple[int, int], int] = {}
        for compute in statement.body:
            for position, operand in enumerate(compute.operands):
                if isinstance(operand, View):
                    self.loads[id(compute), position] = operands.add(operand)
        self.stores = {
            id(compute): operands.add(View.of(compute.buffer))
            for compute in statement.body
            if compute.materialized and compute.buffer is not None
        }
        self._dtype = vector_type(statement, {view.dtype for view in operands.views})
        self._divides = self._dtype is not None and self._has_many_in_a_row(statement)
        self.stores |= {id(one): len(operands.views) + k for k, one in enumerate(apart)}
        if any(one.dtype not in (self._dtype, "bool") for one in apart):
            self._dtype = None

    def _has_many_in_a_row(self, statement: Map) -> bool:
        extents, _ = self.operands.collapsed(statement.shape)
        few = isinstance(extents[0], int) and extents[0] < _MANY
        return len(extents) == 1 and not few

    def inner(self, first: Size, end: Size, strides: list[Product]) -> list[Node]:
        """Return the loop over ``i`` from one bound to another, given the strides of operands along it."""
        strides = self._of_all(strides)
        in_vectors = self._are_vectors(strides)
        return (self._in_vectors if in_vectors else self._one_by_one)(first, end, strides)

    def _of_all(self, strides: list[Product]) -> list[Product]:
        """Return the strides of operands, and those of elements that are computed apart."""
        return [*strides, *(Product(1) for _ in self.apart)]

    def _are_vectors(self, strides: list[Product]) -> bool:
        if self._dtype is None:
            return False
        one, views = Product(1), self.operands.views
        # to gather elements takes longer than arithmetic on them, and less time than functions or quotients
        operations = [one.operation for one in self.statement.body]
        gathers = any(one.function or one.operation == "divide" for one in operations)
        return all(strides[k] == one for k in self.stores.values()) and all(
            strides[k] == one or not strides[k].factor or (views[k].dtype != "bool" and gathers)
            for k in self.loads.values()
        )

    def _one_by_one(self, first: Size, end: Size, strides: list[Product]) -> list[Node]:
        return [For("i", first, end, tuple(self.of_one(strides)), form=Form.INDEPENDENT)]

    def of_one(self, strides: list[Product]) -> list[Node]:
        """Return what is computed of the element at ``i``, given the strides of operands along it."""
        loads = [self._let_load(k, strides) for k in sorted(set(self.loads.values()))]
        return [*loads, *self._computed(strides, {})]

    def in_lanes(self, strides: list[Product]) -> tuple[list[Node], list[Node]] | None:
        """Return what is the same for all lanes of a row, and the inside of its loop in lanes, if it has one."""
        strides = self._of_all(strides)
        return self._of_vectors(strides) if self._are_vectors(strides) else None

    def _in_vectors(self, first: Size, end: Size, strides: list[Product]) -> list[Node]:
        """Return the loop in lanes, and before it what is the same for all of them."""
        before, body = self._of_vectors(strides)
        lanes = For("i", first, end, tuple(body), form=Form.LANES, dtype=str(self._dtype))
        return [*before, lanes]

    def _of_vectors(self, strides: list[Product]) -> tuple[list[Node], list[Node]]:
        loaded = sorted(set(self.loads.values()))
        same = [k for k in loaded if not strides[k].factor]
        before: list[Node] = [
            self._let_load(k, strides, Kind.VECTOR) for k in same if not self._is_mask(k)
        ]
        held: dict[tuple[str, str, Kind], Local] = {}
        masks: dict[str, Local] = {}
        of_operands: dict[tuple[int, int], Local] = {}

        def hold(operand: Scalar, kind: Kind = Kind.VECTOR) -> Local:
            # the text of a literal distinguishes zeros of either sign
            key = operand.expression, operand.dtype, kind
            if key not in held:
                held[key] = Local(f"{_LETTERS[kind]}{len(held)}", str(self._dtype))
                before.append(Let(held[key].name, held[key].dtype, operand, kind))
            return held[key]

        body: list[Node] = [self._let_lanes(k, strides) for k in loaded if strides[k].factor]
        for k in filter(self._is_mask, same):
            # all lanes of a mask are the one that is there
            number = Local(f"b{k}", str(self._dtype))
            load = self.operands.element(k, strides[k])
            before.append(Let(number.name, number.dtype, load, Kind.VECTOR))
            is_true = Apply(_not_equal(number.dtype), (number, hold(_ZERO)))
            body.append(Let(f"x{k}", "bool", is_true))
        for compute in self.statement.body:
            for position, operand in enumerate(compute.operands):
                if not isinstance(operand, Scalar) or not compute.operation.in_vectors:
                    continue
                number = hold(operand, self._held_in(compute, position))
                if operand.dtype == "bool" and is_condition(compute, position):
                    # all lanes of a mask are the number, which is 1 or 0
                    if number.name not in masks:
                        masks[number.name] = Local(f"m{len(masks)}", "bool")
                        is_true = Apply(_not_equal(number.dtype), (number, hold(_ZERO)))
                        body.append(Let(masks[number.name].name, "bool", is_true))
                    number = masks[number.name]
                of_operands[id(compute), position] = number
        return before, body + self._computed(strides, of_operands)

    def _is_mask(self, k: int) -> bool:
        return self.operands.views[k].dtype == "bool"

    def _let_lanes(self, k: int, strides: list[Product]) -> Node:
        load = self.operands.element(k, strides[k])
        return Let(f"x{k}", load.dtype, replace(load, apart=strides[k].size))

    def _held_in(self, compute: Compute, position: int) -> Kind:
        """Return what a number that an operation reads in vectors is held in."""
        divides = self._divides and compute.operation.name == "true_div" and position == 1
        return Kind.DIVISOR if divides else Kind.VECTOR

    def _let_load(self, k: int, strides: list[Product], kind: Kind = Kind.NUMBER) -> Node:
        load = self.operands.element(k, strides[k])
        return Let(f"x{k}", load.dtype, load, kind)

    def _computed(self, strides: list[Product], held: dict[tuple[int, int], Local]) -> list[Node]:
        """Return what is computed of loaded elements, and stored.

        Parameters
        ----------
        held
            The numbers that are held in vectors, by the computation and the position in it.
        """
        nodes: list[Node] = []
        results: dict[int, Local] = {}
        for compute in self.statement.body:
            operands: list[Value] = []
            for position, operand in enumerate(compute.operands):
                if isinstance(operand, View):
                    k = self.loads[id(compute), position]
                    operands.append(Local(f"x{k}", operand.dtype))
                elif isinstance(operand, Scalar):
                    operands.append(held.get((id(compute), position), operand))
                else:
                    operands.append(results[id(operand)])
            operation = compute.operation
            if (id(compute), 1) in held and self._held_in(compute, 1) is Kind.DIVISOR:
                operation = Expression("true_div", "divided", compute.dtype, compute.dtype, True)
            result = results[id(compute)] = Local(f"e{len(results)}", compute.dtype)
            nodes.append(Let(result.name, result.dtype, Apply(operation, tuple(operands))))
        for compute in self.statement.body:
            if id(compute) in self.stores:
                k = self.stores[id(compute)]
                index = times(named("i"), strides[k].size)
                nodes.append(Store(f"p{k}", index, results[id(compute)]))
        return nodes


def _not_equal(dtype: str) -> Expression:
    return expression_of(ps.neq, [dtype, dtype], "bool")
