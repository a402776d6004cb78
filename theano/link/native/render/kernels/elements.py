"""Diagonals and ranges of elements; convolutions; loops on numbers."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.render.arrays import Array, indices, loops, passes
from theano.link.native.render.numbers_in_c import C_TYPES, in_c
from theano.link.native.render.polls import declared, poll_after, unless_empty
from theano.link.native.render.registry import writes_task
from theano.link.native.render.scalar_functions import scalar_text
from theano.link.native.statements.tasks import (
    Convolve,
    LoopOnNumbers,
    TakeDiagonal,
    WriteEye,
    WriteRange,
)


@writes_task(WriteEye)
def write_eye(task: WriteEye, polls: int, y: Array, right: str) -> list[str]:
    one = f"{y.at('i', 'j')} = j - i == (int64_t){right};"
    return [*declared(polls), *passes("ij", y.shape, [one], polls)]


@writes_task(WriteRange)
def write_range(task: WriteRange, polls: int, y: Array, first: str, by: str) -> list[str]:
    kind = y.kind
    # Through memory, so that the compiler does not make one rounding of the two that NumPy does.
    kept = ['__asm__("" : "+m"(way));'] if y.dtype in FLOATS else []
    # NumPy computes the first two, and counts on from them.
    second = f"({first} + {by})"
    numbers = f"const {kind} first = {first}, distance = ({kind}){second} - ({kind}){first};"
    body = [f"{kind} way = ({kind})i * distance;", *kept, f"{y.at('i')} = first + way;"]
    return [numbers, *declared(polls), *passes("i", y.shape, body, polls)]


@writes_task(TakeDiagonal)
def take_diagonal(task: TakeDiagonal, polls: int, y: Array, x: Array) -> list[str]:
    first, second = task.axes
    others = [d for d in range(len(x.shape)) if d not in task.axes]
    names = indices("i", len(others))
    at = dict(zip(others, names, strict=True))
    at |= {first: f"(k + {task.down})", second: f"(k + {task.right})"}
    one = f"{y.at(*names, 'k')} = {x.at(*(at[d] for d in range(len(x.shape))))};"
    return [*declared(polls), *passes([*names, "k"], y.shape, [one], polls)]


@writes_task(Convolve)
def convolve(task: Convolve, polls: int, y: Array, x: Array, v: Array, first: str) -> list[str]:
    names = indices("b", len(y.shape) - 1)
    term = f"{y.at(*names, 'i')} += factor * {x.at(*names, f'i + {first} - j')};"
    body = [
        *loops(["i"], [y.shape[-1]], [f"{y.at(*names, 'i')} = 0;"]),
        f"for (int64_t j = 0; j < {v.shape[-1]}; j++) {{",
        f"const {y.kind} factor = {v.at(*names, 'j')};",
        f"const int64_t begin = j > {first} ? j - {first} : 0;",
        f"const int64_t end = tn_smaller({x.shape[-1]} + j - {first}, {y.shape[-1]});",
        f"for (int64_t i = begin; i < end; i++) {term}",
        "}",
        *poll_after(f"{y.shape[-1]} * {v.shape[-1]}", polls),
    ]
    return [*declared(polls), *unless_empty(y.shape, loops(names, y.shape[:-1], body, polls))]


@writes_task(LoopOnNumbers)
def loop_on_numbers(task: LoopOnNumbers, polls: int, *arrays: Array) -> list[str]:
    shape = arrays[0].shape
    names, count = indices("i", len(shape)), len(task.results)
    at = [array.at(*names) for array in arrays]
    body = _loop_of_one_element(task, at[:count], at[count:])
    elements = passes(names, shape, body, polls) if names else loops([], [], body)
    return [*declared(polls), *unless_empty(shape, elements)]


def _loop_of_one_element(
    task: LoopOnNumbers, results: Sequence[str], operands: Sequence[str]
) -> list[str]:
    """Return the lines that compute results, given how they and the operands read."""
    count, *given = operands
    begin = [
        f"{'' if k < task.states else 'const '}{C_TYPES[dtype]} {name} = {text};"
        for k, ((name, dtype), text) in enumerate(zip(task.inputs, given, strict=True))
    ]
    computations = [
        f"const {C_TYPES[one.dtype]} {one.name} ="
        f" {scalar_text(one.expression, [*map(in_c, one.operands)], one.dtypes)};"
        for one in task.computations
    ]
    found = [name for name, _ in task.inputs[: task.states]]
    each = [f"{name} = {in_c(new)};" for name, new in zip(found, task.results, strict=False)]
    if len(task.results) > task.states:
        begin.append("unsigned char ended = 1;")
        each += [f"ended = {in_c(task.results[-1])};", "if (ended) break;"]
        found.append("ended")
    return [
        *begin,
        f"const int64_t count = {count};",
        "for (int64_t turn = 0; turn < count; turn++) {",
        *computations,
        *each,
        "}",
        *(f"{result} = {name};" for result, name in zip(results, found, strict=True)),
    ]
