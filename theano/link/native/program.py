"""From a function's graph to segments with native code and nodes that Python runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field

from pytensor.compile.ops import ViewOp
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import ScalarType

from theano.link.native.graph.overwriting import overwrites_input
from theano.link.native.graph.partition import Part, needed_results, partition
from theano.link.native.graph.updates_in_place import written_last
from theano.link.native.graph.views_of_states import views_passed_on
from theano.link.native.ir.ir import CannotLower
from theano.link.native.ir.scalar_types import has_c_type
from theano.link.native.lowering.loop import LowerLoop
from theano.link.native.lowering.lower_segment import NodeCannotLower, lower_segment
from theano.link.native.lowering.lowered_loops import loops_of_their_own, shared_loop
from theano.link.native.lowering.operations.sampling.samples_in_steps import why_not_words
from theano.link.native.lowering.places import import_lowering
from theano.link.native.lowering.registry import import_lowerings_by, lowering_of
from theano.link.native.lowering.segment import Segment, SegmentCall
from theano.link.native.passes.mutable_inputs import mutable_inputs
from theano.link.native.passes.pipeline import run_passes
from theano.link.native.render.counters import Counters
from theano.link.native.render.program_text import ProgramText, profiled_text, program_text
from theano.pytensor_internals.functions.c_code import CLinker, OpWiseCLinker
from theano.pytensor_internals.functions.linking import PerformLinker, VMLinker
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.tensor import IfElse
from theano.support.data_classes import dataclass

import_lowerings_by(import_lowering)


@dataclass(frozen=True)
class Program:
    """The parts of a function, in order; how each native one is called.

    Attributes
    ----------
    code
        The C text.
    reasons
        Why nodes that Python runs have no native code.
    """

    parts: list[Part]
    segments: list[SegmentCall | None]
    code: ProgramText
    reasons: dict[Apply, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LoweredProgram:
    """The parts of a function, in order, each native one as what is written in C after the passes."""

    parts: list[Part]
    segments: list[Segment | None]
    reasons: dict[Apply, str]


def lowered_program(
    fgraph: FunctionGraph,
    order: Sequence[Apply],
    lower_loop: LowerLoop = shared_loop,
    in_columns: Collection[Variable] = (),
) -> LoweredProgram:
    """Lower as much of a graph as has native code, and run the passes.

    Inputs that are ``in_columns`` are read in Fortran's order.

    A node that cannot be lowered after those that it uses begins its own segment; one that
    cannot be lowered there either is left to Python.
    """
    reasons = {node: reason for node in order if (reason := why_not(node))}
    for variable in fgraph.outputs:
        if variable.owner is not None and isinstance(variable.type, ScalarType):
            reasons[variable.owner] = "a result that is no array"
    for node in views_passed_on(fgraph):
        reasons[node] = "a view that becomes a shared variable's value: it is passed on as it is"
    first_of_segment: set[Apply] = set()
    lazy = any(is_a(node.op, IfElse) for node in order)
    last = set() if lazy else written_last(fgraph, order)
    segments: dict[tuple[Apply, ...], Segment] = {}
    while True:
        parts = partition(fgraph, order, lambda node: node not in reasons, first_of_segment, last)
        try:
            for part in parts:
                if part.native and part.nodes not in segments:
                    name = f"segment{len(segments)}"
                    needed = needed_results(fgraph, part.nodes)
                    segments[part.nodes] = lower_segment(
                        name, part.nodes, needed, lower_loop, in_columns
                    )
        except NodeCannotLower as failure:
            if failure.node in first_of_segment or failure.node is part.nodes[0]:
                reasons[failure.node] = str(failure)
            else:
                first_of_segment.add(failure.node)
            continue
        break
    chosen = [segments[part.nodes] if part.native else None for part in parts]
    for part, segment in zip(parts, chosen, strict=True):
        if segment is not None:
            segment.mutable = mutable_inputs(fgraph, part.nodes)
            segment.is_last = not lazy and part is parts[-1]
            run_passes(segment)
    return LoweredProgram(parts, chosen, reasons)


def make_program(
    fgraph: FunctionGraph,
    order: Sequence[Apply],
    counters: Counters | None = None,
    in_columns: Collection[Variable] = (),
) -> Program:
    """Lower as much of a graph as has native code, and write it; in a profiled program with counters."""
    lower_loop = shared_loop if counters is None else loops_of_their_own()
    lowered = lowered_program(fgraph, order, lower_loop, in_columns)
    chosen = lowered.segments
    native = [segment for segment in chosen if segment is not None]
    code = program_text(native) if counters is None else profiled_text(native, counters)
    calls = [segment.call() if segment is not None else None for segment in chosen]
    return Program(lowered.parts, calls, code, lowered.reasons)


def why_not(node: Apply) -> str:
    """Why a node has no native code, as far as its operator and types say."""
    if reason := getattr(node.op, "why_no_native_code", ""):
        return reason
    try:
        lowering_of(node.op)
    except CannotLower as reason:
        return str(reason)
    if type(node.op) is ViewOp and node.inputs[0].owner is None:
        return "an input or a constant that the caller borrows: it is passed on as it is"
    if overwrites_input(node):
        return "views of an input that is overwritten, and what overwrites them"
    if is_a(node.op, Scan) and _is_watched(node.op):
        return f"a step that {node.op.mode} watches"
    for variable in [*node.inputs, *node.outputs]:
        dtype = getattr(variable.type, "dtype", None)
        shapeless = is_a(variable, Constant) and dtype is None
        if not shapeless and not has_c_type(variable.type):
            if is_a(node.op, Scan):
                return why_not_words(node) or f"a loop with a variable of type {variable.type}"
            return f"a variable of type {variable.type}"
    return ""


def _is_watched(op: Scan) -> bool:
    """Return whether the user gave the step a mode that looks at each operation."""
    linker = getattr(op.mode, "linker", None)
    plain = linker is None or isinstance(linker, VMLinker | PerformLinker | CLinker | OpWiseCLinker)
    return not plain or getattr(linker, "callback", None) is not None
