"""A loop as one C function.

``numbers`` and ``arrays`` are what the caller passes: whether to run, the number of steps, and
for each array its strides and shape; the runtime's functions, the work memory, and the data.
``result`` receives the steps done, the bytes of work memory, and the shapes of traces. The
function returns 0, the number of the condition of the call that does not hold, or a negative
number for an exception in a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from theano.data_classes import dataclass
from theano.link.native.ir.ir import FIRST_ARRAY
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.sharing import Alone
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Size
from theano.link.native.lowering.loop import Loop
from theano.link.native.passes.step_time import nanoseconds
from theano.link.native.render.c_text import Line, comment
from theano.link.native.render.counters import CLOCK, Counters
from theano.link.native.render.memory import Memory, elements
from theano.link.native.render.numbers_in_c import C_TYPES, number_in_c, time_in_c
from theano.link.native.render.prologue import prologue
from theano.link.native.render.rows import Rows
from theano.link.native.render.steps import emit_statements, meeting

# the order of the table of the runtime's functions that the caller passes
RUNTIME_FUNCTIONS = (
    "tn_packed_size_f32",
    "tn_packed_size_f64",
    "tn_pack_panels_f32",
    "tn_pack_panels_f64",
    "tn_gemm_packed_f32",
    "tn_gemm_packed_f64",
    "tn_gemm_f32",
    "tn_gemm_f64",
    "tn_cholesky_f32",
    "tn_cholesky_f64",
    "tn_solve_triangular_f32",
    "tn_solve_triangular_f64",
    "tn_solve_factored_f32",
    "tn_solve_factored_f64",
    "tn_solve_f32",
    "tn_solve_f64",
    "tn_lu_f32",
    "tn_lu_f64",
    "tn_inverse_f32",
    "tn_inverse_f64",
    "tn_determinant_f32",
    "tn_determinant_f64",
    "tn_eigh_f32",
    "tn_eigh_f64",
    "tn_schur_f32",
    "tn_schur_f64",
    "tn_solve_sylvester_f32",
    "tn_solve_sylvester_f64",
    "tn_qr_f32",
    "tn_qr_f64",
    "tn_qr_triangle_f32",
    "tn_qr_triangle_f64",
    "tn_correlation_work_f32",
    "tn_correlation_work_f64",
    "tn_correlate_f32",
    "tn_correlate_f64",
    "tn_ctc_f32",
    "tn_ctc_f64",
    "tn_panel_width_f32",
    "tn_panel_width_f64",
    "tn_by_rows_f32",
    "tn_by_rows_f64",
    "tn_flush_denormals_begin",
    "tn_flush_denormals_end",
    "tn_threads_for",
    "tn_pool_run",
    "tn_pool_share",
    "tn_barrier",
    "tn_look_up",
    "tn_stand_aside",
    "tn_dismiss",
    "tn_stops",
    "tn_commit",
    "tn_committed",
    "tn_bytes",
    "tn_plan",
    "tn_order_rows",
    "tn_unlike",
    "tn_other_shapes",
    "tn_share_out",
    "tn_clip",
    "tn_slice_length",
)


_ARGUMENTS = "const int64_t *numbers, void *const *arrays, int64_t *result"


def declaration(name: str) -> str:
    """What declares a loop's C function."""
    return f"TN_SHARED int64_t {name}({_ARGUMENTS});"


def emit_loop(
    loop: Loop, counters: Counters | None = None, functions: Mapping[str, str] | None = None
) -> LoopText:
    """A loop's C function.

    Parameters
    ----------
    functions
        The names of the C functions of the loops inside, by those that they were lowered under.
    """
    return _Emitter(loop, counters, functions or {}).text()


@dataclass(frozen=True)
class LoopText:
    """The lines of a loop's C function, whatever its name.

    Attributes
    ----------
    before, after
        What stands in it before and after the choice of threads.
    team
        The lines that choose them, by the name of the function; none where there is one thread.
    alone
        Why there is one.
    """

    before: list[str]
    team: Callable[[str], list[str]]
    after: list[str]
    alone: Alone | None

    def lines(self, name: str) -> list[str]:
        """Its definition under a name."""
        body = [*self.before, *self.team(name), *self.after]
        if self.alone is not None:
            return [
                comment(f"One thread: {self.alone.reason}."),
                f"TN_SHARED int64_t {name}({_ARGUMENTS})",
                "{",
                "enum { thread = 0, threads = 1 };",
                *body,
                "}",
            ]
        return [
            f"static int64_t {name}_part({_ARGUMENTS}, tn_watch *watch, int thread, int threads);",
            "",
            f"static void {name}_work(void *context, int thread, int threads)",
            "{",
            "tn_call *const call = context;",
            f"const int64_t status = {name}_part(call->numbers, call->arrays, call->result, "
            "&call->watch, thread, threads);",
            "if (!thread) call->status = status;",
            "}",
            "",
            f"TN_SHARED int64_t {name}({_ARGUMENTS})",
            "{",
            f"return {name}_part(numbers, arrays, result, 0, 0, 0);",
            "}",
            "",
            comment("The work of one of the threads; of none, while their number is not chosen."),
            f"static int64_t {name}_part({_ARGUMENTS}, tn_watch *watch, int thread, int threads)",
            "{",
            *body,
            "}",
        ]


class _Emitter:
    def __init__(self, loop: Loop, counters: Counters | None, functions: Mapping[str, str]):
        self.loop, self.step, self.counters = loop, loop.step, counters
        self.functions = functions
        self.sizes: Sizes = loop.step.sizes
        assert loop.sharing is not None
        self.sharing = None if isinstance(loop.sharing, Alone) else loop.sharing
        self.alone = loop.sharing if isinstance(loop.sharing, Alone) else None
        self.memory = Memory(loop.step, self.sharing)
        self.rows = Rows(loop, self.memory)

    def text(self) -> LoopText:
        """What its function consists of, whatever its name."""
        before = self._plan()
        packing = self.memory.packing()
        after = [
            "char *const work = arrays[1];",
            *self.memory.pointers,
            *packing,
            "const unsigned denormals = runtime->flush_denormals_begin();",
            "int64_t step = 0, status = 0, look = 0, turn = 0;",
            *self.rows.starts(),
            "TN_MEET",
            *([*self.counters.shapes(self.step), CLOCK] if self.counters else []),
            *self._steps(),
            *(["end:"] if self.step.errors or self.step.loops else []),
            *(["if (threads < team) runtime->dismiss(watch);"] if self.sharing else []),
            "runtime->flush_denormals_end(denormals);",
            "TN_MEET",
            "if (!thread) {",
            *self.rows.ends(),
            "result[0] = step;",
            "}",
            "return status;",
        ]
        return LoopText([*before, *self._panel_widths()], self._team(), after, self.alone)

    def _panel_widths(self) -> list[str]:
        """The columns of a panel, asked for once: threads share columns in whole panels."""
        suffixes = {SUFFIX[view.dtype] for view in self.step.packed}
        if self.sharing is not None:
            suffixes |= {unit for _, unit, _ in self.sharing.ranges if unit != "1"}
        return [f"const int64_t panel_{s} = runtime->panel_width_{s}();" for s in sorted(suffixes)]

    def _plan(self) -> list[str]:
        """What the first call does: read sizes, refuse, and answer how much memory is needed."""
        before = [
            *self._pointers(),
            *self._strides(),
            *prologue(self.sizes.entries, self.functions),
        ]
        shapes = self.rows.trace_shapes()
        rings = self.rows.ring_memory()
        return [
            "const int64_t steps = numbers[1];",
            *before,
            "/* work memory */",
            *rings,
            *self.memory.plan.lines(),
            self.memory.refuse(),
            "if (!thread) {",
            *shapes,
            "result[1] = bytes;",
            "}",
            "if (!numbers[0]) return 0;",
        ]

    def _steps(self) -> list[str]:
        return [
            "for (; step < steps; step++) {",
            "if (step == look) {",
            "look = runtime->look_up(watch, &turn, step, thread, threads);",
            "if (look == TN_STOP) {",
            "status = TN_INTERRUPTED;",
            "break;",
            "}",
            *self._go_on_alone_or_together(),
            "}",
            *(meeting(self.sharing, 0) if self.sharing else []),
            *self.rows.pointers(),
            *emit_statements(self.step, self.sharing, self.counters, self.functions),
            *self.rows.number_writes(),
            *self.rows.advance(),
            *self._stop(),
            "}",
        ]

    def _team(self) -> Callable[[str], list[str]]:
        """The choice of the number of threads, and the ranges of each."""
        if self.sharing is None:
            return lambda name: ["tn_watch own, *const watch = &own;"]
        phases = max(1, len(self.sharing.barriers))
        takes = time_in_c(nanoseconds(self.step.statements, self.sizes))
        ranges = self._ranges("int64_t ", "int ")
        return lambda name: [
            "tn_watch own;",
            "if (!threads) {",
            "watch = &own;",
            f"const double step_time = {takes};",
            # more steps than these make no difference
            "const int64_t many = steps < 1000000 ? steps : 1000000;",
            f"threads = runtime->threads_for(step_time / {phases}, {phases} * many);",
            "if (threads > 1) {",
            "tn_call call = {numbers, arrays, result, 0, {0}};",
            f"runtime->pool_run(threads, {name}_work, &call);",
            "return call.status;",
            "}",
            "}",
            "const int team = threads;",
            *ranges,
        ]

    def _go_on_alone_or_together(self) -> list[str]:
        """Leave steps to the first thread, until the others are called back."""
        if self.sharing is None:
            return []
        return [
            "if (look == TN_ALONE && thread) {",
            "const int64_t resume = runtime->stand_aside(watch);",
            "if (resume < 0) {",
            "runtime->flush_denormals_end(denormals);",
            "return 0;",
            "}",
            "for (; step < resume; step++) {",
            *self.rows.advance(),
            "}",
            "look = TN_TOGETHER;",
            "}",
            "if (look < 0) {",
            "threads = look == TN_ALONE ? 1 : team;",
            "look = step + 1;",
            *self._ranges_anew(),
            "TN_MEET",
            "}",
        ]

    def _ranges_anew(self) -> list[str]:
        """What a thread works on, where the number of threads has changed."""
        return [*self._ranges(), *self.memory.panels_anew()]

    def _ranges(self, declared: str = "", choice: str = "") -> list[str]:
        """The bounds of what a thread does."""
        assert self.sharing is not None
        lines, rows = [], self.sharing.rows
        if rows is not None:
            first, end = _share(rows, "1")
            lines += [
                f"{choice}by_rows = {self._is_by_rows(rows)};",
                f"{declared}top = by_rows ? {first} : 0;",
                f"{declared}bottom = by_rows ? {end} : {rows};",
            ]
        for (size, unit, either), k in self.sharing.ranges.items():
            first, end = _share(size, unit)
            if either:
                first, end = f"by_rows ? 0 : {first}", f"by_rows ? {size} : {end}"
            lines += [f"{declared}first{k} = {first};", f"{declared}end{k} = {end};"]
        return lines

    def _is_by_rows(self, rows: Size) -> str:
        """Whether threads share rows, which each product has to allow, in C."""
        views, find = self.step.packed, self.sizes.find
        each = [f"{np.dtype(v.dtype).itemsize} * {elements(self.step, v.shape)}" for v in views]
        asked = dict.fromkeys((SUFFIX[v.dtype], find(v.shape[1]), find(v.shape[0])) for v in views)
        return " && ".join(
            f"runtime->by_rows_{suffix}({rows}, {n}, {k}, {' + '.join(each)}, threads)"
            for suffix, n, k in asked
        )

    def _pointers(self) -> list[str]:
        lines = ["const tn_runtime *const runtime = arrays[0];"]
        for k, argument in enumerate(self.loop.arguments):
            name = argument.name
            if argument.kind in ("ring", "untraced"):
                name += "_out"
            line = f"{C_TYPES[argument.dtype]} *const {name} = arrays[{FIRST_ARRAY + k}];"
            lines.append(Line(line, argument.comment) if argument.comment else line)
        return lines

    def _strides(self) -> list[str]:
        lines = []
        for argument in self.loop.arguments:
            if argument.free_strides:
                first = argument.first_size + 1 + len(argument.shape)
                for d in range(len(argument.shape)):
                    text = f"numbers[{first + d}]"
                    lines.append(f"const int64_t {argument.name}_s{d} = {text};")
        return lines

    def _stop(self) -> list[str]:
        if self.loop.condition is None:
            return []
        return [f"if ({number_in_c(self.loop.condition)}) {{ step++; break; }}"]


def _share(size: Size, unit: str) -> tuple[str, str]:
    """Where the part of a thread begins and ends."""
    width = "1" if unit == "1" else f"panel_{unit}"
    return (
        f"tn_share({size}, {width}, thread, threads)",
        f"tn_share({size}, {width}, thread + 1, threads)",
    )
