"""The key of a generator: what JAX's generators draw from, as two words of 32 bits.

It is a function of the generator's state. The generator after a draw is another one of the same class,
seeded by the key after the draw and by bits of the generator before it; so two calls differ, and the
same state gives the same numbers.
"""

from __future__ import annotations

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.pytensor_internals.operations.random import copied_generator
from theano.tensor.numpy_samplers.generator_samples import Unfolded

key_type = TensorType("uint32", shape=(2,))

# words of the generator before a draw that seed the one after it
_WORDS_OF_SEED = 8


class KeyOfGenerator(Unfolded):
    """The key of a generator, which does not advance."""

    def make_node(self, generator):
        return Apply(self, [generator], [key_type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = _words(copied_generator(inputs[0]), 2)


class GeneratorOfKey(Unfolded):
    """The generator after draws, given the key after them and the generator before them."""

    def make_node(self, key, generator):
        return Apply(self, [key, generator], [generator.type()])

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [None]

    def perform(self, node, inputs, output_storage):
        key, before = inputs
        own = _words(copied_generator(before), _WORDS_OF_SEED)
        seed = np.random.SeedSequence([*own.tolist(), *key.tolist()])
        output_storage[0][0] = np.random.Generator(type(before.bit_generator)(seed))


def _words(generator: np.random.Generator, count: int) -> np.ndarray:
    return generator.integers(2**32, size=count, dtype="uint32")
