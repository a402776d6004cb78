"""Draws from the words of NumPy's `Generator`, and the words of generators in graphs."""

from __future__ import annotations

import threading

import numpy as np
from pytensor.gradient import disconnected_type, grad_undefined
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, dfs_rewriter, node_rewriter
from theano.pytensor_internals.graphs.shapes import shape_rule, shapes_by
from theano.pytensor_internals.operations.random import (
    RandomGeneratorType,
    copied_generator,
    in_place,
)
from theano.rewriting.database import FAST_RUN_TAG, register_for_tags
from theano.tensor.numpy_samplers.generator_words import with_words, words_of
from theano.tensor.numpy_samplers.random_state_words import StateConversion

__all__ = [
    "GeneratorOfWords",
    "SampleFromArray",
    "SampleFromGenerator",
    "Unfolded",
    "generator_words_type",
    "words_of_generator",
]

generator_words_type = TensorType("uint64", shape=(None,))


class Unfolded(StateConversion):
    """A conversion that is made in each call: words hold addresses of this process, which no graph may keep."""

    def do_constant_folding(self, fgraph, node):
        return False


class WordsOfGenerator(Unfolded):
    """The words of a generator."""

    def make_node(self, generator):
        return Apply(self, [generator], [generator_words_type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = words_of(inputs[0])


words_of_generator = WordsOfGenerator()


class GeneratorOfWords(Unfolded):
    """A generator with the state that words have, given the one that they were read from.

    Parameters
    ----------
    inplace : bool
        Whether that one itself advances, instead of a copy.
    """

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False):
        self.inplace = inplace
        if inplace:
            self.destroy_map = {0: [1]}

    def make_node(self, words, generator):
        return Apply(self, [words, generator], [generator.type()])

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [None]

    def perform(self, node, inputs, output_storage):
        words, generator = inputs
        if not self.inplace:
            generator = copied_generator(generator)
        output_storage[0][0] = with_words(generator, words)


class _Own(threading.local):
    """A generator of each thread, which samples are drawn from."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(0)


_own = _Own()


class SampleFromArray(Op):
    """Draw as a random variable of PyTensor does, from an array that stands for a generator.

    Parameters
    ----------
    sampler : RandomVariable
    """

    __props__ = ("sampler",)
    default_output = 1

    def __init__(self, sampler: RandomVariable):
        # the generator that is made from the array is nobody else's
        self.sampler = in_place(sampler)

    def __str__(self):
        return f"{type(self).__name__}{{{self.sampler.name}}}"

    def make_node(self, array, size, *parameters):
        node = self.sampler.make_node(RandomGeneratorType()(), size, *parameters)
        return Apply(self, [array, *node.inputs[1:]], [array.type(), node.outputs[1].type()])

    def connection_pattern(self, node):
        return [[False, False], [False, False], *([False, True] for _ in node.inputs[2:])]

    def pullback(self, inputs, outputs, cotangents):
        undefined = [
            grad_undefined(self, k, value, "samples have no gradient")
            for k, value in enumerate(inputs[2:], 2)
        ]
        return [disconnected_type(), disconnected_type(), *undefined]

    def pushforward(self, inputs, outputs, tangents):
        return [disconnected_type() for _ in outputs]

    @shape_rule
    def infer_shape(self, node, input_shapes):
        array, *_ = input_shapes
        _, sampled = shapes_by(self.sampler, node, input_shapes)
        return [array, sampled]


class SampleFromGenerator(SampleFromArray):
    """Draw as a random variable of PyTensor does, from a generator's words."""

    def perform(self, node, inputs, output_storage):
        words, *given = inputs
        # a generator takes long to make; this one is nobody else's
        generator = _own.generator = with_words(_own.generator, words)
        self.sampler.perform(node, [generator, *given], [[None], output_storage[1]])
        output_storage[0][0] = words_of(generator)


@node_rewriter([GeneratorOfWords], inplace=True)
def _advance_in_place(fgraph, node):
    if node.op.inplace:
        return False
    advanced = GeneratorOfWords(inplace=True).make_node(*node.inputs).outputs
    copy_stack_trace(node.outputs, advanced)
    return advanced


register_for_tags(
    "generator_of_words_inplace",
    dfs_rewriter(_advance_in_place, ignore_newtrees=True),
    FAST_RUN_TAG,
    "inplace",
    position=99,
)
