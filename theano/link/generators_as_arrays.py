"""Generators of NumPy as arrays, from which loops and what is outside of them draw.

    generator -> loop   =>   generator -> array -> the loop on arrays -> generator

An engine cannot draw from a Python object. An array is read of a generator before, and a generator
gets it after, so that what the engine runs touches arrays only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import toposort
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.graph import copy_of_graph_inside
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace
from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.tensor import RandomType
from theano.scan_module.loop.arguments import Loop, unpack
from theano.support.data_classes import dataclass
from theano.tensor.numpy_samplers.random_function import RandomFunction, RandomStateType


def is_generator(variable: Variable) -> bool:
    """Return whether a variable is a NumPy generator."""
    return isinstance(variable.type, RandomStateType | RandomType)


@dataclass(frozen=True)
class Form:
    """An array that stands for generators of a type.

    Attributes
    ----------
    array_type
        Of the array.
    read
        Returns the array of a generator.
    made
        Returns the generator that has an array, given the one whose array was read.
    converted
        The class of the operation by which that is made.
    sampled
        Returns the array after a random variable, and its samples, given its inputs.
    """

    array_type: TensorType
    read: Callable[[Variable], Variable]
    made: Callable[[Variable, Variable], Variable]
    converted: type
    sampled: Callable[[Any, list[Variable]], list[Variable]]


class Forms:
    """The forms of generators in an engine, by the type of generators that have one.

    Parameters
    ----------
    forms
        The type of the generators -> the form.
    """

    def __init__(self, forms: Mapping[type, Form]):
        self._forms = forms

    def of(self, variable: Variable) -> Form | None:
        """Return the form of a generator; none for what is no generator."""
        if not is_generator(variable):
            return None
        return next(f for kind, f in self._forms.items() if isinstance(variable.type, kind))

    def array_of(self, variable: Variable) -> Variable:
        """Return the array of a generator; what is none stays."""
        form = self.of(variable)
        if form is None:
            return variable
        made_by = variable.owner
        if made_by is not None and isinstance(made_by.op, form.converted):
            return made_by.inputs[0]
        return form.read(variable)

    def generator_of(self, array: Variable, before: Variable) -> Variable:
        """Return the generator that has an array, given the one that it was read from."""
        form = self.of(before)
        assert form is not None
        return form.made(array, before)


def on_arrays(node: Apply, forms: Forms) -> Mapping[Variable, Variable]:
    """Return what takes the place of the outputs of a loop."""
    loop = unpack(node)
    built = _with_arrays(loop, forms, forms.array_of).build(type(node.op))
    values = dict(zip(node.outputs, built.node.outputs, strict=True))
    for each in loop.untraced:
        if each.output is not None and is_generator(each.output):
            values[each.output] = forms.generator_of(values[each.output], each.outer)
    return values


def samples_from_arrays(
    fgraph: FunctionGraph, forms: Forms, why_not: Callable[[Apply], str]
) -> Mapping[Variable, Variable]:
    """Return what takes the place of random variables, and of the generators after them.

    Parameters
    ----------
    why_not
        Why a random variable cannot draw from an array; empty if it can.
    """
    values: dict[Variable, Variable] = {}
    for node in in_order(fgraph):
        if not isinstance(node.op, RandomVariable) or why_not(node):
            continue
        generator, *read = node.inputs
        form = forms.of(generator)
        assert form is not None
        given = [values.get(variable, variable) for variable in read]
        # those that are drawn from one after the other pass on their array
        before = forms.array_of(values.get(generator, generator))
        array, samples = form.sampled(node.op, [before, *given])
        first = _first(generator, values, form)
        values[node.outputs[0]] = forms.generator_of(array, first)
        values[node.outputs[1]] = samples
        copy_stack_trace(node.outputs[1], samples)
    return values


def _first(generator: Variable, values: Mapping[Variable, Variable], form: Form) -> Variable:
    """Return the generator that was there before the samples that led to one."""
    made = values.get(generator, generator)
    made_by = made.owner
    return made_by.inputs[1] if made_by and isinstance(made_by.op, form.converted) else made


def _with_arrays(loop: Loop, forms: Forms, outside: Callable[[Variable], Variable]) -> Loop:
    """Return the loop on arrays; ``outside`` says what stands for what it is given."""

    def tensor(variable: Variable) -> TensorVariable:
        return known_tensor(outside(variable))

    known: dict[Variable, Variable] = {
        variable: form.array_type(name=variable.name)
        for variable in loop.inner_inputs
        if (form := forms.of(variable)) is not None
    }
    for node in toposort(loop.inner_outputs):
        if any(variable in known for variable in node.inputs):
            known.update(zip(node.outputs, _recomputed(node, known, forms), strict=True))
    read = [known.get(variable, variable) for variable in loop.inner_inputs]
    computed = [known.get(variable, variable) for variable in loop.inner_outputs]
    stepped = loop.with_step(read, computed)
    return replace(
        stepped,
        n_steps=tensor(loop.n_steps),
        sequences=tuple(replace(each, outer=tensor(each.outer)) for each in stepped.sequences),
        states=tuple(replace(each, outer=tensor(each.outer)) for each in stepped.states),
        traces=tuple(replace(each, length=tensor(each.length)) for each in stepped.traces),
        untraced=tuple(replace(each, outer=outside(each.outer)) for each in stepped.untraced),
        invariants=tuple(replace(each, outer=outside(each.outer)) for each in stepped.invariants),
    )


def _recomputed(node: Apply, known: Mapping[Variable, Variable], forms: Forms) -> list[Variable]:
    """Return the outputs of a node of a step, given what stands for its inputs."""

    def given(variable: Variable) -> Variable:
        return known.get(variable, variable)

    inputs = [given(variable) for variable in node.inputs]
    if isinstance(node.op, RandomFunction | RandomVariable):
        form = forms.of(node.inputs[0])
        assert form is not None
        return form.sampled(node.op, inputs)
    if isinstance(node.op, Scan):
        return _with_arrays(unpack(node), forms, given).build(type(node.op)).node.outputs
    if isinstance(node.op, OpFromGraph) and any(map(is_generator, node.inputs)):
        return _inlined(node.op, inputs, forms)
    return node.clone_with_new_inputs(inputs).outputs


def _inlined(op: OpFromGraph, inputs: list[Variable], forms: Forms) -> list[Variable]:
    """Return the outputs of the graph of an operator on inputs, of which generators are arrays."""
    graph = copy_of_graph_inside(op)
    values = {
        inner: given if is_generator(inner) else inner.type.filter_variable(given)
        for inner, given in zip(graph.inputs, inputs, strict=True)
    }
    for node in graph.toposort():
        values.update(zip(node.outputs, _recomputed(node, values, forms), strict=True))
    return [values.get(variable, variable) for variable in graph.outputs]
