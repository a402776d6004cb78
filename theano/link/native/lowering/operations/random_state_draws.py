"""Draws of NumPy's `RandomState`, whose words are an array; see ``emit/random_state.inc``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant

from theano.link.native.ir.ir import Buffer, CannotLower, Scalar, Size, Spread, Value, View
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.scalar_types import C_TYPES, FLOATS, SUFFIX
from theano.link.native.ir.symbolic import compared
from theano.link.native.lowering.operations.kernels import indices, loops
from theano.link.native.lowering.operations.shapes import numbers_of
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.costs import ARITHMETIC
from theano.link.native.statements.kernel import Array, Kernel
from theano.tensor.random_function import RandomFunction
from theano.tensor.random_samplers import (
    choice_helper,
    multinomial_helper,
    permutation_helper,
    random_integers_helper,
)
from theano.tensor.random_state_words import WORDS, DrawFromWords

# a draw on one thread, roughly: a logarithm and an exponential, or some words
_NANOSECONDS = 60 * ARITHMETIC

_INTEGERS = tuple(dtype for dtype in C_TYPES if dtype not in FLOATS)
_NUMBERS = tuple(C_TYPES)


@dataclass(frozen=True)
class Distribution:
    """How one number is drawn, given its parameters.

    Attributes
    ----------
    dtypes
        Of which types each parameter may be.
    draw
        The C expression, of the state ``words``, the parameters and their C types.
    valid
        When the parameters are right, in C.
    error
        The exception where they are not.
    """

    dtypes: tuple[tuple[str, ...], ...]
    draw: str
    valid: str
    error: tuple[type[Exception], str]


# Integers from low to high: NumPy is given the number above the last, in the type of `high`.
_END = "(int64_t)({t1})((uint64_t){p1} + 1)"

_DISTRIBUTIONS: dict[Any, Distribution] = {
    "uniform": Distribution(
        (_NUMBERS, _NUMBERS),
        "tn_mt_uniform(words, {p0}, {p1})",
        "__builtin_isfinite((double){p1} - (double){p0})",
        (OverflowError, "Range exceeds valid bounds"),
    ),
    "normal": Distribution(
        (_NUMBERS, _NUMBERS),
        "tn_mt_normal(words, {p0}, {p1})",
        "(__builtin_isnan((double){p1}) || !__builtin_signbit((double){p1}))",
        (ValueError, "scale < 0"),
    ),
    "binomial": Distribution(
        (_INTEGERS, _NUMBERS),
        "tn_mt_binomial(words, {p0}, {p1})",
        "((int64_t){p0} >= 0 && {p1} >= 0 && {p1} <= 1)",
        (ValueError, "n < 0, or p < 0, p > 1 or p is NaN"),
    ),
    "poisson": Distribution(
        (_NUMBERS,),
        "tn_mt_poisson(words, {p0})",
        "({p0} >= 0 && {p0} <= 9223372006484770816.0)",
        (ValueError, "lam < 0 or lam is NaN, or lam value too large"),
    ),
    random_integers_helper: Distribution(
        (tuple(d for d in _INTEGERS if d != "uint64"),) * 2,
        f"(int64_t){{p0}} + (int64_t)tn_mt_up_to(words, (uint64_t)({_END} - 1 - (int64_t){{p0}}))",
        f"((int64_t){{p0}} < {_END})",
        (ValueError, "low >= high"),
    ),
}


# of these an integer type holds the draws, too
_OF_INTEGERS = (
    "binomial",
    "poisson",
    choice_helper,
    multinomial_helper,
    permutation_helper,
    random_integers_helper,
)


def why_no_code(draw: RandomFunction, parameters: Sequence[Any]) -> str:
    """Why draws have no code, as far as types of the parameters say; empty where they have."""
    if draw.outtype.dtype not in (C_TYPES if draw.fn in _OF_INTEGERS else FLOATS):
        return f"random draws of type {draw.outtype.dtype}"
    if draw.fn in _DISTRIBUTIONS:
        allowed = _DISTRIBUTIONS[draw.fn].dtypes
        if len(parameters) == len(allowed) and all(
            parameter.dtype in dtypes for parameter, dtypes in zip(parameters, allowed, strict=True)
        ):
            return ""
        return f"{draw} with these parameters"
    if draw.fn is permutation_helper:
        return "" if parameters[0].ndim == 0 else f"{draw} of an array"
    if draw.fn is multinomial_helper:
        n, p = parameters
        right = n.dtype in _INTEGERS and p.dtype in FLOATS
        return "" if right else f"{draw} with these parameters"
    if draw.fn is choice_helper:
        return _why_no_choice(*parameters)
    return f"the draws {draw}"


def _why_no_choice(a: Any, replace: Any, p: Any) -> str:
    if not isinstance(replace, Constant):
        return "choices that may be with replacement or without"
    if a.ndim > 1 or a.dtype not in _INTEGERS:
        return f"choices of {a.type}"
    if p.ndim != 1 or p.dtype not in FLOATS:
        return f"choices with probabilities of type {p.type}"
    return ""


@lowers(DrawFromWords)
def draw_from_words(step: Step, node: Apply, inputs: list[Value]) -> list[Value]:
    """The next state's words, and the draws."""
    draw = node.op.draw
    reason = why_no_code(draw, node.inputs[2:])
    if reason:
        raise CannotLower(reason)
    ndim = draw.outtype.ndim - draw.ndim_added
    given = numbers_of(step, inputs[1], ndim, "the size of random draws") if ndim else ()
    shape = tuple(step.size(length, "a size of random draws") for length in given)
    for size in shape:
        step.sizes.check(compared(size, ">=", 0), "a size of random draws that is not negative")
    step.libraries.add("random_state")
    step.sizes.equal(inputs[0].shape[0], WORDS, "the number of words of a generator")
    words = step.copied(inputs[0])
    words.packed = True
    drawing = Drawing(step, node, words, shape, step.temporary("int64", (1,)))
    drawn = _MAKERS.get(draw.fn, _one_by_one)(drawing, inputs[2:])
    result = View.of(drawn) if draw.outtype.ndim else step.load(View(drawn, (), (), (), (0,)))
    return [View.of(words), result]


@dataclass(frozen=True, eq=False)
class Drawing:
    """What all draws are made with.

    Attributes
    ----------
    words
        The state that advances.
    shape
        Of the draws, without the dimensions that each of them has.
    wrong
        Becomes 1 where a parameter is not right, which ends the step.
    """

    step: Step
    node: Apply
    words: Buffer
    shape: tuple[Size, ...]
    wrong: Buffer

    @property
    def dtype(self) -> str:
        """The type of the draws."""
        return self.node.outputs[1].type.dtype

    def append(
        self,
        lines: Callable[..., list[str]],
        reads: Sequence[View],
        numbers: Sequence[Size] = (),
        added: Sequence[Size] = (),
        scratch: Sequence[Buffer] = (),
        error: tuple[type[Exception], str] | None = None,
    ) -> Buffer:
        """Append lines of C, given what is written: the draws and the scratch; and what is read."""
        step, kept = self.step, list(scratch)
        out = step.temporary(self.dtype, (*self.shape, *added) or (1,))
        writes = [View.of(buffer) for buffer in (out, *kept, self.words, self.wrong)]

        def all_lines(*given: Any) -> list[str]:
            own, rest = given[: 1 + len(kept)], given[1 + len(kept) :]
            words, wrong, _, *others = rest
            named = f"unsigned int *const words = {words.name};"
            return [f"{wrong.at('0')} = 0;", named, *lines(*own, wrong.at("0"), *others)]

        kernel = Kernel(
            writes,
            [View.of(self.words), *reads],
            all_lines,
            numbers,
            takes=[Work(_NANOSECONDS, out.shape)],
        )
        step.append(kernel, out, *kept, self.words, self.wrong)
        if error is not None:
            wrong = step.load(View(self.wrong, (), (), (), (0,)))
            step.check(_IS_RIGHT, [wrong], *error)
        return out


_IS_RIGHT = Expression("parameters are right", "{0} == 0", None, None, "bool")


def _over(y: Array, body: Sequence[str], ndim: int) -> list[str]:
    return loops(indices("i", ndim), y.shape[:ndim], body)


def _place(y: Array, ndim: int, *more: str) -> str:
    return y.at(*indices("i", ndim), *more) if ndim or more else y.at("0")


def _one_by_one(drawing: Drawing, inputs: list[Value]) -> Buffer:
    """Draws with parameters of their own."""
    distribution = _DISTRIBUTIONS[drawing.node.op.draw.fn]
    parameters = [_parameter(drawing, value) for value in inputs]
    ndim = len(drawing.shape)

    def lines(y: Array, wrong: str, *given: Array) -> list[str]:
        names: dict[str, str] = {}
        for k, ((view, where), x) in enumerate(zip(parameters, given, strict=True)):
            names |= {f"p{k}": x.at(*where), f"t{k}": C_TYPES[view.dtype]}
        valid, draw = distribution.valid.format(**names), distribution.draw.format(**names)
        return _over(y, [f"if ({valid}) {_place(y, ndim)} = {draw};", f"else {wrong} = 1;"], ndim)

    return drawing.append(lines, [view for view, _ in parameters], error=distribution.error)


def _parameter(drawing: Drawing, value: Value) -> tuple[View, list[str]]:
    """A parameter in memory, and the indices of the one that belongs to a draw."""
    where = _indices(drawing, value.shape)
    if isinstance(value, Spread | Scalar):
        scalar = value.scalar if isinstance(value, Spread) else value
        return drawing.step.view(scalar), ["0"]
    return drawing.step.view(value), where


def _indices(drawing: Drawing, shape: Sequence[Size]) -> list[str]:
    """Where in an array, which broadcasts to the draws, that of a draw is."""
    sizes, names = drawing.step.sizes, indices("i", len(drawing.shape))
    where = []
    for d in range(-len(shape), 0):
        one = sizes.find(shape[d]) == 1
        if not one:
            sizes.equal(shape[d], drawing.shape[d], "a length of a parameter of random draws")
        where.append("0" if one else names[d])
    return where


def _permutations(drawing: Drawing, inputs: list[Value]) -> Buffer:
    """Integers below a number, shuffled for each draw."""
    count = drawing.step.size(inputs[0], "the length of permutations")
    drawing.step.sizes.check(compared(count, ">=", 0), "a length that is not negative")
    ndim, order = len(drawing.shape), _packed(drawing.step, "int64", count)

    def lines(y: Array, order: Array, wrong: str, count: str) -> list[str]:
        kept = f"{_place(y, ndim, 'k')} = {order.at('k')};"
        body = [
            f"tn_mt_permutation(words, {count}, {order.name});",
            *loops(["k"], [count], [kept]),
        ]
        return _over(y, body, ndim)

    return drawing.append(lines, [], [count], added=[count], scratch=[order])


def _choices(drawing: Drawing, inputs: list[Value]) -> Buffer:
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
            f"if ({count} > 0) {_place(y, ndim)} = {_chosen(a, vector, index)};",
            f"else {wrong} = 1;",
        ]
        return _over(y, body, ndim)

    error = ValueError, "a must be greater than 0 unless no samples are taken"
    return drawing.append(lines, [drawing.step.view(a)], numbers, error=error)


def _choices_without_replacement(drawing: Drawing, a: Value) -> Buffer:
    """The first of a permutation."""
    step, vector = drawing.step, a.ndim == 1
    count = a.shape[0] if vector else step.size(a, "a number of choices")
    wanted = step.sizes.product(drawing.shape)
    step.sizes.check(compared(wanted, "<=", count), "as many elements as are chosen")
    ndim, order = len(drawing.shape), _packed(step, "int64", count)

    def lines(y: Array, order: Array, wrong: str, a: Array, count: str) -> list[str]:
        body = [f"{_place(y, ndim)} = {_chosen(a, vector, order.at('at++'))};"]
        return [
            f"tn_mt_permutation(words, {count}, {order.name});",
            "int64_t at = 0;",
            *_over(y, body, ndim),
        ]

    return drawing.append(lines, [step.view(a)], [count], scratch=[order])


def _choices_by_probability(drawing: Drawing, a: Value, p: Value) -> Buffer:
    """The first at which the sum of the probabilities, scaled to 1, exceeds a uniform draw."""
    step, vector, count = drawing.step, a.ndim == 1, _count_of_probabilities(drawing, a, p)
    sums = _packed(step, "float64", count)
    ndim, tolerance = len(drawing.shape), _tolerance(p)

    def lines(y: Array, sums: Array, wrong: str, a: Array, p: Array, count: str) -> list[str]:
        index = f"tn_mt_above({sums.name}, {count}, tn_mt_double(words))"
        summed = [f"{sums.at('k')} = {p.at('k')};"]
        return [
            *loops(["k"], [count], summed),
            f"if (!tn_mt_summed({sums.name}, {count}, {tolerance})) {wrong} = 1;",
            "else {",
            *_over(y, [f"{_place(y, ndim)} = {_chosen(a, vector, index)};"], ndim),
            "}",
        ]

    error = ValueError, "probabilities are negative or NaN, or do not sum to 1"
    return drawing.append(lines, [step.view(a), step.view(p)], [count], scratch=[sums], error=error)


def _different_choices_by_probability(drawing: Drawing, a: Value, p: Value) -> Buffer:
    """The same, but that what was chosen has no probability any more."""
    step, vector, count = drawing.step, a.ndim == 1, _count_of_probabilities(drawing, a, p)
    wanted = step.sizes.product(drawing.shape)
    step.sizes.check(compared(wanted, "<=", count), "as many elements as are chosen")
    left, sums = _packed(step, "float64", count), _packed(step, "float64", count)
    found, ndim, tolerance = _packed(step, "int64", wanted), len(drawing.shape), _tolerance(p)

    def lines(y: Array, left: Array, sums: Array, found: Array, wrong: str, *given: Any):
        a, p, count, wanted = given
        copied = f"{left.at('k')} = {sums.at('k')} = {p.at('k')};"
        probable = f"tn_mt_summed({sums.name}, {count}, {tolerance})"
        places = f"words, {left.name}, {sums.name}, {count}, {found.name}, {wanted}"
        body = [f"{_place(y, ndim)} = {_chosen(a, vector, found.at('at++'))};"]
        return [
            *loops(["k"], [count], [copied]),
            f"if (!{probable} || !tn_mt_different({places})) {wrong} = 1;",
            "else {",
            "int64_t at = 0;",
            *_over(y, body, ndim),
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


def _packed(step: Step, dtype: str, length: Size) -> Buffer:
    buffer = step.temporary(dtype, (length,))
    buffer.packed = True
    return buffer


def _tolerance(p: Value) -> str:
    """How far from 1 NumPy allows a sum to be: further where the probabilities are float32."""
    return repr(float(max(np.finfo(dtype).eps for dtype in (p.dtype, "float64")) ** 0.5))


def _multinomial(drawing: Drawing, inputs: list[Value]) -> Buffer:
    """How often each outcome occurs, one after the other, of the trials that are left."""
    step, (trials, p) = drawing.step, inputs
    view, ndim, count = step.view(p), len(drawing.shape), p.shape[-1]
    step.sizes.check(compared(count, ">", 0), "an outcome")
    number, of_number = _parameter(drawing, trials)
    of_row = _indices(drawing, p.shape[:-1])
    row = _packed(step, p.dtype, count)
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
            f"{_place(y, ndim, 'k')} = drawn;",
            "left -= drawn;",
            f"rest -= {row.at('k')};",
            "}",
        ]
        return _over(y, body, ndim)

    error = ValueError, "multinomial: probabilities are negative or sum to more than 1, or n < 0"
    reads = [number, view]
    return drawing.append(lines, reads, [count], added=[count], scratch=[row], error=error)


@functools.cache
def _skips_certain_numbers() -> bool:
    """Whether NumPy draws nothing for an outcome of probability 0: so did 1.17 to 2.4, no other."""
    drawn, untouched = np.random.RandomState(0), np.random.RandomState(0)
    drawn.multinomial(1, [0.0, 1.0])
    return bool(drawn.random_sample() == untouched.random_sample())


_MAKERS: dict[Any, Callable[[Drawing, list[Value]], Buffer]] = {
    choice_helper: _choices,
    multinomial_helper: _multinomial,
    permutation_helper: _permutations,
}
