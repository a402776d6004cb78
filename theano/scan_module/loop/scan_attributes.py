"""Theano 1.0's names for the parts of its ``Scan`` op, on PyTensor's op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from pytensor.graph.basic import Apply, Variable

from theano.pytensor_internals.graphs.scan import FrozenWhenAsked, step_shared_with
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan

# Theano's name -> the field of `info`
FIELDS = {
    "as_while": "as_while",
    "mit_mot_out_slices": "mit_mot_out_slices",
    "n_mit_mot": "n_mit_mot",
    "n_mit_mot_outs": "n_mit_mot_outs",
    "n_mit_sot": "n_mit_sot",
    "n_nit_sot": "n_nit_sot",
    "n_seqs": "n_seqs",
    "n_shared_outs": "n_untraced_sit_sot",
    "n_sit_sot": "n_sit_sot",
    "tap_array": "tap_array",
}

# Methods that select arguments or results of a node, and that Theano also gave the node itself
OF_INPUTS = (
    "outer_mitmot",
    "outer_mitsot",
    "outer_nitsot",
    "outer_non_seqs",
    "outer_seqs",
    "outer_sitsot",
)
OF_OUTPUTS = ("outer_mitmot_outs", "outer_mitsot_outs", "outer_nitsot_outs", "outer_sitsot_outs")


class ScanAttributes(FrozenWhenAsked):
    """A ``Scan`` op with Theano's attributes.

    Attributes
    ----------
    inputs, outputs
        The step: its variables and what it computes, in the order of the op's arguments.
    n_seqs, n_mit_mot, n_mit_sot, n_sit_sot, n_nit_sot, n_shared_outs
        How many of each kind of argument the loop has.
    tap_array, mit_mot_out_slices
        The taps of the states.
    as_while
        Whether a condition may end the loop.
    var_mappings
        Which argument of the step belongs to which argument of the node, by the name of the
        mapping, such as ``inner_inp_from_outer_inp``.
    """

    def of_equal_step(self, name: str | None, **settings: object) -> ScanAttributes:
        """Return a loop of the same step, with a name and its own settings."""
        made = copy(self)
        made.fgraph = step_shared_with(self.fgraph)
        vars(made).update(settings, name=name or "scan_fn")
        return made

    @property
    def inputs(self) -> Sequence[Variable]:
        return self.inner_inputs

    @property
    def outputs(self) -> Sequence[Variable]:
        return self.inner_outputs

    @property
    def var_mappings(self) -> dict[str, dict[int, Any]]:
        return self.get_oinp_iinp_iout_oout_mappings()


def _field(name: str) -> property:
    return property(lambda op: getattr(op.info, name))


def _also_of_node(name: str, part: str) -> Callable:
    of_pytensor = getattr(PyTensorScan, name)

    def selected(self: ScanAttributes, variables: Apply | Sequence[Variable]) -> Sequence[Variable]:
        if isinstance(variables, Apply):
            variables = getattr(variables, part)
        return of_pytensor(self, variables)

    selected.__name__ = name
    selected.__doc__ = of_pytensor.__doc__
    return selected


for _name, _of_info in FIELDS.items():
    setattr(ScanAttributes, _name, _field(_of_info))
for _names, _part in ((OF_INPUTS, "inputs"), (OF_OUTPUTS, "outputs")):
    for _name in _names:
        setattr(ScanAttributes, _name, _also_of_node(_name, _part))
