"""A loop as one C function.

``numbers`` and ``arrays`` are what the caller passes: whether to run, the number of steps, and
for each array its strides and shape; the runtime's functions, the work memory, and the data.
``result`` receives the steps done, the bytes of work memory, and the shapes of traces. The
function returns 0, the number of the condition of the call that does not hold, or a negative
number for an exception in a step.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from theano.link.native.ir.ir import FIRST_ARRAY
from theano.link.native.ir.partitions import Serial, Sharing
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.symbolic import Size
from theano.link.native.lowering.loop import Loop
from theano.link.native.passes.step_time import nanoseconds
from theano.link.native.render import rows
from theano.link.native.render.c_text import Line, comment
from theano.link.native.render.counters import CLOCK, Counters
from theano.link.native.render.memory import (
    elements,
    packed_ranges,
    packing,
    panels,
    plan_lines,
    pointers,
)
from theano.link.native.render.numbers_in_c import C_TYPES, number_in_c, time_in_c
from theano.link.native.render.prologue import prologue
from theano.link.native.render.steps import barrier, emit_statements
from theano.support.data_classes import dataclass

# how many rows of a batch each thread has at least, where no product asks for more
ROWS_OF_A_THREAD = 4
# Columns of which each of two threads has a page of the memory of a row, or more: of less a processor fetches
# what the other thread writes, and two threads take up to three times as long as one.
COLUMNS_APART = 2048


def declaration(name: str) -> str:
    """Return the declaration of a loop's C function."""
    return f"TN_SHARED int64_t {name}(TN_LOOP);"


@dataclass(frozen=True)
class LoopText:
    """The lines of a loop's C function, whatever its name.

    Attributes
    ----------
    before, after
        What stands in it before and after the call of all threads.
    serial
        Why there is only one; empty if there are several.
    """

    before: list[str]
    after: list[str]
    serial: str

    def lines(self, name: str) -> list[str]:
        """Its definition under a name."""
        if self.serial:
            return [
                comment(f"One thread: {self.serial}."),
                f"TN_SHARED int64_t {name}(TN_LOOP)",
                "{",
                "enum { thread = 0, threads = 1 };",
                *self.before,
                *self.after,
                "}",
            ]
        run = f"return tn_run(runtime, threads, {name}_work, numbers, arrays, result);"
        return [
            f"TN_LOOP_OF_THREADS({name})",
            f"static int64_t {name}_part(TN_LOOP_PART)",
            "{",
            *self.before,
            f"if (threads > 1) {run}",
            "watch = &own;",
            "}",
            *self.after,
            "}",
        ]


# by whether denormals are zeros while a loop runs
_BEGIN_FLUSHING = {
    True: ["const unsigned denormals = runtime->flush_denormals_begin();"],
    False: [],
}
_END_FLUSHING = {True: ["runtime->flush_denormals_end(denormals);"], False: []}


def emit_loop(
    loop: Loop, counters: Counters | None = None, functions: Mapping[str, str] | None = None
) -> LoopText:
    """Return a loop's C function.

    Parameters
    ----------
    functions
        The names of the C functions of the loops inside, by those that they were lowered under.
    """
    functions, step, sharing = functions or {}, loop.step, loop.sharing
    assert sharing is not None
    serial = sharing.reason if isinstance(sharing, Serial) else ""
    several = None if isinstance(sharing, Serial) else sharing
    before = [*_plan(loop, functions), *_panel_widths(loop, several)]
    before += ["tn_watch own, *const watch = &own;"] if several is None else _threads(loop, several)
    after = [
        *(
            []
            if several is None
            else ["const int team = threads;", *_ranges_declared(loop, several)]
        ),
        "char *const work = arrays[1];",
        *pointers(loop),
        # the call for the block before has packed them
        *(["if (numbers[0] == 1) {", *packing(step), "}"] if step.packed else []),
        *_BEGIN_FLUSHING[loop.flushes_denormals],
        "int64_t step = 0, status = 0, poll = 0, turn = 0;",
        *rows.starts(loop),
        "TN_BARRIER",
        *([*counters.shapes(step), CLOCK] if counters else []),
        *_steps(loop, several, counters, functions),
        *(["end:"] if step.errors or step.loops else []),
        *(["if (threads < team) runtime->dismiss(watch);"] if several else []),
        *_END_FLUSHING[loop.flushes_denormals],
        "TN_BARRIER",
        "if (!thread) {",
        *rows.ends(loop),
        "result[0] = step;",
        "}",
        "return status;",
    ]
    return LoopText(before, after, serial)


def _plan(loop: Loop, functions: Mapping[str, str]) -> list[str]:
    """Return what the first call does: read sizes, refuse, and return how much memory is needed."""
    assert loop.memory is not None
    return [
        "const int64_t steps = numbers[1];",
        *_arguments(loop),
        *prologue(loop.step.sizes.entries, functions),
        "/* work memory */",
        *rows.ring_sizes(loop),
        *plan_lines(loop.memory),
        "if (!thread) {",
        *rows.trace_shapes(loop),
        "result[1] = bytes;",
        "}",
        "if (!numbers[0]) return 0;",
    ]


def _arguments(loop: Loop) -> list[str]:
    """Return the arrays that are passed, and their strides where these are free."""
    lines, strides = ["const tn_runtime *const runtime = arrays[0];"], []
    for k, argument in enumerate(loop.arguments, FIRST_ARRAY):
        name = argument.name + ("_out" if argument in loop.rings else "")
        line = f"{C_TYPES[argument.dtype]} *const {name} = arrays[{k}];"
        lines.append(Line(line, argument.comment) if argument.comment else line)
        if argument.free_strides:
            first = argument.first_size + 1 + len(argument.shape)
            strides += [
                f"const int64_t {argument.name}_s{d} = numbers[{first + d}];"
                for d in range(len(argument.shape))
            ]
    return [*lines, *strides]


def _panel_widths(loop: Loop, sharing: Sharing | None) -> list[str]:
    """Return the columns of a panel, asked for once: threads share columns in whole panels."""
    suffixes = {SUFFIX[view.dtype] for view in loop.step.packed}
    if sharing is not None:
        suffixes |= {unit for _, unit, _ in sharing.ranges if unit != "1"}
    return [f"const int64_t panel_{s} = runtime->panel_width_{s}();" for s in sorted(suffixes)]


def _threads(loop: Loop, sharing: Sharing) -> list[str]:
    """Return the choice of the number of threads, up to the call of all of them.

    Where products are among what rows are shared of, they ask for more than that threads seldom meet.
    """
    takes = time_in_c(nanoseconds(loop.step.statements, loop.step.sizes))
    by_rows = f"tn_threads(runtime, {takes}, {len(sharing.barriers_by_rows)}, steps)"
    if sharing.in_pieces:
        # what is not worth sharing takes no time
        wide = " || ".join(
            f"{size} >= {COLUMNS_APART}" for size in sorted(map(str, sharing.in_pieces))
        )
        takes = f"{wide} ? {takes} : 0"
    by_columns = f"tn_threads(runtime, {takes}, {len(sharing.barriers)}, steps)"
    lines = ["tn_watch own;", "if (!threads) {"]
    if sharing.rows is None or loop.step.packed:
        return [*lines, f"threads = {by_columns};"]
    return [
        *lines,
        f"threads = {by_rows};",
        f"if (!({_have_rows(sharing.rows)})) threads = {by_columns};",
    ]


# ---- the steps ----


def _steps(
    loop: Loop, sharing: Sharing | None, counters: Counters | None, functions: Mapping[str, str]
) -> list[str]:
    skip = [] if sharing is None else ["if (step < resume) goto next;", *_ranges(loop, sharing)]
    label = [] if sharing is None else ["next:;"]
    condition = loop.condition
    stop = [] if condition is None else [f"if ({number_in_c(condition)}) {{ step++; break; }}"]
    return [
        "for (; step < steps; step++) {",
        "if (step == poll) {",
        "poll = runtime->poll(watch, &turn, step, thread, threads);",
        "if (poll == TN_STOP) {",
        "status = TN_INTERRUPTED;",
        "break;",
        "}",
        *([] if sharing is None else _serial_or_together(loop)),
        "}",
        *skip,
        *(barrier(sharing, 0) if sharing else []),
        *rows.row_pointers(loop),
        *emit_statements(loop.step, sharing, counters, functions),
        *rows.number_writes(loop),
        *stop,
        *label,
        *rows.next_rows(loop),
        "}",
    ]


def _serial_or_together(loop: Loop) -> list[str]:
    """Leave steps to the first thread, until the others are called back."""
    return [
        "if (poll == TN_ALONE && thread) {",
        "resume = runtime->stand_aside(watch);",
        "if (resume < 0) {",
        *_END_FLUSHING[loop.flushes_denormals],
        "return 0;",
        "}",
        "poll = TN_TOGETHER;",
        "}",
        "if (poll < 0) {",
        "threads = poll == TN_ALONE ? 1 : team;",
        "poll = (resume > step ? resume : step) + 1;",
        "TN_BARRIER",
        "}",
    ]


def _ranges_declared(loop: Loop, sharing: Sharing) -> list[str]:
    """Return the bounds of the ranges of a thread, before they are known."""
    names = [f"{bound}{k}" for k in sharing.ranges.values() for bound in ("first", "end")]
    names += [
        f"{bound}{k}_panel" for k in packed_ranges(loop.step, sharing) for bound in ("first", "end")
    ]
    groups = ["groups = 1"] if sharing.rows is not None else []
    rows_names = ["top", "bottom"] if sharing.rows is not None else []
    bounds = ", ".join(f"{name} = 0" for name in [*rows_names, *names])
    return [
        f"int {', '.join(['shared_among = 0', *groups])};",
        f"int64_t resume = 0, {bounds};",
    ]


def _ranges(loop: Loop, sharing: Sharing) -> list[str]:
    """Return what a thread works on, wherever the number of threads has changed."""
    lines, count = [], sharing.rows
    if count is not None:
        first, end = _range(count, "1", "thread / (threads / groups)", "groups")
        lines += [*_groups(loop, sharing, count), f"top = {first};", f"bottom = {end};"]
    for (size, unit, either), k in sharing.ranges.items():
        first, end = _range(size, unit)
        if either:
            first, end = _range(size, unit, "thread % (threads / groups)", "threads / groups")
        lines += [f"first{k} = {first};", f"end{k} = {end};"]
    for k, suffix in packed_ranges(loop.step, sharing).items():
        width = f"panel_{suffix}"
        lines.append(f"first{k}_panel = first{k} / {width};")
        lines.append(f"end{k}_panel = {panels(f'end{k}', width)};")
    return ["if (shared_among != threads) {", "shared_among = threads;", *lines, "}"]


def _range(size: Size, unit: str, part: str = "thread", parts: str = "threads") -> tuple[str, str]:
    """Return where the part of a thread begins and ends."""
    width = "1" if unit == "1" else f"panel_{unit}"
    return (
        f"tn_share({size}, {width}, {part}, {parts})",
        f"tn_share({size}, {width}, {part} + 1, {parts})",
    )


def _have_rows(count: Size) -> str:
    """Return whether each thread has rows enough, of passes over elements, in C."""
    return f"{count} >= {ROWS_OF_A_THREAD} * threads"


def _groups(loop: Loop, sharing: Sharing, count: Size) -> list[str]:
    """Return the choice of the groups of rows that threads share, which each product has to allow, in C.

    There are as many as threads, of which each then has all columns of its rows; or fewer, of which
    each is shared by columns; or one.
    """
    step = loop.step
    if not step.packed:
        return [f"groups = {_have_rows(count)} ? threads : 1;"]
    find = step.sizes.find
    each = [
        f"{np.dtype(view.dtype).itemsize} * {elements(step, view.shape)}" for view in step.packed
    ]
    asked = dict.fromkeys(
        (SUFFIX[view.dtype], find(view.shape[1]), find(view.shape[0])) for view in step.packed
    )
    allowed = " && ".join(
        f"runtime->by_rows_{suffix}({count}, {n}, {k}, {' + '.join(each)}, groups, threads)"
        for suffix, n, k in asked
    )
    if sharing.barriers_by_both is None:
        return ["groups = threads;", f"if (!({allowed})) groups = 1;"]
    return [f"for (groups = threads; groups > 1; groups--) if ({allowed}) break;"]
