"""generators_as_words: what draws from NumPy's generators draws from their words instead.

    generator -> loop   =>   generator -> words -> the loop on words -> generator

C cannot draw from a Python object. The words are read before and a generator gets them after,
so that what is native touches an array only. It is legal because the samples from the words are those
of the generator, and a copy of the words is a copy of the generator.

Loops get the words of `RandomState` and of `Generator`; a random variable outside of loops, those of
its `Generator`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import toposort
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.type import TensorType

from theano.link.native.build.compile_ahead import TAG
from theano.link.native.lowering.operations.sampling.generator_samples import why_no_code
from theano.link.native.lowering.operations.sampling.samples_in_steps import (
    is_generator,
    why_not_words,
)
from theano.pytensor_internals.graphs.graph import copy_of_graph_inside
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.rewriting import GraphRewriter, copy_stack_trace
from theano.pytensor_internals.graphs.scan import Scan
from theano.rewriting.database import optdb
from theano.scan_module.loop.arguments import Loop, unpack
from theano.scan_module.scan_opt.loop_rewriter import loops_of, replace_values
from theano.tensor.numpy_samplers.generator_samples import (
    GeneratorOfWords,
    SampleFromGenerator,
    generator_words_type,
    words_of_generator,
)
from theano.tensor.numpy_samplers.random_function import RandomFunction, RandomStateType
from theano.tensor.numpy_samplers.random_state_words import (
    SampleFromWords,
    random_state_of_words,
    words_of_random_state,
    words_type,
)


class GeneratorsAsWords(GraphRewriter):
    """Gives random variables, and loops that draw, the words of their generators."""

    def apply(self, fgraph: FunctionGraph) -> None:
        """Visit each loop, then what draws outside of loops."""
        if not any(map(is_generator, fgraph.variables)):
            return
        for node in list(loops_of(fgraph)):
            if node in fgraph.apply_nodes and why_not_words(node) == "":
                replace_values(fgraph, on_words(node), "generators_as_words")
        replace_values(fgraph, _samples_from_words(fgraph), "generators_as_words")


def on_words(node: Apply) -> Mapping[Variable, Variable]:
    """Return what takes the place of the outputs of a loop."""
    loop = unpack(node)
    built = _with_words(loop, _words_of).build(type(node.op))
    values = dict(zip(node.outputs, built.node.outputs, strict=True))
    for each in loop.untraced:
        if each.output is not None and is_generator(each.output):
            values[each.output] = _generator_of(values[each.output], each.outer)
    return values


def _samples_from_words(fgraph: FunctionGraph) -> Mapping[Variable, Variable]:
    """Return what takes the place of random variables, and of the generators after them."""
    values: dict[Variable, Variable] = {}
    for node in in_order(fgraph):
        if isinstance(node.op, RandomVariable) and not why_no_code(node):
            generator, *read = node.inputs
            given = [values.get(variable, variable) for variable in read]
            # those that are drawn from one after the other pass on their words
            before = _words_of(values.get(generator, generator))
            words, samples = SampleFromGenerator(node.op).make_node(before, *given).outputs
            values[node.outputs[0]] = _generator_of(words, _first(generator, values))
            values[node.outputs[1]] = samples
            copy_stack_trace(node.outputs[1], samples)
    return values


def _first(generator: Variable, values: Mapping[Variable, Variable]) -> Variable:
    """Return the generator that was there before the samples that led to one."""
    made = values.get(generator, generator)
    made_by = made.owner
    return made_by.inputs[1] if made_by and isinstance(made_by.op, GeneratorOfWords) else made


def _words_of(variable: Variable) -> Variable:
    """Return the words of a generator; what is none stays."""
    if not is_generator(variable):
        return variable
    made_by = variable.owner
    if isinstance(variable.type, RandomStateType):
        return words_of_random_state.make_node(variable).outputs[0]
    if made_by is not None and isinstance(made_by.op, GeneratorOfWords):
        return made_by.inputs[0]
    return words_of_generator.make_node(variable).outputs[0]


def _generator_of(words: Variable, before: Variable) -> Variable:
    """Return the generator that has words, given the one that they were read from."""
    if isinstance(before.type, RandomStateType):
        return random_state_of_words.make_node(words).outputs[0]
    return GeneratorOfWords().make_node(words, before).outputs[0]


def _with_words(loop: Loop, outside: Callable[[Variable], Variable]) -> Loop:
    """Return the loop on words; ``outside`` says what stands for what it is given."""
    known: dict[Variable, Variable] = {
        variable: _type_of_words(variable)(name=variable.name)
        for variable in loop.inner_inputs
        if is_generator(variable)
    }
    for node in toposort(loop.inner_outputs):
        if any(variable in known for variable in node.inputs):
            known.update(zip(node.outputs, _recomputed(node, known), strict=True))
    read = [known.get(variable, variable) for variable in loop.inner_inputs]
    computed = [known.get(variable, variable) for variable in loop.inner_outputs]
    stepped = loop.with_step(read, computed)
    return replace(
        stepped,
        n_steps=outside(loop.n_steps),
        sequences=tuple(replace(each, outer=outside(each.outer)) for each in stepped.sequences),
        states=tuple(replace(each, outer=outside(each.outer)) for each in stepped.states),
        traces=tuple(replace(each, length=outside(each.length)) for each in stepped.traces),
        untraced=tuple(replace(each, outer=outside(each.outer)) for each in stepped.untraced),
        invariants=tuple(replace(each, outer=outside(each.outer)) for each in stepped.invariants),
    )


def _type_of_words(generator: Variable) -> TensorType:
    return words_type if isinstance(generator.type, RandomStateType) else generator_words_type


def _recomputed(node: Apply, known: Mapping[Variable, Variable]) -> list[Variable]:
    """Return the outputs of a node of a step, given what stands for its inputs."""

    def given(variable: Variable) -> Variable:
        return known.get(variable, variable)

    inputs = [given(variable) for variable in node.inputs]
    if isinstance(node.op, RandomFunction):
        return SampleFromWords(node.op).make_node(*inputs).outputs
    if isinstance(node.op, RandomVariable):
        return SampleFromGenerator(node.op).make_node(*inputs).outputs
    if isinstance(node.op, Scan):
        return _with_words(unpack(node), given).build(type(node.op)).node.outputs
    if isinstance(node.op, OpFromGraph) and any(map(is_generator, node.inputs)):
        return _inlined(node.op, inputs)
    return node.clone_with_new_inputs(inputs).outputs


def _inlined(op: OpFromGraph, inputs: list[Variable]) -> list[Variable]:
    """Return the outputs of the graph of an operator on inputs, of which generators are words."""
    graph = copy_of_graph_inside(op)
    values = {
        inner: given if is_generator(inner) else inner.type.filter_variable(given)
        for inner, given in zip(graph.inputs, inputs, strict=True)
    }
    for node in graph.toposort():
        values.update(zip(node.outputs, _recomputed(node, values), strict=True))
    return [values.get(variable, variable) for variable in graph.outputs]


# before the compiler is started ahead for loops
optdb.register("generators_as_words", GeneratorsAsWords(), TAG, position=0.0805)
