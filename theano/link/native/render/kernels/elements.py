"""Orders, cumulative sums, diagonals and ranges of elements; convolutions; loops on numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.ir.symbolic import Size
from theano.link.native.render.arrays import Array, indices, loops, passes
from theano.link.native.render.looks import declared, look_after, unless_empty
from theano.link.native.render.numbers_in_c import C_TYPES, in_c
from theano.link.native.render.registry import writes_task
from theano.link.native.render.scalar_functions import scalar_text
from theano.link.native.statements.tasks import (
    Accumulate,
    Convolve,
    FindLargest,
    LoopOnNumbers,
    RepeatRows,
    SortAlong,
    TakeDiagonal,
    WriteEye,
    WriteRange,
)


@writes_task(SortAlong)
def sort_along(
    task: SortAlong, looks: int, y: Array, order: Array, merged: Array, x: Array
) -> list[str]:
    names, axis = indices("i", len(x.shape)), task.axis
    at = names[axis]

    def element(position: str) -> str:
        return x.at(*(position if name == at else name for name in names))

    place, found = y.at(*names), f"from[{at}]"
    body = [
        *_merge_sort(x.kind, str(x.shape[axis]), order.name, merged.name, element),
        f"for (int64_t {at} = 0; {at} < {x.shape[axis]}; {at}++)",
        f"    {place} = {found if task.positions else element(found)};",
        *look_after(str(x.shape[axis]), looks),
    ]
    others = [d for d in range(len(names)) if d != axis]
    around = [names[d] for d in others], [y.shape[d] for d in others]
    return [*declared(looks), *unless_empty(y.shape, loops(*around, body, looks))]


def _merge_sort(
    kind: str, length: str, order: str, merged: str, element: Callable[[str], str]
) -> list[str]:
    """Lines that leave in ``from`` the positions in order (Knuth 1998, section 5.2.4)."""
    # NaN differs from itself, and comes after all numbers
    return [
        f"int64_t *from = {order}, *to = {merged};",
        f"for (int64_t k = 0; k < {length}; k++) from[k] = k;",
        f"for (int64_t width = 1; width < {length}; width *= 2) {{",
        f"for (int64_t first = 0; first < {length}; first += 2 * width) {{",
        f"const int64_t middle = tn_smaller(first + width, {length});",
        f"const int64_t end = tn_smaller(first + 2 * width, {length});",
        "int64_t left = first, right = middle;",
        "for (int64_t k = first; k < end; k++) {",
        "int second = left == middle;",
        "if (!second && right < end) {",
        f"const {kind} a = {element('from[left]')}, b = {element('from[right]')};",
        "second = b < a || (a != a && b == b);",
        "}",
        "to[k] = second ? from[right++] : from[left++];",
        "}",
        "}",
        "int64_t *const swapped = from;",
        "from = to;",
        "to = swapped;",
        "}",
    ]


@writes_task(FindLargest)
def find_largest(task: FindLargest, looks: int, y: Array, x: Array) -> list[str]:
    names, axes = indices("i", len(x.shape)), task.axes
    kept = [d for d in range(len(names)) if d not in axes]
    first = x.at(*("0" if d in axes else names[d] for d in range(len(names))))
    one = [
        f"const {x.kind} next = {x.at(*names)};",
        "if (best == best && !(next <= best)) { best = next; at = k; }",
        "k++;",
    ]
    along = passes([names[d] for d in axes], [x.shape[d] for d in axes], one, looks)
    body = [f"{x.kind} best = {first};", "int64_t at = 0, k = 0;", *along]
    body.append(f"{y.at(*(names[d] for d in kept))} = at;")
    around = [names[d] for d in kept], [x.shape[d] for d in kept]
    return [*declared(looks), *loops(*around, body, looks)]


# operation -> the operator, and what it begins with
_ACCUMULATED = {"add": ("+", 0), "multiply": ("*", 1)}


@writes_task(Accumulate)
def accumulate(task: Accumulate, looks: int, y: Array, x: Array) -> list[str]:
    operator, first = _ACCUMULATED[task.operation]
    names, axis = indices("i", len(x.shape)), task.axis
    others = [d for d in range(len(names)) if d != axis]
    one = f"{y.at(*names)} = total = total {operator} {x.at(*names)};"
    along = passes([names[axis]], [y.shape[axis]], [one], looks)
    body = [f"{x.kind} total = {first};", *along]
    around = [names[d] for d in others], [y.shape[d] for d in others]
    return [*declared(looks), *unless_empty(y.shape, loops(*around, body, looks))]


@writes_task(WriteEye)
def write_eye(task: WriteEye, looks: int, y: Array, right: str) -> list[str]:
    one = f"{y.at('i', 'j')} = j - i == (int64_t){right};"
    return [*declared(looks), *passes("ij", y.shape, [one], looks)]


@writes_task(WriteRange)
def write_range(task: WriteRange, looks: int, y: Array, first: str, by: str) -> list[str]:
    kind = y.kind
    # Through memory, so that the compiler does not make one rounding of the two that NumPy does.
    kept = ['__asm__("" : "+m"(way));'] if y.dtype in FLOATS else []
    # NumPy computes the first two, and counts on from them.
    second = f"({first} + {by})"
    numbers = f"const {kind} first = {first}, distance = ({kind}){second} - ({kind}){first};"
    body = [f"{kind} way = ({kind})i * distance;", *kept, f"{y.at('i')} = first + way;"]
    return [numbers, *declared(looks), *passes("i", y.shape, body, looks)]


@writes_task(TakeDiagonal)
def take_diagonal(task: TakeDiagonal, looks: int, y: Array, x: Array) -> list[str]:
    first, second = task.axes
    others = [d for d in range(len(x.shape)) if d not in task.axes]
    names = indices("i", len(others))
    at = dict(zip(others, names, strict=True))
    at |= {first: f"(k + {task.down})", second: f"(k + {task.right})"}
    one = f"{y.at(*names, 'k')} = {x.at(*(at[d] for d in range(len(x.shape))))};"
    return [*declared(looks), *passes([*names, "k"], y.shape, [one], looks)]


@writes_task(RepeatRows)
def repeat_rows(task: RepeatRows, looks: int, y: Array, x: Array, *times_of_rows: str) -> list[str]:
    names, axis = indices("i", len(x.shape)), task.axis
    outer, inner = range(axis), range(axis + 1, len(names))
    to = [*names[:axis], "k", *names[axis + 1 :]]
    one = f"{y.at(*to)} = {x.at(*names)};"
    within = [names[d] for d in inner], [x.shape[d] for d in inner], [one]
    body = ["int64_t k = 0;"]
    if task.all_alike:
        again = _again(times_of_rows[0], within, looks)
        body += loops([names[axis]], [x.shape[axis]], again, looks)
    else:
        for row, often in enumerate(times_of_rows):
            again = _again(often, within, looks)
            body += ["{", f"const int64_t {names[axis]} = {row};", *again, "}"]
    around = [names[d] for d in outer], [x.shape[d] for d in outer]
    return [*declared(looks), *unless_empty(y.shape, loops(*around, body, looks))]


def _again(times: str, within: tuple[list[str], list[Size], list[str]], looks: int) -> list[str]:
    """A row so many times; k counts the rows that are written."""
    names, sizes, body = within
    if not names:
        return passes(["n"], [times], [*body, "k++;"], looks)
    return loops(["n"], [times], [*passes(names, sizes, body, looks), "k++;"], looks)


@writes_task(Convolve)
def convolve(task: Convolve, looks: int, y: Array, x: Array, v: Array, first: str) -> list[str]:
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
        *look_after(f"{y.shape[-1]} * {v.shape[-1]}", looks),
    ]
    return [*declared(looks), *unless_empty(y.shape, loops(names, y.shape[:-1], body, looks))]


@writes_task(LoopOnNumbers)
def loop_on_numbers(task: LoopOnNumbers, looks: int, *arrays: Array) -> list[str]:
    shape = arrays[0].shape
    names, count = indices("i", len(shape)), len(task.results)
    at = [array.at(*names) for array in arrays]
    body = _loop_of_one_element(task, at[:count], at[count:])
    elements = passes(names, shape, body, looks) if names else loops([], [], body)
    return [*declared(looks), *unless_empty(shape, elements)]


def _loop_of_one_element(
    task: LoopOnNumbers, results: Sequence[str], operands: Sequence[str]
) -> list[str]:
    """The lines that compute results, given how they and the operands read."""
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
