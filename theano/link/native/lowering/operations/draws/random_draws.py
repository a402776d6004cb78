"""Draws of the generator MRG31k3p: uniform ones, and nearer ones in the place of normal draws."""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, CannotLower, Scalar, Value, View
from theano.link.native.ir.scalar_types import C_TYPES, FLOATS, literal
from theano.link.native.ir.symbolic import Operation, compared
from theano.link.native.lowering.operations.shapes import numbers_of
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.render.arrays import Array
from theano.link.native.statements.base import Work
from theano.link.native.statements.costs import ARITHMETIC
from theano.link.native.statements.kernel import Kernel
from theano.sandbox.mrg31k3p import (
    BELOW2,
    BITS,
    FACTOR1,
    FACTOR2,
    M1,
    M2,
    SCALE_OF_FLOAT32,
    SHIFT1,
    SHIFT2,
)
from theano.sandbox.mrg_truncated import FARTHEST, LOWEST_UNIFORM, mrg_truncated
from theano.sandbox.mrg_uniform import mrg_uniform

# How many streams take a step together: their states stay in registers.
_TOGETHER = 8

# a draw on one thread, roughly: some thirty operations on vectors of whole numbers
_NANOSECONDS = 30 * ARITHMETIC

# What a draw in 1 .. M1 is multiplied with
_SCALES = {"float32": f"{SCALE_OF_FLOAT32}f", "float64": f"0x1p-{BITS}"}

# One step of stream k. The moduli are so near to 2**BITS that what lies above it is added again.
_STEP = f"""
const uint64_t sum1 = ((uint64_t)a1[k] << {SHIFT1}) + (uint64_t)a2[k] * {FACTOR1};
const uint64_t once1 = (sum1 & {M1}u) + (sum1 >> {BITS});
const uint64_t sum2 = ((uint64_t)b0[k] << {SHIFT2}) + (uint64_t)b2[k] * {FACTOR2};
const uint64_t once2 = (sum2 & {M1}u) + (sum2 >> {BITS}) * {BELOW2};
const uint64_t twice2 = (once2 & {M1}u) + (once2 >> {BITS}) * {BELOW2};
a2[k] = a1[k]; a1[k] = a0[k]; b2[k] = b1[k]; b1[k] = b0[k];
a0[k] = once1 >= {M1}u ? once1 - {M1}u : once1;
b0[k] = twice2 >= {M2}u ? twice2 - {M2}u : twice2;
const int64_t apart = (int64_t)a0[k] - (int64_t)b0[k];
const int64_t draw = apart <= 0 ? apart + {M1} : apart;
""".strip().splitlines()

_STATE = ("a0", "a1", "a2", "b0", "b1", "b2")


@lowers(mrg_uniform)
def draw_uniforms(step: Step, node, inputs: list[Value]) -> list[Value]:
    """The next states, and numbers between 0 and 1: the i-th from row ``i % streams``."""
    kind = node.op.output_type
    if kind.dtype not in FLOATS:
        raise CannotLower(f"random draws of type {kind.dtype}")
    states = _states(step, inputs[0])
    lengths = numbers_of(step, inputs[1], kind.ndim, "the size of random draws")
    shape = [_length(step, length) for length in lengths]
    count = step.sizes.product(shape)
    step.sizes.check(compared(count, "<=", M1), "at most 2**31 - 1 random draws")
    drawn = step.temporary(kind.dtype, (count,))

    def lines(y: Array, new: Array, old: Array) -> list[str]:
        return _draw(y, new, kind.dtype)

    read = View.of(states)
    takes = [Work(_NANOSECONDS, drawn.shape)]
    writes = [View.of(drawn), View.of(states)]
    step.append(Kernel(writes, [read], lines, takes=takes), drawn, states)
    return [View.of(states), step.reshaped(View.of(drawn), tuple(shape))]


@lowers(mrg_truncated)
def draw_again(step: Step, node, inputs: list[Value]) -> list[Value]:
    """The next states, and the draws with nearer ones in the place of those beyond the farthest."""
    dtype = node.op.output_type.dtype
    if dtype not in FLOATS:
        raise CannotLower(f"random draws of type {dtype}")
    states, samples, directions = _states(step, inputs[0]), *map(step.view, inputs[1:])
    (count,) = samples.shape
    step.sizes.equal(count, directions.shape[0], "the number of directions")
    half = count // 2 if isinstance(count, int) else step.sizes.name(Operation("/", count, 2))
    step.sizes.check(compared(step.sizes.binary(half, "*", 2), "==", count), "an even number")
    drawn = step.temporary(dtype, (count,))

    def lines(y: Array, new: Array, old: Array, x: Array, aim: Array, half: str) -> list[str]:
        return _draw_again(y, new, x, aim, half, dtype)

    takes = [Work(_NANOSECONDS, drawn.shape)]
    writes, reads = [View.of(drawn), View.of(states)], [View.of(states), samples, directions]
    step.append(Kernel(writes, reads, lines, [half], takes=takes), drawn, states)
    return [View.of(states), View.of(drawn)]


def _states(step: Step, value: Value) -> Buffer:
    """A copy of the states, to be moved forward."""
    states = step.copied(value)
    streams, columns = states.shape
    step.sizes.check(compared(columns, "==", 6), "states of six numbers")
    step.sizes.check(compared(streams, ">", 0), "at least one stream")
    return states


def _length(step: Step, length: Scalar):
    size = step.size(length, "a size of random draws")
    step.sizes.check(compared(size, ">=", 0), "a size of random draws that is not negative")
    return size


def _draw(y: Array, states: Array, dtype: str) -> list[str]:
    count, streams = y.shape[0], states.shape[0]
    names = ", ".join(f"{name}[{_TOGETHER}]" for name in _STATE)
    each = "for (int64_t k = 0; k < together; k++) {"
    kept = [states.at("first + k", str(column)) for column in range(len(_STATE))]
    load = [f"{name}[k] = {place};" for name, place in zip(_STATE, kept, strict=True)]
    store = [f"{place} = (int){name}[k];" for name, place in zip(_STATE, kept, strict=True)]
    return [
        f"const int64_t count = {count}, streams = {streams};",
        "const int64_t used = count < streams ? count : streams;",
        f"for (int64_t first = 0; first < used; first += {_TOGETHER}) {{",
        f"unsigned int {names};",
        f"const int64_t left = used - first, together = left < {_TOGETHER} ? left : {_TOGETHER};",
        *[each, *load, "}"],
        "for (int64_t at = first; at < count; at += streams) {",
        "const int64_t some = count - at < together ? count - at : together;",
        "for (int64_t k = 0; k < some; k++) {",
        *_STEP,
        f"{y.at('at + k')} = draw * {_SCALES[dtype]};",
        "} }",
        *[each, *store, "}"],
        "}",
    ]


def _draw_again(y: Array, states: Array, x: Array, aim: Array, half: str, dtype: str) -> list[str]:
    """Of each half, those that are near enough, and then the others; these are drawn in order."""
    kind, f = C_TYPES[dtype], "f" if dtype == "float32" else ""
    farthest = literal(FARTHEST, dtype)
    lowest = literal(LOWEST_UNIFORM, dtype)
    kept = [states.at("stream", str(column)) for column in range(len(_STATE))]
    names = ", ".join(f"{name}[1]" for name in _STATE)
    load = [f"{name}[k] = {place};" for name, place in zip(_STATE, kept, strict=True)]
    store = [f"{place} = (int){name}[k];" for name, place in zip(_STATE, kept, strict=True)]
    return [
        "int64_t to = 0, again = 0;",
        "for (int64_t first = 0; first < 2; first++)",
        "for (int far = 0; far < 2; far++)",
        f"for (int64_t i = first * {half}; i < (first + 1) * {half}; i++) {{",
        f"const {kind} sample = {x.at('i')};",
        f"if ((sample < -{farthest} || sample > {farthest}) != far) continue;",
        f"if (!far) {{ {y.at('to++')} = sample; continue; }}",
        "enum { k = 0 };",
        f"const int64_t stream = again++ % {states.shape[0]};",
        f"unsigned int {names};",
        *load,
        *_STEP,
        *store,
        f"const {kind} uniform = ({kind})(draw * {_SCALES[dtype]}) * (1 - {lowest}) + {lowest};",
        f"const {kind} radius = __builtin_sqrt{f}(-2 * __builtin_log{f}(uniform));",
        f"{y.at('to++')} = radius * {aim.at('i')};",
        "}",
    ]
