"""The graph that is rewritten, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.graph.basic import clone_get_equiv
from pytensor.graph.fg import FunctionGraph as _PyTensorFunctionGraph

from theano.gof.graph import as_string
from theano.gof.instances import including_instances_of
from theano.pytensor_internals.graphs.graph import (
    InconsistencyError,
    MissingInputError,
    features_of,
)


class CachedConstantError(Exception):
    """A constant that several graphs share was to become part of one of them."""


@including_instances_of(_PyTensorFunctionGraph)
class FunctionGraph(_PyTensorFunctionGraph):
    """A graph from inputs to outputs that can be rewritten.

    Parameters
    ----------
    inputs, outputs : list of variables
    features : list of features, optional
        What is attached to the graph.
    clone : bool
        Whether the graph is a copy, which leaves the variables as they are.
    update_mapping : dict, optional
        From the index of an output to that of the input that it updates.
    """

    def __repr__(self):
        return f"[{', '.join(as_string(self.inputs, self.outputs))}]"

    __str__ = __repr__

    def clone_get_equiv(self, check_integrity=True, attach_feature=True, **kwargs):
        """Return a copy, with the same features attached, and the copy of each variable and node."""
        equivalents = clone_get_equiv(self.inputs, self.outputs, **kwargs)
        copied = type(self)(
            [equivalents[variable] for variable in self.inputs],
            [equivalents[variable] for variable in self.outputs],
            clone=False,
            update_mapping=self.update_mapping,
        )
        if check_integrity:
            copied.check_integrity()
        if attach_feature:
            for feature in features_of(self):
                copied.attach_feature(feature.clone())
        return copied, equivalents
