"""The prologue of a step as C."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from theano.link.native.ir.prologue import (
    BeginCall,
    Element,
    Entry,
    NameChecked,
    NameNumber,
    PassNumber,
    Require,
    ShowArray,
    ShowList,
    SizeOperation,
)
from theano.link.native.render.c_text import Line, comment
from theano.link.native.render.numbers_in_c import C_TYPES, in_c
from theano.link.native.render.scalar_functions import scalar_text

_OVERFLOWS = {"+": "add", "-": "sub", "*": "mul"}


def prologue(entries: Iterable[Entry], functions: Mapping[str, str]) -> list[str]:
    """Return the lines that name numbers, and refuse calls.

    Parameters
    ----------
    functions
        The names of the C functions of loops, by those that they were lowered under.
    """
    lines: list[str] = []
    for entry in entries:
        if isinstance(entry, Require):
            named = entry.condition.renamed(lambda name: functions.get(name, name))
            entry = replace(entry, condition=named)
        lines += _LINES[type(entry)](entry)
    return lines


def _name_number(entry: NameNumber) -> list[str]:
    line = f"const {C_TYPES[entry.dtype]} {entry.name} = {_value(entry.value)};"
    return [Line(line, entry.about) if entry.about else line]


def _value(value: Any) -> str:
    if isinstance(value, SizeOperation):
        return scalar_text(value.operation, [*map(in_c, value.operands)], value.dtypes)
    if isinstance(value, Element):
        address = _address(value.array, value.offset)
        return f"*{address}" if value.offset == 0 else f"*({address})"
    return in_c(value)


def _address(array: str, offset: Any) -> str:
    return array if offset == 0 else f"{array} + {in_c(offset)}"


def _name_checked(entry: NameChecked) -> list[str]:
    function = f"__builtin_{_OVERFLOWS[entry.operator]}_overflow"
    overflows = f"{function}({in_c(entry.a)}, {in_c(entry.b)}, &{entry.name})"
    return [f"int64_t {entry.name}; if ({overflows}) return {entry.check};"]


def _require(entry: Require) -> list[str]:
    return [Line(f"if (!({in_c(entry.condition)})) return {entry.check};", entry.why)]


def _begin_call(entry: BeginCall) -> list[str]:
    prefix = entry.prefix
    return [
        comment(entry.title),
        f"int64_t {prefix}_numbers[{entry.numbers}] = {{0, {in_c(entry.steps)}}};",
        f"void *{prefix}_arrays[{entry.arrays}] = {{(void *)runtime}};",
        f"int64_t {prefix}_result[{entry.results}];",
    ]


def _pass_number(entry: PassNumber) -> list[str]:
    return [f"{entry.prefix}_numbers[{entry.position}] = {in_c(entry.size)};"]


def _show_array(entry: ShowArray) -> list[str]:
    shown = "tn_nothing"
    if entry.array:
        shown = f"({_address(entry.array, entry.offset)})"
    elif entry.number:
        shown = f"&{entry.number}"
    return [f"{entry.prefix}_arrays[{entry.position}] = (void *){shown};"]


def _show_list(entry: ShowList) -> list[str]:
    numbers = ", ".join(entry.numbers)
    return [
        f"const {C_TYPES[entry.dtype]} {entry.name}[] = {{{numbers}}};",
        f"{entry.prefix}_arrays[{entry.position}] = (void *){entry.name};",
    ]


_LINES: dict[type, Callable[[Any], list[str]]] = {
    BeginCall: _begin_call,
    NameChecked: _name_checked,
    NameNumber: _name_number,
    PassNumber: _pass_number,
    Require: _require,
    ShowArray: _show_array,
    ShowList: _show_list,
}
