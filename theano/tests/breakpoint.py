"""A breakpoint in a graph: a debugger where a condition holds."""

import importlib
import importlib.util

import numpy as np
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.tensor.basic import as_tensor_variable

from theano.pytensor_internals.graphs.shapes import shape_rule

__all__ = ["PdbBreakpoint"]

# the first that is installed is used
_DEBUGGERS = {
    "pudb": lambda: importlib.import_module("pudb"),
    "ipdb": lambda: importlib.import_module("ipdb"),
    "pdb": lambda: importlib.import_module("pdb"),
}


class PdbBreakpoint(Op):
    """Give values on as they are, and start a debugger first where a condition holds.

    In the debugger, the list ``monitored`` has the values as arrays. What it has when the program
    goes on are the values that the graph gets.

    Parameters
    ----------
    name : str
        Is printed where the debugger starts.

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> from theano.tests.breakpoint import PdbBreakpoint
    >>> x = T.dvector("x")
    >>> error, watched = PdbBreakpoint("large error")((x**2).sum() > 100, (x**2).sum(), x)
    >>> theano.function([x], error)([3.0, 4.0]).item()
    25.0
    """

    __props__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def make_node(self, condition, *monitored_vars):
        """Watch variables.

        Parameters
        ----------
        condition : scalar
            Whether the debugger starts.
        *monitored_vars : Variable
            What is given on, and shown. At least one of the outputs must be used.
        """
        if not isinstance(condition, Variable):
            condition = as_tensor_variable(condition)
        if condition.type.ndim:
            raise ValueError(
                f"PdbBreakpoint {self.name!r}: expected a condition that is one boolean, "
                f"got {condition.type}"
            )
        watching = type(self)(self.name)
        # each output is an input, after the condition
        watching.view_map = {k: [k + 1] for k in range(len(monitored_vars))}
        outputs = [variable.type() for variable in monitored_vars]
        return Apply(watching, [condition, *monitored_vars], outputs)

    def do_constant_folding(self, fgraph, node):
        return False

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return input_shapes[1:]

    def connection_pattern(self, node):
        count = len(node.outputs)
        watched = [[k == other for other in range(count)] for k in range(count)]
        return [[False] * count, *watched]

    def pullback(self, inputs, outputs, cotangents):
        return [disconnected_type(), *cotangents]

    def pushforward(self, inputs, outputs, tangents):
        return tangents[1:]

    def perform(self, node, inputs, output_storage):
        condition, *values = inputs
        if condition:
            values = [
                output.type.filter(value)
                for output, value in zip(node.outputs, self._shown(values), strict=True)
            ]
        for storage, value in zip(output_storage, values, strict=True):
            storage[0] = value

    def _shown(self, values: list) -> list:
        """Start the debugger, and return what is in the list when the program goes on."""
        monitored = [np.array(value) for value in values]
        rule = "-" * 49
        print(
            f"\n\n{rule}\nConditional breakpoint '{self.name}' activated\n\n"
            "The monitored variables are stored, in order,\n"
            "in the list variable 'monitored' as NumPy arrays.\n\n"
            "Their contents can be altered and, when execution\n"
            f"resumes, the updated values will be used.\n{rule}"
        )
        load = next(load for name, load in _DEBUGGERS.items() if importlib.util.find_spec(name))
        load().set_trace()
        return monitored
