"""Traces a graph on padded arrays, for all lengths of a bucket at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.type import TensorType

from theano.link.xla.buckets.numbers import Varying, each_of, number, numbers_of
from theano.link.xla.buckets.padding import CannotBucket, Padded
from theano.link.xla.context import Context, is_traced
from theano.link.xla.interpret import NodeFailed, run_named
from theano.link.xla.static_inputs import SHAPES
from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.tensor import IfElse

Rule = Callable[..., Any]
_RULES: dict[type, Rule] = {}
_MAKES_ARRAYS: list[type] = []


def pads(*classes: type, makes_arrays: bool = False) -> Callable[[Rule], Rule]:
    """Register the decorated function as what these classes do with padded arrays.

    It is called as ``rule(op, node, inputs, trace)`` where an input is `Padded` or `Varying`, and
    returns the output, or a list of several.

    Parameters
    ----------
    *classes : type
    makes_arrays : bool
        Whether the results may be arrays although all inputs are numbers.
    """

    def register(function: Rule) -> Rule:
        _RULES.update(dict.fromkeys(classes, function))
        if makes_arrays:
            _MAKES_ARRAYS.extend(classes)
        return function

    return register


class BucketTrace:
    """The values of a graph while it is traced for all lengths of a bucket.

    Parameters
    ----------
    context : Context
    cases : int
        How many combinations of lengths there are.
    case : traced integer
        Which of them a call has.
    """

    def __init__(self, context: Context, cases: int, case: object):
        self.context, self.cases, self.case = context, cases, case
        self.values: dict[Variable, Any] = {}

    def run(self, nodes: Sequence[Apply]) -> None:
        """Compute the outputs of nodes, in an order in which they can run."""
        for node in nodes:
            if all(variable in self.values for variable in node.outputs):
                continue
            before = len(self.context.requirements)
            inputs = [self.value(v) for v in node.inputs]
            try:
                results = self._results(node, inputs)
            except CannotBucket as error:
                raise CannotBucket(f"{node.op}: {error}") from None
            except NodeFailed:
                raise
            except Exception as error:
                raise NodeFailed(node, inputs) from error
            required = self.context.requirements
            required[before:] = [replace(r, node=r.node or node) for r in required[before:]]
            for variable, result in zip(node.outputs, results, strict=True):
                self.values.setdefault(variable, result)

    def graph(self, graph: FunctionGraph, inputs: Sequence[Any]) -> list[Any]:
        """Return the outputs of its own graph, such as that inside an operation."""
        inside = BucketTrace(self.context, self.cases, self.case)
        inside.values.update(zip(graph.inputs, inputs, strict=True))
        inside.run(graph.toposort())
        return [inside.value(variable) for variable in graph.outputs]

    def value(self, variable: Variable) -> Any:
        """Return an array or number, `Padded`, or `Varying`."""
        return variable.data if isinstance(variable, Constant) else self.values[variable]

    def _results(self, node: Apply, inputs: list[Any]) -> list[Any]:
        if isinstance(node.op, IfElse):
            raise CannotBucket("only one branch of a choice runs")
        if not any(isinstance(x, Padded | Varying) for x in inputs):
            return self.lower(node, inputs)
        if isinstance(node.op, SHAPES):
            return [self._shape(node.op, inputs[0])]
        if not isinstance(node.op, tuple(_MAKES_ARRAYS)) and _are_numbers(node, inputs):
            return numbers_of(node, inputs, self.cases)
        rule = next((_RULES[kind] for kind in type(node.op).__mro__ if kind in _RULES), None)
        if rule is None:
            raise CannotBucket("there is no rule for padded rows")
        found = rule(node.op, node, inputs, self)
        return list(found) if isinstance(found, list) else [found]

    def _shape(self, op: Op, x: object) -> Any:
        shape = number(shape_each(x, self.cases))
        if not hasattr(op, "i"):
            return shape
        return number(each_of(shape, self.cases)[:, op.i])

    def lower(self, node: Apply, inputs: Sequence[Any]) -> list[Any]:
        """Run a node on what it would have with the greatest lengths."""
        given = [x.value if isinstance(x, Padded) else x for x in inputs]
        given = [x.last if isinstance(x, Varying) else x for x in given]
        known = self.known() if isinstance(node.op, Scan) else {}
        return run_named(node, given, replace(self.context, known=known))

    def known(self) -> dict[Variable, Any]:
        """Return the values that are the same for all lengths, or as long."""
        return {k: v for k, v in self.values.items() if not isinstance(v, Padded | Varying)}

    def number(self, value: object) -> Any:
        """Return what a call has of a number for each combination of lengths, or of a `Varying`."""
        import jax.numpy as jnp

        each = value.each if isinstance(value, Varying) else np.asarray(value)
        same = (each == each[0]).all()
        return each[0] if same else jnp.asarray(each)[self.case]

    def data(self, value: object) -> Any:
        """Return a number that varies as a traced one; any other value as it is."""
        return self.number(value) if isinstance(value, Varying) else value

    def filled(self, part: Padded, with_what: object) -> Padded:
        """Return an array with a number as padding."""
        return part.filled(with_what, self.number(part.lengths))


def shape_each(x: object, cases: int) -> np.ndarray:
    """Return the shape of an array for each combination of lengths."""
    shape = np.array(np.broadcast_to(np.array(np.shape(_array(x)), "int64"), (cases, _ndim(x))))
    if isinstance(x, Padded):
        shape[:, x.axis] = x.lengths
    return shape


def _array(x: object) -> Any:
    return x.value if isinstance(x, Padded) else x.last if isinstance(x, Varying) else x


def _ndim(x: object) -> int:
    return np.ndim(_array(x))


def _are_numbers(node: Apply, inputs: Sequence[Any]) -> bool:
    small = all(
        isinstance(v.type, ScalarType) or (isinstance(v.type, TensorType) and v.type.ndim < 2)
        for v in node.outputs
    )
    return small and not any(isinstance(x, Padded) or is_traced(x) for x in inputs)
