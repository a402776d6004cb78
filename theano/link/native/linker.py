"""A linker that makes native code of a function's graph, as far as it can."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Collection, Sequence
from typing import Any

from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op

from theano.configparser import caller_stacklevel
from theano.link.native.build.cached_programs import CachedProgram
from theano.link.native.build.compile_ahead import TAG
from theano.link.native.build.compiler import warn_of_compiler
from theano.link.native.build.in_process import chosen_compiler
from theano.link.native.build.programs import LoadedProgram, loaded_program
from theano.link.native.engine_report import EngineReport, report_of
from theano.link.native.generators_as_words import GeneratorsAsWords  # noqa: F401 -- registers it
from theano.link.native.graph.inputs_in_columns import inputs_in_columns
from theano.link.native.graph.overwriting import overwrites_input
from theano.link.native.graph.partition import Part, needed_results
from theano.link.native.graph.updates_in_place import shared_positions
from theano.link.native.ir.ir import CannotLower
from theano.link.native.lowering.segment import SegmentCall
from theano.link.native.memory_of_function import FunctionMemory
from theano.link.native.program import Program, make_program
from theano.link.native.render.counters import Counters
from theano.link.native.render.program_text import ProgramText
from theano.link.native.run.calls import (
    NativeSegment,
    layout_is_known,
    native_or_one_by_one,
    runtime_table,
)
from theano.link.native.run.one_by_one import link_functions_inside_by, make_thunk, replay
from theano.link.native.run.prepared_call import PreparedCalls
from theano.link.native.run.prepared_parts import PreparedParts
from theano.link.native.run.prepared_samples import PreparedSamples
from theano.link.native.run.profile import Measurements
from theano.link.native.run.rollback import Undo, undoable
from theano.link.native.run.steps_within_budget import StepsWithinBudget
from theano.link.native.run.virtual_machine import NativeMachine, Preparation, Unit
from theano.link.native.runtime.build import BuildError
from theano.link.native.runtime.load import NoCompiler
from theano.pytensor_internals.functions.linking import Container, VMLinker, map_storage
from theano.rewriting.rewrites.of_pytensor.left_out import DONE_BY_NATIVE
from theano.scan_module.budget.chosen_steps import chosen_steps


class NativeLinker(VMLinker):
    """Compiles the segments of a graph to one library; the rest runs as PyTensor runs it.

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> x = T.vector("x")
    >>> means, _ = theano.scan(lambda x, s: (s + x) / 2, sequences=[x], outputs_info=[x[0]])
    >>> f = theano.function([x], means, mode="NATIVE")
    """

    # rewrites that modes leave out unless they are asked for by name
    does_itself = DONE_BY_NATIVE
    # whether rewritten graphs are kept on disk
    stores_graphs = True
    # whether a call that fails changes no shared variable, though operations may be in place
    undoes_failed_calls = True
    # whether calls stay below a budget of memory
    keeps_to_budgets = True

    def __init__(self, *args: object, **kwargs: object):
        super().__init__(*args, **kwargs)
        # A reduction of an expression has C code in PyTensor only; here both are fused anyway.
        # Without a compiler NumPy runs operations; what is fused would run element by element.
        excluded = ["local_careduce_fusion"] if chosen_compiler() else ["fusion"]
        self.incompatible_rewrites = (*self.incompatible_rewrites, *excluded)
        self.required_rewrites = (*self.required_rewrites, TAG)
        self.report: EngineReport | None = None

    def make_all(self, profiler=None, input_storage=None, output_storage=None, storage_map=None):
        """Make the program and its storage, as PyTensor's linkers do."""
        fgraph = self.fgraph
        assert fgraph is not None
        order = self.schedule(fgraph)
        input_storage, output_storage, storage_map = map_storage(
            fgraph, order, input_storage, output_storage, storage_map
        )
        compute_map = {variable: [variable.owner is None] for variable in storage_map}
        begin = time.perf_counter()
        counters = Counters() if self.profile else None
        in_columns = inputs_in_columns(fgraph, storage_map)
        program, compiled = self._compile(fgraph, order, counters, in_columns)
        by_llvm = compiled is not None and compiled.by_llvm
        self.report = report_of(program, by_llvm, by_llvm and compiled.later is not None)
        states = {
            fgraph.outputs[output]: storage_map[fgraph.inputs[state]]
            for output, state in (fgraph.update_mapping or {}).items()
        }
        undo: Undo = []
        c_thunks = bool(self.c_thunks)
        units = [
            self._python_unit(part, storage_map, compute_map, undo)
            if segment is None or compiled is None
            else _native_unit(part, segment, compiled, storage_map, compute_map, states, c_thunks)
            for part, segment in zip(program.parts, program.segments, strict=True)
        ]
        made_by = {node: k for k, part in enumerate(program.parts) for node in part.nodes}
        _connect(fgraph, program.parts, units, made_by, storage_map, compute_map)
        if self.profile:
            self.profile.linker_node_make_thunks += time.perf_counter() - begin
            self.profile.linker_make_thunk_time = {}
        machine = NativeMachine(
            fgraph,
            units,
            self.allow_gc,
            pre_call_clear=[storage_map[variable] for variable in self.no_recycling],
            storage_map=storage_map,
            input_storage=input_storage,
            output_storage=output_storage,
            update_vars=self.updated_vars,
            compute_map=compute_map,
            undo=undo,
            last_units=[made_by[v.owner] for v in fgraph.outputs if v.owner is not None],
        )
        machine.find_memory = functools.partial(FunctionMemory, fgraph, order, in_columns)
        machine.within_budget = _within_budget(fgraph, machine, storage_map, compiled)
        if counters and compiled is not None:
            natives = [unit.run.native for unit in units if isinstance(unit.node.op, NativeCode)]
            machine.measurements = Measurements(fgraph, natives, counters, compiled.library)
        if not self.profile and machine.within_budget is None:
            machine.prepared_calls = _prepared_calls(fgraph, units, storage_map)
        return (
            machine,
            [Container(v, cell) for v, cell in zip(fgraph.inputs, input_storage, strict=True)],
            [
                Container(v, cell, readonly=True)
                for v, cell in zip(fgraph.outputs, output_storage, strict=True)
            ],
            machine.thunks,
            machine.nodes,
        )

    def _python_unit(self, part: Part, storage_map, compute_map, undo: Undo) -> Unit:
        (node,) = part.nodes
        thunk = make_thunk(node, storage_map, compute_map, bool(self.c_thunks))
        cells = [storage_map[node.inputs[k]] for k in shared_positions(node)]
        if cells:
            thunk = undoable(thunk, cells, undo, by_author=overwrites_input(node))
        return Unit(node, thunk, bool(thunk.lazy))

    def _compile(
        self,
        fgraph: FunctionGraph,
        order: Sequence[Apply],
        counters: Counters | None,
        in_columns: Collection[Variable],
    ) -> tuple[Program, LoadedProgram | None]:
        stored = CachedProgram(fgraph, in_columns)
        found = stored.read() if counters is None else None
        program = found or make_program(fgraph, order, counters, in_columns)

        @functools.cache
        def write() -> None:
            stored.write(program if found is None and counters is None else None)

        def meanwhile() -> None:
            _require_runtime()
            write()

        if not any(program.segments):
            write()
            return program, None
        try:
            return program, loaded_program(program.code, meanwhile, counters is not None)
        except CannotLower as reason:
            write()
            warn_of_compiler(str(reason))
            parts = [Part((node,), False) for node in order]
            reasons = {node: str(reason) for node in order}
            return Program(parts, [None] * len(parts), ProgramText.of(""), reasons), None


def _prepared_calls(
    fgraph: FunctionGraph, units: Sequence[Unit], storage_map: Any
) -> Preparation | None:
    """Return what prepares calls of a function of segments, or of one and its generators."""
    found = [(unit.node, getattr(unit.run, "native", None)) for unit in units]
    natives = [native for _, native in found if native is not None]
    others = [node for node, native in found if native is None]
    if len(natives) > 1 and not others:
        return PreparedParts.of(fgraph, natives, storage_map)
    if len(natives) != 1:
        return None
    if others:
        return PreparedSamples.of(fgraph, natives[0], others, storage_map)
    # PyTensor's annotation says variables: it has the positions of outputs and of inputs
    updates: Any = fgraph.update_mapping or {}
    cells = [storage_map[variable] for variable in fgraph.inputs]
    return PreparedCalls.of(natives[0], fgraph.inputs, cells, fgraph.outputs, updates)


def _within_budget(
    fgraph: FunctionGraph, machine: NativeMachine, storage_map: Any, compiled: LoadedProgram | None
) -> StepsWithinBudget | None:
    """Return what decides how many steps loops keep, if the function has a budget."""
    chosen = chosen_steps(fgraph.inputs)
    if not chosen:
        return None
    if compiled is None:
        warnings.warn(
            "memory_budget has no effect: no part of the function is native code",
            stacklevel=caller_stacklevel(),
        )
        return None
    return StepsWithinBudget(machine.memory, storage_map, chosen)


def _require_runtime() -> None:
    if not layout_is_known():
        raise CannotLower("anything, because this Python stores arrays in another layout")
    try:
        runtime_table()
    except (BuildError, NoCompiler) as error:
        raise CannotLower(f"anything, because the runtime cannot be compiled: {error}") from error


class NativeCode(Op):
    """Stands for a segment in profiles and messages.

    Attributes
    ----------
    segment
        What it runs.
    """

    __props__ = ("name",)

    def __init__(self, segment: SegmentCall):
        self.segment, self.name = segment, segment.name

    def perform(self, node, inputs, output_storage):
        raise NotImplementedError(f"{self} runs as a part of its function only")

    def __str__(self) -> str:
        return f"NativeCode{{{self.segment}}}"


def _native_unit(
    part: Part,
    segment: SegmentCall,
    compiled: LoadedProgram,
    storage_map,
    compute_map,
    states,
    c_thunks: bool,
) -> Unit:
    given = [passed.variable for passed in segment.inputs if passed.variable is not None]
    made = [passed.variable for passed in segment.outputs if passed.variable is not None]
    native = NativeSegment(
        segment,
        compiled.library,
        [storage_map[v] for v in given],
        [storage_map[v] for v in made],
        [states.get(v) for v in made],
        compiled.later,
    )
    run: Any = native_or_one_by_one(native, replay(part.nodes, storage_map, compute_map, c_thunks))
    run.inputs = [storage_map[variable] for variable in given]
    run.outputs = [storage_map[variable] for variable in made]
    run.lazy, run.native = False, native
    node = Apply(NativeCode(segment), given, [variable.type() for variable in made])
    return Unit(node, run)


def _connect(
    fgraph: FunctionGraph,
    parts: Sequence[Part],
    units: list[Unit],
    made_by,
    storage_map,
    compute_map,
) -> None:
    """Record which units each one needs, and what nobody needs after it."""
    before = fgraph.orderings()
    last_use: dict[Any, int] = {}
    for k, (part, unit) in enumerate(zip(parts, units, strict=True)):
        given = unit.node.inputs
        unit.needs = [None if v.owner is None else made_by[v.owner] for v in given]
        earlier = {made_by[other] for node in part.nodes for other in before.get(node, ())}
        unit.before = sorted(earlier - {k})
        unit.flags = [compute_map[v] for node in part.nodes for v in node.outputs]
        for variable in [*given, *needed_results(fgraph, part.nodes)]:
            if variable.owner is not None and variable not in fgraph.outputs:
                last_use[variable] = k
    for variable, k in last_use.items():
        units[k].clears.append(storage_map[variable])


link_functions_inside_by(NativeLinker)
# that of PyTensor's functions
mode = Mode(NativeLinker(), "fast_run")
