"""A loop that is differentiated: what all parts of its backward loop are made from."""

from __future__ import annotations

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.variable import TensorVariable

from theano.scan_module.gradient.step_gradient import StepGradient
from theano.scan_module.loop.arguments import MIT_MOT, BuiltLoop, Sequence, State
from theano.scan_module.loop.roles import OuterOutputs, Roles
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class DifferentiatedLoop:
    """A loop, the gradient of its step, and the cotangents of its outputs.

    Attributes
    ----------
    node
        The node that is differentiated by its inputs.
    run
        The loop that gives forward values: the node's, or the same with more traces.
    step
        The gradient of its step.
    cotangents
        Those of the node's outputs; disconnected ones allowed.
    steps
        How many steps the loop ran.
    backward_steps
        How many of them the gradient goes back.
    """

    node: Apply
    run: BuiltLoop
    step: StepGradient
    cotangents: OuterOutputs[Variable]
    steps: TensorVariable
    backward_steps: TensorVariable

    @classmethod
    def of(
        cls, node: Apply, run: BuiltLoop, step: StepGradient, output_cotangents: list[Variable]
    ) -> DifferentiatedLoop:
        """Return the loop of a node, from cotangents in the order of its outputs."""
        steps, truncate = run.steps_run(), run.loop.settings.truncate_gradient
        return cls(
            node=node,
            run=run,
            step=step,
            cotangents=Roles.of(node.op).outer_outputs(output_cotangents),
            steps=steps,
            backward_steps=steps if truncate == -1 else pt.minimum(steps, truncate),
        )

    @property
    def is_truncated(self) -> bool:
        """Return whether the gradient goes back some steps only."""
        return self.run.loop.settings.truncate_gradient != -1

    def is_longer_than_run(self, state: State) -> bool:
        """Return whether a buffer has rows beyond the last step's: that of a truncated gradient."""
        return state.kind == MIT_MOT and self.is_truncated

    def sequence(self, inner: Variable, reversed_values: TensorVariable) -> Sequence:
        """Return a sequence of the backward loop, from the last step's value to the first one's."""
        if self.is_truncated:
            reversed_values = reversed_values[: self.backward_steps]
        return Sequence(reversed_values, inner)
