"""The loops of a compiled function as text, before and after the rewrites: what golden files hold.

A value is a line: a result of the step, a product, or what is read at several places. The text
follows from the graph alone, so that two processes write the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import toposort
from pytensor.scan.op import Scan as PyTensorScan
from pytensor.tensor.type import TensorType

from theano.scan_module import scan_report
from theano.scan_module.loop.arguments import Loop, unpack
from theano.scan_module.loop.result_copy import without_copy
from theano.scan_module.loop.step_copy import copied
from theano.scan_module.report.describe import ELLIPSIS, describe, describe_product, input_names
from theano.scan_module.report.loop_history import find_history
from theano.scan_module.scan_opt.loop_rewriter import loops_of
from theano.scan_module.step.products import is_product, products_among

Names = Mapping[Variable, str]

# what says too little, or too much, to be the name of an argument
LONGEST_NAME = 24


def function_text(function) -> str:
    """The report on a function's loops, its loops as they were given, and as they were compiled."""
    graph = function.maker.fgraph
    records = find_history(graph).records
    lines = ["REPORT", "", *str(scan_report(function)).splitlines(), "", "", "BEFORE"]
    for record in records:
        lines += ["", *_loop_lines(record.loop, {})]
    lines += ["", "", "AFTER"]
    for node in loops_of(graph):
        lines += ["", *_compiled_loop_lines(node, {})]
    products = sorted(describe_product(node) for node in products_among(graph.toposort()))
    lines += ["", "products outside the loops", *(f"    {line}" for line in products or ["none"])]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _compiled_loop_lines(node, around: Names) -> Iterator[str]:
    """A loop after the rewrites, and the loops that the compilation of its step left in the step."""
    step = node.op.fn.maker.fgraph
    loop = unpack(node)
    # the step that runs
    computed = [without_copy(value) for value in step.outputs[: len(loop.inner_outputs)]]
    loop = loop.with_step(step.inputs, computed)
    yield from _loop_lines(loop, around, with_inner_loops=False)
    if any(isinstance(inner.op, PyTensorScan) for inner in step.apply_nodes):
        inside = dict(zip(step.inputs, _argument_names(loop, around).values(), strict=False))
        for inner in loops_of(step):
            yield ""
            yield f"in the step of {loop.settings.name}:"
            yield from _compiled_loop_lines(inner, inside)


def _loop_lines(loop: Loop, around: Names, with_inner_loops: bool = True) -> Iterator[str]:
    """One loop: what it is given, and what its step computes."""
    names = _argument_names(loop, around)
    yield f"loop {loop.settings.name}: {describe(loop.n_steps, around)} steps"
    if loop.settings.truncate_gradient != -1:
        yield f"  gradient truncated to {loop.settings.truncate_gradient} steps"
    for entry in loop.sequences:
        yield f"  sequence   {_argument(names, entry.inner, entry.outer, around)}"
    for number, state in enumerate(loop.ordered_states()):
        yield (
            f"  state {number}    {_type(state.outer)} from {describe(state.outer, around)};"
            f" reads {_places(state.reads)}, writes {_places(state.writes)}"
        )
    for entry in loop.untraced:
        yield f"  untraced   {_argument(names, entry.inner_input, entry.outer, around)}"
    for entry in loop.invariants:
        yield f"  invariant  {_argument(names, entry.inner, entry.outer, around)}"
    yield "  step"
    yield from _step_lines(loop, names, with_inner_loops)


def _argument(names: Names, inner: Variable, outer: Variable, around: Names) -> str:
    name, value = names[inner], describe(outer, around)
    return f"{name}: {_type(inner)}" + ("" if name == value else f" = {value}")


def _places(taps) -> str:
    return " and ".join(f"[t+{tap.offset}]" for tap in taps) or "nothing"


def _type(variable: Variable) -> str:
    if not isinstance(variable.type, TensorType):
        return type(variable.type).__name__
    shape = ", ".join("?" if length is None else str(length) for length in variable.type.shape)
    return f"{variable.type.dtype}({shape})"


def _argument_names(loop: Loop, around: Names) -> dict[Variable, str]:
    """A short name of each input of the step, in their order, no two the same."""
    given = input_names(loop, around)
    short = [given.get(v, "") for v in loop.inner_inputs]
    for number, state in enumerate(loop.ordered_states()):
        for tap in state.reads:
            short[loop.inner_inputs.index(tap.inner)] = f"state {number}[t+{tap.offset}]"
    names = {}
    for position, (variable, name) in enumerate(zip(loop.inner_inputs, short, strict=True)):
        unclear = not name or ELLIPSIS in name or len(name) > LONGEST_NAME or short.count(name) > 1
        names[variable] = f"input {position}" if unclear else name
    return names


class _StepText:
    """Line by line what a step computes.

    Parameters
    ----------
    loop
        The loop.
    names
        Names of the inputs of its step.
    """

    def __init__(self, loop: Loop, names: Names):
        self.outputs = copied(loop.inner_outputs, {v: v for v in loop.inner_inputs})
        self.nodes = list(toposort(self.outputs, blockers=loop.inner_inputs))
        # a formula is written, whatever the user called its value
        for node in self.nodes:
            for value in node.outputs:
                value.name = None
        self.names = dict(names)
        self.lines: list[str] = []
        self.inner_loops: list[tuple[Loop, dict[Variable, str]]] = []
        self._count = 0
        read = [v for node in self.nodes for v in dict.fromkeys(node.inputs)] + self.outputs
        self._read_often = {v for v in read if read.count(v) > 1}

    def written(self) -> list[str]:
        """Write, in the order of computation, what has its own line before the results."""
        for node in self.nodes:
            if isinstance(node.op, PyTensorScan):
                self._write_loop(node)
            for value in node.outputs:
                if is_product(node.op) or value in self._read_often:
                    self._write(value)
        return self.lines

    def formula(self, value: Variable) -> str:
        """A value in terms of those that have names, which what is deep in it gets."""
        if value in self.names:
            return self.names[value]
        text = describe(value, self.names)
        if ELLIPSIS in text and value.owner is not None:
            for argument in value.owner.inputs:
                if argument.owner is not None:
                    self._write(argument)
            text = describe(value, self.names)
            if ELLIPSIS in text:
                arguments = ", ".join(describe(v, self.names) for v in value.owner.inputs)
                text = f"{text.partition('(')[0]}({arguments})"
        return text

    def _write(self, value: Variable) -> None:
        if value in self.names or isinstance(value, Constant):
            return
        text = self.formula(value)
        # a number, and a value moved or stretched, is read as it is
        if text.isalnum() or text in self.names.values():
            self.names[value] = text
            return
        self._count += 1
        self.names[value] = f"v{self._count}"
        self.lines.append(f"v{self._count} = {text}")

    def _write_loop(self, node) -> None:
        loop = unpack(node)
        self.inner_loops.append((loop, {v: self.formula(v) for v in loop.outer_inputs}))
        label = f"loop {len(self.inner_loops)}"
        self.lines.append(f"{label} = {node.op.name}, see below")
        self.names.update({v: f"{label}, output {k}" for k, v in enumerate(node.outputs)})


def _step_lines(loop: Loop, names: Names, with_inner_loops: bool) -> Iterator[str]:
    """Yield what a step computes, then what it stores, then the loops in it."""
    step = _StepText(loop, names)
    step.written()
    results = [
        f"{label} = {step.formula(value)}"
        for label, value in zip(_result_names(loop), step.outputs, strict=True)
    ]
    yield from (f"    {line}" for line in [*step.lines, *results])
    for inner, inside in step.inner_loops if with_inner_loops else ():
        yield f"in the step of {loop.settings.name}:"
        yield from _loop_lines(inner, inside)


def _result_names(loop: Loop) -> Iterator[str]:
    """Yield the names of a step's results, in their order."""
    for number, state in enumerate(loop.ordered_states()):
        yield from (f"state {number}[t+{tap.offset}]" for tap in state.writes)
    for number, trace in enumerate(loop.traces):
        some = (
            "" if trace.length is loop.n_steps else f", kept for {describe(trace.length, {})} steps"
        )
        yield f"trace {number}{some}"
    yield from (f"untraced {number}" for number in range(len(loop.untraced)))
    if loop.condition is not None:
        yield "stop if"
