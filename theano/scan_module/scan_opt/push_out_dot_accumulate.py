"""PushOutDotAccumulate: a sum that a loop accumulates is computed once, outside.

An accumulator is a state that only adds to itself, and of which only the last value is read:

    for t:  W += A[t].dot(B[t])        ->   W += [A[0] A[1] …].dot([B[0]; B[1]; …])

Each term of the increment leaves the loop on its own. It is legal when no value of the step but
the accumulator itself depends on the accumulator, since then the steps only add, in whatever
order; and when the operands of all steps can be stacked, their shapes being equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import Alloc
from pytensor.tensor.variable import TensorVariable

from theano.configdefaults import config
from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.rewriting.lengths import lengths_of
from theano.rewriting.zeros import is_zero
from theano.scan_module.loop.arguments import SIT_SOT, BuiltLoop, Loop, State, Tap
from theano.scan_module.loop.initial_values import memory_after
from theano.scan_module.report.describe import describe
from theano.scan_module.report.headings import PUSHED_OUT
from theano.scan_module.scan_opt.loop_rewriter import Checked, Finding, LoopRewriter
from theano.scan_module.scan_opt.push_out.blocks_of_steps import (
    BlockResult,
    block_length,
    run_in_blocks,
)
from theano.scan_module.scan_opt.push_out.emit_sums import Outside, emit_sum
from theano.scan_module.scan_opt.push_out.loop_reads import reads_of_last_value
from theano.scan_module.scan_opt.push_out.outside_values import (
    SummedValues,
    further_traces,
    initial_value,
    readable_outside,
    steps_run,
)
from theano.scan_module.scan_opt.push_out.passed_between_blocks import PassedOn, can_pass_traces
from theano.scan_module.scan_opt.push_out.sum_over_steps import plan_sum
from theano.scan_module.scan_opt.push_out.sum_plans import Plan, Refusal, values_read
from theano.scan_module.scan_opt.push_out.sum_terms import signed_terms
from theano.scan_module.step.normal_form import normal_form
from theano.scan_module.step.step_analysis import StepAnalysis
from theano.source_locations.lines import copy_lines
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Accumulator:
    """A state that adds to itself: what leaves the loop and what stays.

    Attributes
    ----------
    state
        The state.
    reads
        The outer variables that are its last value.
    leaving
        Sign, term and plan for each term that can be summed outside.
    staying
        Sign, term and reason for each term that cannot.
    """

    state: State
    reads: list[Variable]
    leaving: list[tuple[int, Variable, Plan]]
    staying: list[tuple[int, Variable, str]]


def is_sum(state: State, step: StepAnalysis) -> list[tuple[int, Variable]] | None:
    """Return the terms that a state adds to itself in each step; None if it does something else."""
    if state.kind != SIT_SOT:
        return None
    total = state.reads[0].inner
    terms = signed_terms(state.writes[0].inner, step, total)
    if [sign for sign, term in terms if term is total] != [1]:
        return None
    return [(sign, term) for sign, term in terms if term is not total]


def check_sum(
    graph: FunctionGraph, loop: Loop, state: State, step: StepAnalysis, available: set[Variable]
) -> Accumulator | Refusal | None:
    """Return whether a state is an accumulator and which of its terms can leave the loop.

    None if the state is no sum at all.
    """
    terms = is_sum(state, step)
    if not terms:
        return None
    if state.output is None or not graph.clients[state.output]:
        return None
    total, written = state.reads[0].inner, state.writes[0].inner
    others = [v for v in loop.inner_outputs if v is not written]
    if step.depends_on([term for _, term in terms], total):
        return Refusal("its increment depends on the sum so far")
    # another state, or a trace, may be what this state becomes
    if len(others) < len(loop.inner_outputs) - 1 or step.depends_on(others, total):
        return Refusal("other values of the step depend on the sum so far")
    reads = reads_of_last_value(graph, state.output, state.span)
    if reads is None:
        return Refusal("not only its last value is read")
    leaving, staying = [], []
    for sign, term in terms:
        plan = plan_sum(term, step, available, total.type.dtype)
        if isinstance(plan, Refusal):
            staying.append((sign, term, plan.reason))
        else:
            leaving.append((sign, term, plan))
    return Accumulator(state, reads, leaving, staying)


class PushOutDotAccumulate(LoopRewriter):
    """Compute sums that loops accumulate outside the loops, products first of all."""

    name = "PushOutDotAccumulate"
    heading = PUSHED_OUT

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Return which terms of which accumulators can be taken out of the loop."""
        loop = normal_form(node)
        step = StepAnalysis(loop)
        available = set(readable_outside(loop))
        first = [check_sum(graph, loop, state, step, available) for state in loop.states]
        # what one sum needs of all steps, another may read
        available |= {
            value
            for found in first
            if isinstance(found, Accumulator)
            for _, _, plan in found.leaving
            for value in values_read(plan)
        }
        found = {state: check_sum(graph, loop, state, step, available) for state in loop.states}
        findings = [
            finding
            for state, result in found.items()
            if result is not None
            for finding in _findings(step, state, result)
        ]
        accumulators = [
            result
            for result in found.values()
            if isinstance(result, Accumulator) and result.leaving
        ]
        if not accumulators:
            return Checked(findings)
        return Checked(findings, lambda: _taken_out(graph, loop, step, accumulators, type(node.op)))


def _taken_out(
    graph: FunctionGraph,
    loop: Loop,
    step: StepAnalysis,
    accumulators: list[Accumulator],
    op_class: type,
) -> dict[Variable, Variable]:
    """Return the loop without what leaves it, in blocks of steps if the operands take much memory."""
    memory = int(config.scan.push_out_memory * 2**20)
    extra = further_traces(loop, step, operands_of(accumulators))
    unbounded = not memory or not extra
    if unbounded or loop.condition is not None or not can_pass_traces(loop):
        return push_out(loop, step, accumulators, op_class)
    length = block_length(step, list(extra), memory)
    return push_out_in_blocks(graph, step, accumulators, length, op_class)


def _findings(step: StepAnalysis, state: State, found: Accumulator | Refusal) -> Iterator[Finding]:
    loop, terms = step.loop, is_sum(state, step) or []
    if isinstance(found, Refusal):
        subject = " + ".join(describe(term, loop) for _, term in terms)
        yield Finding(f"sum over the steps of {subject}", False, found.reason)
        return
    staying = {term: reason for _, term, reason in found.staying}
    for _, term in terms:
        subject = f"sum over the steps of {describe(term, loop)}"
        reason = staying.get(term, "computed once outside the loop")
        yield Finding(subject, term not in staying, reason)


def operands_of(accumulators: list[Accumulator]) -> list[Variable]:
    """Return the values of the step of which the sums outside read all steps."""
    return [
        value
        for found in accumulators
        for _, _, plan in found.leaving
        for value in values_read(plan)
    ]


def push_out(
    loop: Loop, step: StepAnalysis, accumulators: list[Accumulator], op_class: type
) -> dict[Variable, Variable]:
    """Return the loop without what leaves it, and the sums outside, as replacements."""
    starts = [initial_value(found.state) for found in accumulators]
    built, totals = _run(loop, step, accumulators, starts, op_class)
    replacements = {} if built is None else built.replacements()
    return replacements | _last_values(accumulators, totals)


def push_out_in_blocks(
    graph: FunctionGraph,
    step: StepAnalysis,
    accumulators: list[Accumulator],
    length: Variable,
    op_class: type,
) -> dict[Variable, Variable]:
    """Return the same, with the operands of ``length`` steps kept at a time."""
    loop, summed = step.loop, {found.state for found in accumulators}
    rest = replace(loop, states=tuple(s for s in loop.states if s not in summed))

    def run_block(block: Loop, sums: list[TensorVariable]) -> BlockResult:
        # the accumulators take part in the block with buffers of its length
        of_block = {
            found.state: replace(
                found.state,
                outer=memory_after(total, block.n_steps),
                output=None,
            )
            for found, total in zip(accumulators, sums, strict=True)
        }
        whole = replace(block, states=(*block.states, *of_block.values()))
        found_in_block = [replace(f, state=of_block[f.state]) for f in accumulators]
        built, totals = _run(whole, StepAnalysis(whole), found_in_block, sums, op_class)
        return BlockResult(built, totals)

    starts = [initial_value(found.state) for found in accumulators]
    passed = PassedOn(rest, step, graph)
    replacements, totals = run_in_blocks(rest, length, starts, run_block, op_class, passed)
    return replacements | _last_values(accumulators, totals)


def _run(
    loop: Loop,
    step: StepAnalysis,
    accumulators: list[Accumulator],
    starts: list[TensorVariable],
    op_class: type,
) -> tuple[BuiltLoop | None, list[TensorVariable]]:
    """Build the loop without what leaves it, and the values of the sums after it."""
    reduced = {found.state: _reduced(found) for found in accumulators}
    kept = [state for state in (reduced.get(s, s) for s in loop.states) if state is not None]
    traces = further_traces(loop, step, operands_of(accumulators))
    new_loop = replace(loop, states=tuple(kept), traces=(*loop.traces, *traces.values()))
    built = None
    if kept or new_loop.traces or new_loop.untraced:
        built = new_loop.without_unused_inputs().build(op_class)
    given: set[Variable] = set()
    summed = SummedValues(loop, step, traces, built)
    outside = Outside(
        step=step,
        values=lambda value: _noted(summed.of(value), given),
        invariant=lambda value: _noted(step.outer_value(value), given),
        steps=_noted(steps_run(loop, built), given),
    )
    seen: set[Variable] = set()
    totals = []
    for found, start in zip(accumulators, starts, strict=True):
        rest = reduced[found.state]
        total = start
        if rest is not None:
            assert built is not None
            total = built.rows(rest)[-1]
        for sign, term, plan in found.leaving:
            emitted = emit_sum(plan, outside)
            copy_lines(term, emitted, given, seen)
            total = _added(total, sign, emitted)
        totals.append(total.astype(start.type.dtype))
    return built, totals


def _noted(value: Variable, given: set[Variable]) -> TensorVariable:
    given.add(value)
    return known_tensor(value)


def _added(total: TensorVariable, sign: int, term: TensorVariable) -> TensorVariable:
    """Return a sum with one more term; what has nothing but zeros, as gradients start with, is left out.

    The loop would have refused a term of another shape than that of the zeros: so does the sum.
    """
    if sign < 0:
        return total - term
    stretched = term.type.ndim != total.type.ndim or any(
        one and not other
        for one, other in zip(term.type.broadcastable, total.type.broadcastable, strict=True)
    )
    if stretched or not is_zero(total):
        return total + term
    lengths: Sequence[Variable]
    if total.owner is not None and isinstance(total.owner.op, Alloc):
        lengths = total.owner.inputs[1:]
    else:
        lengths = lengths_of(total)
    known = zip(lengths, total.type.broadcastable, strict=True)
    return pt.specify_shape(term, [None if one else length for length, one in known])


def _last_values(
    accumulators: list[Accumulator], totals: Sequence[Variable]
) -> dict[Variable, Variable]:
    return {
        read: read.type.filter_variable(total)
        for found, total in zip(accumulators, totals, strict=True)
        for read in found.reads
    }


def _reduced(found: Accumulator) -> State | None:
    """Return the state with the terms that stay; None if none does."""
    if not found.staying:
        return None
    total = known_tensor(found.state.reads[0].inner)
    for sign, term, _ in found.staying:
        total = total + term if sign > 0 else total - known_tensor(term)
    write = Tap(found.state.writes[0].offset, total)
    return replace(found.state, writes=(write,), output=None)
