"""The results of the user's function of one step, in the variables that it had."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import graph_inputs
from pytensor.tensor.basic import as_tensor_variable

from theano.pytensor_internals.graphs.graph import MissingInputError
from theano.pytensor_internals.graphs.scan import collect_new_shareds, get_updates_and_outputs
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class WrittenStep:
    """A step as its function wrote it.

    Attributes
    ----------
    arguments
        The variables that the function was called with.
    outputs
        What it returned, as tensors where it can be.
    updates
        The new values of shared variables.
    condition
        What ends the loop, None where nothing does.
    made
        The shared variables that the function made.
    """

    arguments: list[Variable] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    updates: dict[Any, Variable] = field(default_factory=dict)
    condition: Variable | None = None
    made: Collection[Any] = ()

    def call(self, fn: Callable, arguments: Sequence[Variable]) -> None:
        """Call the function of a step, and note what it returns."""
        self.arguments = list(arguments)
        with collect_new_shareds() as made:
            result = fn(*arguments)
        self.condition, outputs, updates = get_updates_and_outputs(result)
        self.outputs, self.made = list(outputs), made
        self.updates = {shared: _new_value(shared, value) for shared, value in updates.items()}

    def leave_updates_to_loop(self) -> None:
        """Leave updates of the shared variables that the step made to the loop alone."""
        for shared in self.updates:
            if shared in self.made and shared.default_update is not None:
                shared.default_update = None

    @property
    def computed(self) -> list[Variable]:
        """All that a step computes."""
        end = [] if self.condition is None else [self.condition]
        return [*self.outputs, *self.updates.values(), *end]

    @cached_property
    def shared(self) -> list[Any]:
        """The shared variables that a step reads or changes."""
        return list(dict.fromkeys(v for v in [*self._leaves(), *self.updates] if _is_shared(v)))

    @cached_property
    def read_from_outside(self) -> list[Variable]:
        """Variables that are no arguments and are not shared, which a step reads all the same.

        Raises
        ------
        MissingInputError
            If nothing but an update reads one, as in Theano 1.0.
        """
        end = [] if self.condition is None else [self.condition]
        found = self._not_given([*self.outputs, *end])
        for shared, value in self.updates.items():
            if missing := [v for v in self._not_given([value]) if v not in found]:
                raise MissingInputError(
                    f"scan: the update of {shared} in a step reads {missing[0]}, which the step is"
                    " not given: name it in non_sequences and as an argument of the step's function"
                )
        return found

    def _not_given(self, computed: list[Variable]) -> list[Variable]:
        known = {*self.arguments}
        return [
            v
            for v in dict.fromkeys(graph_inputs(computed, blockers=self.arguments))
            if v not in known and not isinstance(v, Constant | SharedVariable)
        ]

    def _leaves(self) -> Iterator[Variable]:
        """Yield what nothing computes, in the order in which one reads the step aloud."""
        seen = {v for v in self.arguments if not _is_shared(v)}
        waiting = self.computed[::-1]
        while waiting:
            variable = waiting.pop()
            if variable in seen:
                continue
            seen.add(variable)
            if variable.owner is None:
                yield variable
            else:
                waiting.extend(variable.owner.inputs[::-1])


def _is_shared(variable: Variable) -> bool:
    return isinstance(variable, SharedVariable)


def _new_value(shared: Any, value: Any) -> Variable:
    """Return the new value of a shared variable, in its type; TypeError where it cannot be that."""
    if not isinstance(value, Variable):
        value = as_tensor_variable(value)
    try:
        return shared.type.filter_variable(value, allow_convert=False)
    except TypeError:
        raise TypeError(
            "scan: a shared variable and its update in a step must have the same type"
            f" (shared_var={shared}, shared_var.type={shared.type}, update_val={value},"
            f" update_val.type={value.type})"
        ) from None
