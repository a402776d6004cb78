"""Loops on single numbers, as those that sum the series of derivatives of incomplete functions."""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.graph.basic import Constant, Variable

from theano.link.native.ir.ir import Scalar, Value, View
from theano.link.native.ir.scalar_expressions import expression_of
from theano.link.native.ir.scalar_types import C_TYPES
from theano.link.native.lowering.operations.kernels import looks_of
from theano.link.native.lowering.step import Step
from theano.link.native.render.arrays import Array, indices, loops, passes
from theano.link.native.render.looks import declared, unless_empty
from theano.link.native.render.scalar_functions import scalar_text
from theano.link.native.statements.base import Work
from theano.link.native.statements.kernel import Kernel
from theano.pytensor_base.operations.scalar import ScalarLoop

# series converge after some tens of steps
_STEPS = 50


def computed_in_loops(
    step: Step,
    op: ScalarLoop,
    inputs: Sequence[Value],
    broadcast: Sequence[Sequence[bool]] | None,
) -> list[Value]:
    """For each element a loop over single numbers, which ends as its condition says."""
    tensors = [value for value in inputs if not isinstance(value, Scalar)]
    shape = step.broadcast_shape(tensors, broadcast) if tensors else ()
    operands = [_operand(step, value, shape) for value in inputs]
    results = [step.temporary(kind.dtype, shape) for kind in op.outputs_type]
    writes = [View.of(buffer) for buffer in results]
    names, looks = indices("i", len(shape)), looks_of(step)
    body_of = _LoopOfOneElement(step, op)

    def lines(*arrays: Array) -> list[str]:
        at = [array.at(*names) for array in arrays]
        body = body_of.lines(at[: len(writes)], at[len(writes) :])
        elements = passes(names, arrays[0].shape, body, looks) if names else loops([], [], body)
        return [*declared(looks), *unless_empty(arrays[0].shape, elements)]

    work = [Work(_STEPS * len(body_of.computations), shape)]
    step.append(Kernel(writes, operands, lines, takes=work, computes=work), *results)
    return writes if shape else [step.load(view) for view in writes]  # type: ignore[return-value]


def _operand(step: Step, value: Value, shape: tuple) -> View:
    view = step.view(value)
    if isinstance(value, Scalar):
        return View(view.buffer, shape, (None,) * len(shape), (0,) * len(shape), (0,))
    return step.stretched(view, shape)


class _LoopOfOneElement:
    """The lines of C of one element's loop."""

    def __init__(self, step: Step, op: ScalarLoop):
        graph = op.fgraph
        self.inputs, self.outputs, self.is_while = graph.inputs, graph.outputs, op.is_while
        self.names: dict[Variable, str] = {}
        for k, variable in enumerate(graph.inputs):
            self.names[variable] = f"given{k}"
        self.computations: list[str] = []
        for node in graph.toposort():
            (output,) = node.outputs
            dtypes = [variable.type.dtype for variable in node.inputs]
            expression = expression_of(node.op, dtypes, output.type.dtype)
            step.libraries.add(expression.library)
            operands = [self._name(step, variable) for variable in node.inputs]
            self.names[output] = f"value{len(self.computations)}"
            self.computations.append(
                f"const {C_TYPES[output.type.dtype]} {self.names[output]} ="
                f" {scalar_text(expression, operands, dtypes)};"
            )
        self.results = [self._name(step, variable) for variable in graph.outputs]

    def _name(self, step: Step, variable: Variable) -> str:
        if isinstance(variable, Constant):
            return step.constant(variable.data, variable.type.dtype).expression
        return self.names[variable]

    def lines(self, results: Sequence[str], operands: Sequence[str]) -> list[str]:
        """Those that compute results, given how they and the operands read."""
        count, *given = operands
        states = len(self.outputs) - self.is_while
        begin = [
            f"{'' if k < states else 'const '}{C_TYPES[variable.type.dtype]}"
            f" {self.names[variable]} = {text};"
            for k, (variable, text) in enumerate(zip(self.inputs, given, strict=True))
        ]
        each = [f"{self.names[self.inputs[k]]} = {self.results[k]};" for k in range(states)]
        found = [self.names[self.inputs[k]] for k in range(states)]
        if self.is_while:
            begin.append("unsigned char ended = 1;")
            each += [f"ended = {self.results[-1]};", "if (ended) break;"]
            found.append("ended")
        return [
            *begin,
            f"const int64_t count = {count};",
            "for (int64_t turn = 0; turn < count; turn++) {",
            *self.computations,
            *each,
            "}",
            *(f"{result} = {name};" for result, name in zip(results, found, strict=True)),
        ]
