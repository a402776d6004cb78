"""Permutations, choices and outcomes that a `RandomState` draws."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from theano.link.native.ir.ir import Buffer, Size, Value
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.symbolic import compared
from theano.link.native.lowering.operations.draws.drawing import (
    Drawing,
    indices_in,
    over,
    parameter,
    place,
)
from theano.link.native.render.arrays import Array, loops


def permutations(drawing: Drawing, inputs: list[Value]) -> Buffer:
    """Integers below a number, shuffled for each draw."""
    count = drawing.step.size(inputs[0], "the length of permutations")
    drawing.step.sizes.check(compared(count, ">=", 0), "a length that is not negative")
    ndim, order = len(drawing.shape), drawing.step.rows_without_gaps("int64", (count,))

    def lines(y: Array, order: Array, wrong: str, count: str) -> list[str]:
        kept = f"{place(y, ndim, 'k')} = {order.at('k')};"
        body = [
            f"tn_mt_permutation(words, {count}, {order.name});",
            *loops(["k"], [count], [kept]),
        ]
        return over(y, body, ndim)

    return drawing.append(lines, [], [count], added=[count], scratch=[order])


def choices(drawing: Drawing, inputs: list[Value]) -> Buffer:
    """Elements of a vector, or integers below a number."""
    _, _, _, replace, p = drawing.node.inputs
    even = p.type.shape == (0,)
    if replace.data:  # type: ignore[attr-defined]
        if even:
            return _even_choices(drawing, inputs[0])
        return _choices_by_probability(drawing, inputs[0], inputs[2])
    if even:
        return _choices_without_replacement(drawing, inputs[0])
    return _different_choices_by_probability(drawing, inputs[0], inputs[2])


def _chosen(a: Array, vector: bool, index: str) -> str:
    return a.at(index) if vector else index


def _even_choices(drawing: Drawing, a: Value) -> Buffer:
    ndim, vector = len(drawing.shape), a.ndim == 1
    numbers = [a.shape[0]] if vector else []

    def lines(y: Array, wrong: str, a: Array, *length: str) -> list[str]:
        count = length[0] if vector else f"(int64_t){a.at('0')}"
        index = f"tn_mt_up_to(words, (uint64_t){count} - 1)"
        body = [
            f"if ({count} > 0) {place(y, ndim)} = {_chosen(a, vector, index)};",
            f"else {wrong} = 1;",
        ]
        return over(y, body, ndim)

    error = ValueError, "a must be greater than 0 unless no samples are taken"
    return drawing.append(lines, [drawing.step.view(a)], numbers, error=error)


def _choices_without_replacement(drawing: Drawing, a: Value) -> Buffer:
    """The first of a permutation."""
    step, vector = drawing.step, a.ndim == 1
    count = a.shape[0] if vector else step.size(a, "a number of choices")
    wanted = step.sizes.product(drawing.shape)
    step.sizes.check(compared(wanted, "<=", count), "as many elements as are chosen")
    ndim, order = len(drawing.shape), step.rows_without_gaps("int64", (count,))

    def lines(y: Array, order: Array, wrong: str, a: Array, count: str) -> list[str]:
        body = [f"{place(y, ndim)} = {_chosen(a, vector, order.at('at++'))};"]
        return [
            f"tn_mt_permutation(words, {count}, {order.name});",
            "int64_t at = 0;",
            *over(y, body, ndim),
        ]

    return drawing.append(lines, [step.view(a)], [count], scratch=[order])


def _choices_by_probability(drawing: Drawing, a: Value, p: Value) -> Buffer:
    """The first at which the sum of the probabilities, scaled to 1, exceeds a uniform draw."""
    step, vector, count = drawing.step, a.ndim == 1, _count_of_probabilities(drawing, a, p)
    sums = step.rows_without_gaps("float64", (count,))
    ndim, tolerance = len(drawing.shape), _tolerance(p)

    def lines(y: Array, sums: Array, wrong: str, a: Array, p: Array, count: str) -> list[str]:
        index = f"tn_mt_above({sums.name}, {count}, tn_mt_double(words))"
        summed = [f"{sums.at('k')} = {p.at('k')};"]
        return [
            *loops(["k"], [count], summed),
            f"if (!tn_mt_summed({sums.name}, {count}, {tolerance})) {wrong} = 1;",
            "else {",
            *over(y, [f"{place(y, ndim)} = {_chosen(a, vector, index)};"], ndim),
            "}",
        ]

    error = ValueError, "probabilities are negative or NaN, or do not sum to 1"
    return drawing.append(lines, [step.view(a), step.view(p)], [count], scratch=[sums], error=error)


def _different_choices_by_probability(drawing: Drawing, a: Value, p: Value) -> Buffer:
    """The same, but that what was chosen has no probability any more."""
    step, vector, count = drawing.step, a.ndim == 1, _count_of_probabilities(drawing, a, p)
    wanted = step.sizes.product(drawing.shape)
    step.sizes.check(compared(wanted, "<=", count), "as many elements as are chosen")
    left, sums = (step.rows_without_gaps("float64", (count,)) for _ in range(2))
    found = step.rows_without_gaps("int64", (wanted,))
    ndim, tolerance = len(drawing.shape), _tolerance(p)

    def lines(y: Array, left: Array, sums: Array, found: Array, wrong: str, *given: Any):
        a, p, count, wanted = given
        copied = f"{left.at('k')} = {sums.at('k')} = {p.at('k')};"
        probable = f"tn_mt_summed({sums.name}, {count}, {tolerance})"
        places = f"words, {left.name}, {sums.name}, {count}, {found.name}, {wanted}"
        body = [f"{place(y, ndim)} = {_chosen(a, vector, found.at('at++'))};"]
        return [
            *loops(["k"], [count], [copied]),
            f"if (!{probable} || !tn_mt_different({places})) {wrong} = 1;",
            "else {",
            "int64_t at = 0;",
            *over(y, body, ndim),
            "}",
        ]

    error = ValueError, "probabilities are not right, or too few of them are not 0"
    reads, scratch = [step.view(a), step.view(p)], [left, sums, found]
    return drawing.append(lines, reads, [count, wanted], scratch=scratch, error=error)


def _count_of_probabilities(drawing: Drawing, a: Value, p: Value) -> Size:
    """How many there are, one for each element that may be chosen."""
    step, (count,) = drawing.step, p.shape
    step.sizes.check(compared(count, ">", 0), "probabilities")
    number = a.shape[0] if a.ndim == 1 else step.size(a, "a")
    step.sizes.equal(number, count, "as many probabilities")
    return count


def _tolerance(p: Value) -> str:
    """How far from 1 NumPy allows a sum to be: further where the probabilities are float32."""
    return repr(float(max(np.finfo(dtype).eps for dtype in (p.dtype, "float64")) ** 0.5))


def multinomial(drawing: Drawing, inputs: list[Value]) -> Buffer:
    """How often each outcome occurs, one after the other, of the trials that are left."""
    step, (trials, p) = drawing.step, inputs
    view, ndim, count = step.view(p), len(drawing.shape), p.shape[-1]
    step.sizes.check(compared(count, ">", 0), "an outcome")
    number, of_number = parameter(drawing, trials)
    of_row = indices_in(drawing, p.shape[:-1])
    row = step.rows_without_gaps(p.dtype, (count,))
    function, skips = f"tn_mt_below_one_{SUFFIX[p.dtype]}", int(_skips_certain_numbers())

    def lines(y: Array, row: Array, wrong: str, trials: Array, p: Array, count: str) -> list[str]:
        copied = f"{row.at('k')} = {p.at(*of_row, 'k')};"
        outcome = f"{row.at('k')} / rest, k, {count}, {skips}"
        body = [
            *loops(["k"], [count], [copied]),
            f"int64_t left = {trials.at(*of_number)};",
            "double rest = 1;",
            f"if (left < 0 || !{function}({row.name}, {count})) {wrong} = 1;",
            "else",
            f"for (int64_t k = 0; k < {count}; k++) {{",
            f"const int64_t drawn = tn_mt_next_outcome(words, left, {outcome});",
            f"{place(y, ndim, 'k')} = drawn;",
            "left -= drawn;",
            f"rest -= {row.at('k')};",
            "}",
        ]
        return over(y, body, ndim)

    error = ValueError, "multinomial: probabilities are negative or sum to more than 1, or n < 0"
    reads = [number, view]
    return drawing.append(lines, reads, [count], added=[count], scratch=[row], error=error)


@functools.cache
def _skips_certain_numbers() -> bool:
    """Whether NumPy draws nothing for an outcome of probability 0: so did 1.17 to 2.4, no other."""
    drawn, untouched = np.random.RandomState(0), np.random.RandomState(0)
    drawn.multinomial(1, [0.0, 1.0])
    return bool(drawn.random_sample() == untouched.random_sample())
