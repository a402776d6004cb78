"""A segment as one C function, which reads NumPy's arrays where the caller keeps them.

``arrays`` is a list of the inputs and, in the second call, the outputs. The first call (``run`` 0)
checks the inputs and returns in ``result`` the nanoseconds that its own code will take, the bytes of
work memory and the shapes of outputs; the second computes. Often the outputs and the work memory of
the call before are large enough: where ``run`` is -1 or less they and ~``run`` bytes are offered, and
one call does both, or returns TN_OTHER_ROOM. The function returns 0, the number of a condition that does not hold, a negative
number for an exception, TN_CONVERT - k for an input that has to be copied into another layout
first, or TN_REFUSED.
"""

from __future__ import annotations

import numpy as np

from theano.link.native.ir.ir import FIRST_RESULT, Argument
from theano.link.native.ir.memory_plan import MemoryPlan
from theano.link.native.ir.prologue import names_of
from theano.link.native.ir.scalar_types import type_numbers
from theano.link.native.lowering.segment import Segment, takes_offers
from theano.link.native.lowering.step import Step
from theano.link.native.passes.step_time import nanoseconds
from theano.link.native.render.c_text import Definition, Row, comment
from theano.link.native.render.computing_function import computing_function
from theano.link.native.render.counters import CLOCK, Counters
from theano.link.native.render.memory import plan_lines, pointers
from theano.link.native.render.numbers_in_c import C_TYPES, in_c, time_in_c
from theano.link.native.render.prologue import prologue
from theano.link.native.render.repeated_statements import Part, Repeated
from theano.link.native.render.statements.step_blocks import head_of_blocks
from theano.link.native.statements.base import as_kind, of_kind
from theano.link.native.statements.step_blocks import StepBlocks
from theano.support.data_classes import dataclass

# A segment of more lines, without those of its statements, only calls what others do: the C compiler
# need not optimize it, which takes longer than all that it calls.
LINES_WORTH_OPTIMIZING = 150
# So many lines that compute are a separate function, which another compiler takes; it is not optimized
# either, so that none of its statements may be among these lines.
LINES_OF_ITS_OWN = 300
# Shared variables and the like are written from here on: all of them, or none.
COMMIT = "if (runtime->commit()) { status = TN_INTERRUPTED; goto end; }"


@dataclass(frozen=True)
class SegmentText:
    """A segment's C function.

    Attributes
    ----------
    optimized
        Whether it is short enough for the compiler to optimize it.
    computing
        A function that it calls to compute, if it is long; what is before that is its own.
    """

    lines: list[str]
    optimized: bool
    computing: Definition | None = None


def emit_segment(
    segment: Segment, repeated: Repeated, counters: Counters | None = None
) -> SegmentText:
    """Return the lines of a segment's C function."""
    step, commit = segment.step, segment.commit
    assert segment.memory is not None
    parts = _parts(step, commit, counters)
    before = _before(segment, segment.memory, repeated)
    places = [*_outputs(segment), *pointers(segment)]
    long = len(before) + len(places) + len(parts) > LINES_WORTH_OPTIMIZING
    calls = repeated.written(segment, parts, fewest=1 if long else 2)
    if not long and len(places) + len(calls.lines) > LINES_OF_ITS_OWN:
        long = True
        calls = repeated.written(segment, parts, fewest=1)
    names = [*calls.names, *sorted(_names_of_blocks(step))]
    ends = bool(step.errors or step.loops or commit is not None)
    computing = None
    counting = ["enum { thread = 0 };", *counters.shapes(step), CLOCK] if counters else []
    compute = [
        *places,
        "int64_t status = 0;",
        *counting,
        *calls.lines,
        *(["end:"] if ends else []),
    ]
    if len(compute) > LINES_OF_ITS_OWN and counters is None:
        computing = computing_function(segment, bool(segment.memory.slots), names, compute)
        compute = [f"const int64_t status = {computing.call};"]
    return SegmentText(
        [
            f"{'TN_ONCE ' if long else ''}int64_t {segment.name}(const void *arrays, "
            "const tn_runtime *runtime, const void *array_type, char *work, int64_t *result, "
            "int64_t run)",
            "{",
            *before,
            *compute,
            *(["runtime->committed();"] if commit is not None else []),
            *_rows_reached(segment),
            *(["if (!status) result[1] = TN_COMMITTED;"] if segment.commits else []),
            "return status;",
            "}",
        ],
        not long,
        None if computing is None else computing.definition,
    )


def _parts(step: Step, commit: int | None, counters: Counters | None) -> list[Part]:
    """Return the statements, and what stands between them."""
    parts: list[Part] = []
    for position, statement in enumerate(step.statements):
        if position == commit:
            parts.append([COMMIT])
        blocks = as_kind(statement, StepBlocks)
        if blocks is not None:
            parts += _repeated_parts(step, blocks, counters)
            continue
        parts.append(statement)
        if counters:
            parts.append(counters.after(step, position))
    return parts


def _repeated_parts(step: Step, blocks: StepBlocks, counters: Counters | None) -> list[Part]:
    """Return the statements that are repeated for each block of steps."""
    parts: list[Part] = [head_of_blocks(blocks)]
    for statement in blocks.parts:
        parts.append(statement)
        if counters:
            parts.append(counters.after_part(step, statement))
    return [*parts, ["}"]]


def _names_of_blocks(step: Step) -> set[str]:
    """Return what blocks of steps are counted by, and was named before."""
    blocks = of_kind(step.statements, StepBlocks)
    return {name for one in blocks for name in names_of([one.steps, one.length])}


def _before(segment: Segment, memory: MemoryPlan, repeated: Repeated) -> list[str]:
    """Return what is found and checked before anything is computed."""
    step = segment.step
    return [
        *_inputs(segment),
        *prologue(step.sizes.entries, repeated.loops),
        "/* work memory */",
        *plan_lines(memory),
        *_shapes(segment),
        "result[1] = bytes;",
        f"if (!run) {{ result[0] = tn_whole({_own_nanoseconds(step)}); return 0; }}",
        *_room_offered(segment),
    ]


def _own_nanoseconds(step: Step) -> str:
    """Return what takes longer where the segment is not optimized."""
    own = [statement for statement in step.statements if not statement.leaves_work]
    return time_in_c(nanoseconds(own, step.sizes))


def _inputs(segment: Segment) -> list[str]:
    """Check the inputs, and find where they lie."""
    if not segment.inputs:
        return []
    lines = [
        comment("dimensions, NumPy's numbers of the type, bytes of an element, order in memory"),
        "static const tn_expected expected[] = {",
        *(_expected(argument) for argument, _ in segment.inputs),
        "};",
        f"const int64_t unlike = runtime->unlike(arrays, array_type, expected, {len(segment.inputs)});",
        "if (unlike) return unlike;",
    ]
    for k, (argument, _) in enumerate(segment.inputs):
        name = argument.name
        lines += [
            f"const tn_array *const {name}_array = tn_array_in(arrays, {k});",
            f"{C_TYPES[argument.dtype]} *const {name} = {name}_array->data;",
            *_strides(argument, np.dtype(argument.dtype).itemsize),
        ]
    return lines


def _expected(argument: Argument) -> Row:
    """Return what an input has to be, as a row of a table."""
    first, second = type_numbers(argument.dtype)
    itemsize, order = np.dtype(argument.dtype).itemsize, "TN_IN_ROWS"
    if argument.free_strides:
        order = "TN_IN_ANY_ORDER"
    elif argument.in_columns:
        order = "TN_IN_COLUMNS"
    row = f"{{{len(argument.shape)}, {first}, {second}, {itemsize}, {order}}},"
    about = f"{argument.name}: {argument.comment}" if argument.comment else argument.name
    return Row(row, about)


def _strides(argument: Argument, itemsize: int) -> list[str]:
    if not argument.free_strides:
        return []
    name = argument.name
    return [
        f"const int64_t {name}_s{d} = {name}_array->strides[{d}] / {itemsize};"
        for d in range(len(argument.shape))
    ]


def _shapes(segment: Segment) -> list[str]:
    lines, position = [], FIRST_RESULT
    for output in segment.outputs:
        for size in output.argument.shape:
            lines.append(f"result[{position}] = {in_c(size)};")
            position += 1
    return lines


def _room_offered(segment: Segment) -> list[str]:
    """Lines that refuse the memory of the call before where more is needed, or other shapes."""
    if not takes_offers(segment):
        return []
    offered = f"arrays, {len(segment.inputs)}, {len(segment.outputs)}, result + {FIRST_RESULT}"
    return [
        f"if (run < 0 && (bytes > ~run || runtime->other_shapes({offered}))) return TN_OTHER_ROOM;"
    ]


def _outputs(segment: Segment) -> list[str]:
    first = len(segment.inputs)
    return [
        f"{C_TYPES[o.argument.dtype]} *const {o.argument.name} = "
        f"tn_array_in(arrays, {first + k})->data;"
        for k, o in enumerate(segment.outputs)
    ]


def _rows_reached(segment: Segment) -> list[str]:
    lines, position = [], FIRST_RESULT
    for output in segment.outputs:
        for buffer, rows in segment.step.rows_reached.items():
            if buffer.root() is output.buffer:
                lines.append(f"result[{position}] = {in_c(rows)};")
        position += len(output.argument.shape)
    return lines
