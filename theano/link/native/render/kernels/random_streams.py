"""Samples of the generator MRG31k3p, and which categories uniform samples stand for."""

from __future__ import annotations

from typing import Any

from theano.link.native.render.arrays import Array, loops
from theano.link.native.render.numbers_in_c import literal
from theano.link.native.render.registry import writes_task
from theano.link.native.statements.tasks import (
    MultinomialChoices,
    MultinomialCounts,
    SampleTruncated,
    SampleUniforms,
)
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
from theano.sandbox.mrg_truncated import FARTHEST, LOWEST_UNIFORM

# How many streams take a step together: their states stay in registers.
_TOGETHER = 8


# What a sample in 1 .. M1 is multiplied with
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
const int64_t number = apart <= 0 ? apart + {M1} : apart;
""".strip().splitlines()


_STATE = ("a0", "a1", "a2", "b0", "b1", "b2")


@writes_task(SampleUniforms)
def sample_uniforms(
    task: SampleUniforms, polls: int, y: Array, states: Array, old: Array
) -> list[str]:
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
        f"{y.at('at + k')} = number * {_SCALES[y.dtype]};",
        "} }",
        *[each, *store, "}"],
        "}",
    ]


@writes_task(SampleTruncated)
def sample_truncated(
    task: SampleTruncated, polls: int, y: Array, states: Array, *given: Any
) -> list[str]:
    """Of each half, those that are near enough, and then the others; these are sampled in order."""
    _, x, aim, half = given
    dtype, kind = y.dtype, y.kind
    f = "f" if dtype == "float32" else ""
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
        f"const {kind} uniform = ({kind})(number * {_SCALES[dtype]}) * (1 - {lowest}) + {lowest};",
        f"const {kind} radius = __builtin_sqrt{f}(-2 * __builtin_log{f}(uniform));",
        f"{y.at('to++')} = radius * {aim.at('i')};",
        "}",
    ]


@writes_task(MultinomialCounts)
def multinomial_counts(
    task: MultinomialCounts, polls: int, y: Array, p: Array, u: Array, trials: str
) -> list[str]:
    counted = f"if (category < {p.shape[1]}) {y.at('row', 'category')} += 1;"
    return [
        *loops(["row", "k"], y.shape, [f"{y.at('row', 'k')} = 0;"]),
        *loops(["sample", "row"], [trials, p.shape[0]], [*_first_above(p, u), counted]),
    ]


@writes_task(MultinomialChoices)
def multinomial_choices(
    task: MultinomialChoices, polls: int, y: Array, p: Array, old: Array, u: Array, trials: str
) -> list[str]:
    chosen = f"{y.at('row', 'sample')} = category < {p.shape[1]} ? category : -1;"
    taken = [] if task.replace else _without_category(p)
    return loops(["sample", "row"], [trials, p.shape[0]], [*_first_above(p, u), chosen, *taken])


def _first_above(p: Array, u: Array) -> list[str]:
    """Of a row, the first category at which the sum exceeds its sample; their number if none does."""
    rows, categories = p.shape
    return [
        f"const double uniform = {u.at(f'sample * {rows} + row')};",
        "double sum = 0;",
        "int64_t category = 0;",
        f"for (; category < {categories}; category++) {{",
        f"sum += {p.at('row', 'category')};",
        "if (sum > uniform) break;",
        "}",
    ]


def _without_category(p: Array) -> list[str]:
    """Nothing is left of the category. The new sum begins with what was before it, as Theano's."""
    categories, kind = p.shape[1], p.kind
    chosen = p.at("row", "category")
    return [
        f"if (category < {categories}) {{",
        f"{kind} total = ({kind})(sum - {chosen});",
        f"for (int64_t k = category + 1; k < {categories}; k++) total += {p.at('row', 'k')};",
        f"{chosen} = 0;",
        f"for (int64_t k = 0; k < {categories}; k++) {p.at('row', 'k')} /= total;",
        "}",
    ]
