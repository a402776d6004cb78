"""Elements gathered by arrays of indices and by masks, and updates of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from theano.link.native.ir.symbolic import Size
from theano.link.native.render.arrays import Array, indices, loops
from theano.link.native.render.polls import unless_empty
from theano.link.native.render.registry import writes_task
from theano.link.native.statements.tasks import (
    FindPositions,
    IndexedElements,
    IndexedGather,
    IndexedScatter,
    UpdateWhere,
)

# how an element is updated
_ASSIGNED = {"set": "=", "add": "+=", "or": "|="}


@writes_task(IndexedGather)
def gather(task: IndexedGather, polls: int, y: Array, *given: Array | str) -> list[str]:
    names = indices("b", task.stacked)
    if not names:
        x, *rest = given
        assert isinstance(x, Array)
        return _for_each(task.gathered, x, rest, y, lambda row, one: f"{one} = {row};")
    x, *rest = (_of_stack(a, names) if isinstance(a, Array) else a for a in given)
    assert isinstance(x, Array)
    place = _of_stack(y, names)
    body = _for_each(task.gathered, x, rest, place, lambda row, one: f"{one} = {row};")
    return unless_empty(y.shape, loops(names, y.shape[: len(names)], body))


def _of_stack(array: Array, names: Sequence[str]) -> Array:
    """One of a stack, whose place the names say."""
    name = f"({array.name} + {array.offset(*names)})"
    return Array(name, array.dtype, array.shape[len(names) :], array.strides[len(names) :])


@writes_task(IndexedScatter)
def scatter(task: IndexedScatter, polls: int, x: Array, _: Array, *given: Array | str) -> list[str]:
    # the source comes last among the arrays, or first among the numbers
    arrays = task.gathered.arrays
    change, *rest = given[arrays:]
    other, operator = change if isinstance(change, Array) else None, _ASSIGNED[task.operation]
    return _for_each(
        task.gathered,
        x,
        [*given[:arrays], *rest],
        other,
        lambda row, one: f"{row} {operator} {one or change};",
    )


@writes_task(IndexedScatter, checks=True)
def check_scatter(
    task: IndexedScatter, polls: int, x: Array, _: Array, *given: Array | str
) -> list[str]:
    arrays = task.gathered.arrays
    named = [*given[:arrays], *given[arrays + 1 :]]
    return _for_each_index(named, _rows(task.gathered, x, named))


def _for_each(
    gathered: IndexedElements,
    x: Array,
    given: Sequence[Array | str],
    other: Array | None,
    one: Callable[[str, str], str],
) -> list[str]:
    """Loops over what is selected: first over the arrays of indices, then over whole dimensions."""
    outer = indices("i", gathered.common)
    inner = indices("j", len(gathered.others))
    at: dict[int, str] = dict(zip(gathered.others, inner, strict=True))
    at |= {axis: f"r{k}" for k, axis in enumerate(gathered.axes)}
    element = x.at(*(at[d] for d in range(gathered.ndim)))
    place = [*inner[: gathered.first], *outer, *inner[gathered.first :]]
    line = one(element, other.at(*place) if other is not None else "")
    body = loops(inner, [x.shape[d] for d in gathered.others], [line])
    return _for_each_index(given, [*_rows(gathered, x, given), *body])


def _for_each_index(given: Sequence[Array | str], body: Sequence[str]) -> list[str]:
    """Loops over the arrays of indices, which have one shape."""
    shape = next((one.shape for one in given if isinstance(one, Array)), ())
    return loops(indices("i", len(shape)), shape, body)


def _rows(gathered: IndexedElements, x: Array, given: Sequence[Array | str]) -> list[str]:
    """Lines that name what is selected at one place of the arrays of indices, and check it.

    Given are the arrays and the numbers of indices, and what ends the step where one is out of range.
    """
    outer = indices("i", gathered.common)
    arrays = iter([one for one in given if isinstance(one, Array)])
    numbers = iter([one for one in given if isinstance(one, str)])
    lines = []
    names = []
    for k, (axis, dtype) in enumerate(zip(gathered.axes, gathered.dtypes, strict=True)):
        size = x.shape[axis]
        index = next(numbers) if dtype is None else next(arrays).at(*outer)
        # unsigned numbers compare with negative ones only as signed ones
        index = f"tn_signed({index})" if dtype == "uint64" else index
        lines.append(f"int64_t r{k} = {index};")
        names.append((f"r{k}", size))
    fails = next(numbers, None)
    if fails is not None:
        lines += [f"if ({r} < -({size}) || {r} >= {size}) {fails}" for r, size in names]
    return [*lines, *(f"if ({r} < 0) {r} += {size};" for r, size in names)]


@writes_task(FindPositions)
def find_positions(task: FindPositions, polls: int, *arrays: Array) -> list[str]:
    *outs, given = arrays
    names = indices("i", len(given.shape))
    # an array that another thread changes meanwhile must not make it write elsewhere
    holds = f"if ({given.at(*names)} && k < {outs[0].shape[0]}) {{"
    each = [f"{out.at('k')} = {name};" for out, name in zip(outs, names, strict=True)]
    body = loops(names, given.shape, [holds, *each, "k++;", "}"])
    # what such a change left unwritten
    zeros = " ".join(f"{out.at('k')} = 0;" for out in outs)
    rest = f"for (; k < {outs[0].shape[0]}; k++) {{ {zeros} }}"
    return ["int64_t k = 0;", *body, rest]


@writes_task(UpdateWhere)
def update_where(
    task: UpdateWhere, polls: int, x: Array, _: Array, mask: Array, *given: Array | str
) -> list[str]:
    axis, source = task.axis, given[0]
    names = indices("i", task.masked)
    others = indices("j", len(x.shape) - task.masked)
    before, after = others[:axis], others[axis:]
    sizes = [*x.shape[:axis], *x.shape[axis + task.masked :]]
    element, one = x.at(*before, *names, *after), source
    check: list[str] = []
    if isinstance(source, Array):
        rows = source.shape[axis]
        one = source.at(*before, f"(({rows}) == 1 ? 0 : k)", *after)
        check = _enough_values(mask, rows, str(given[1])) if len(given) == 2 else []
    each = loops(others, sizes, [f"{element} {_ASSIGNED[task.operation]} {one};"])
    body = [f"if ({mask.at(*names)}) {{", *each, "k++;", "}"]
    counts = ["int64_t k = 0;", *loops(names, mask.shape, body)]
    return [*check, *unless_empty(sizes, counts)]


@writes_task(UpdateWhere, checks=True)
def check_where(
    task: UpdateWhere, polls: int, _: Array, __: Array, mask: Array, source: Array, fails: str
) -> list[str]:
    return _enough_values(mask, source.shape[task.axis], fails)


def _enough_values(mask: Array, rows: Size | str, fails: str) -> list[str]:
    """Lines that only check whether there are as many rows of values as places where a mask holds."""
    names = indices("i", len(mask.shape))
    counted = loops(names, mask.shape, [f"held += {mask.at(*names)};"])
    wrong = f"if ({rows} != 1 && {rows} != held) {{ {fails} }}"
    return ["{", "int64_t held = 0;", *counted, wrong, "}"]
