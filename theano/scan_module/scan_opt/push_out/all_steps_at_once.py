"""A value that a step computes from sequences, computed for all steps at once.

How an operation is done on the stacked values of all steps is a column of the table of kinds; an
operation without a rule stays in the loop.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytensor.graph.basic import Variable
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.math import Dot
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.scan_module.step.operation_kinds import kind_of
from theano.scan_module.step.step_analysis import StepAnalysis
from theano.source_locations.lines import copy_lines
from theano.tensor.nnet.correlation.filtering import Filtering


class AllSteps:
    """Values of all steps of a loop, as far as they follow from values that are known.

    Parameters
    ----------
    step
        Facts about the loop's step.
    known
        Values of the step whose values of all steps are known; the sequences, for a start.
    """

    def __init__(self, step: StepAnalysis, known: Mapping[Variable, Variable]):
        self.step = step
        self._known: dict[Variable, Variable | None] = dict(known)
        self._given = set(known)
        self._products: dict[Variable, bool] = {}

    def value(self, variable: Variable) -> Variable | None:
        """Return the stacked values of a varying value; None if they cannot be had without the loop."""
        if variable not in self._known:
            self._known[variable] = self._compute(variable)
        return self._known[variable]

    def _compute(self, variable: Variable) -> Variable | None:
        node = variable.owner
        rule = None if node is None else kind_of(node.op).over_all_steps
        if rule is None or not self.step.shape_is_fixed(variable):
            return None
        arguments = []
        for argument in node.inputs:
            varies = self.step.varies(argument)
            value = self.value(argument) if varies else self.step.outer_value(argument)
            if value is None or (not isinstance(value.type, TensorType) and varies):
                return None
            arguments.append((varies, known_tensor(value)))
        assert node is not None
        stacked = rule(node, arguments)
        if stacked is not None:
            copy_lines(variable, stacked, {value for _, value in arguments})
        return stacked

    def holds_product(self, variable: Variable) -> bool:
        """Return whether computing the value takes a product or a correlation, however deep."""
        if variable not in self._products:
            node = variable.owner
            self._products[variable] = (
                variable not in self._given
                and node is not None
                and (
                    isinstance(node.op, Dot | Blockwise | Filtering)
                    or any(self.holds_product(a) for a in node.inputs if self.step.varies(a))
                )
            )
        return self._products[variable]
