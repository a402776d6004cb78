"""Loops on single numbers, as those that sum the series of derivatives of incomplete functions."""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.graph.basic import Constant, Variable

from theano.link.native.ir.ir import Scalar, Value, View
from theano.link.native.ir.scalar_expressions import expression_of
from theano.link.native.ir.symbolic import Name, Symbolic
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.tasks import Computed, LoopOnNumbers
from theano.pytensor_internals.operations.scalar import ScalarLoop

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
    task = _LoopOfOneElement(step, op).task()
    work = [Work(_STEPS * len(task.computations), shape)]
    step.append(Kernel(writes, operands, task, takes=work, computes=work), *results)
    return writes if shape else [step.load(view) for view in writes]  # type: ignore[return-value]


def _operand(step: Step, value: Value, shape: tuple) -> View:
    view = step.view(value)
    if isinstance(value, Scalar):
        return View(view.buffer, shape, (None,) * len(shape), (0,) * len(shape), (0,))
    return step.stretched(view, shape)


class _LoopOfOneElement:
    """One element's loop."""

    def __init__(self, step: Step, op: ScalarLoop):
        graph = op.fgraph
        self.inputs, self.outputs, self.is_while = graph.inputs, graph.outputs, op.is_while
        self.names: dict[Variable, str] = {}
        for k, variable in enumerate(graph.inputs):
            self.names[variable] = f"given{k}"
        self.computations: list[Computed] = []
        for node in graph.toposort():
            (output,) = node.outputs
            dtypes = [variable.type.dtype for variable in node.inputs]
            expression = expression_of(node.op, dtypes, output.type.dtype)
            step.libraries.add(expression.library)
            operands = [self._name(step, variable) for variable in node.inputs]
            self.names[output] = f"value{len(self.computations)}"
            self.computations.append(
                Computed(
                    self.names[output],
                    output.type.dtype,
                    expression,
                    tuple(operands),
                    tuple(dtypes),
                )
            )
        self.results = [self._name(step, variable) for variable in graph.outputs]

    def _name(self, step: Step, variable: Variable) -> Symbolic:
        if isinstance(variable, Constant):
            return step.constant(variable.data, variable.type.dtype).symbol
        return Name(self.names[variable])

    def task(self) -> LoopOnNumbers:
        """Return the loop of each element."""
        inputs = tuple((self.names[one], one.type.dtype) for one in self.inputs)
        states = len(self.outputs) - self.is_while
        return LoopOnNumbers(inputs, tuple(self.computations), tuple(self.results), states)
