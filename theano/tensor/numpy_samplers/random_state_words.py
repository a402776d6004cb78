"""NumPy's `RandomState` as a vector of words, which native code can draw from."""

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.shapes import shape_rule, shapes_by
from theano.tensor.numpy_samplers.random_function import (
    RandomFunction,
    random_state_type,
    state_from,
)

__all__ = [
    "WORDS",
    "SampleFromWords",
    "StateConversion",
    "random_state_of_words",
    "words_of_random_state",
    "words_type",
]

_GENERATOR = 624
# Besides the generator's own: the next of them to use, whether a normal sample is left, and that sample.
WORDS = _GENERATOR + 4

words_type = TensorType("uint32", shape=(WORDS,))


def _words(state: np.random.RandomState) -> np.ndarray:
    given = state.get_state(legacy=False)
    if given["bit_generator"] != "MT19937":
        raise TypeError(f"expected a RandomState of MT19937, got one of {given['bit_generator']}")
    words = np.empty(WORDS, dtype="uint32")
    words[:_GENERATOR] = given["state"]["key"]
    words[_GENERATOR : _GENERATOR + 2] = given["state"]["pos"], given["has_gauss"]
    words[_GENERATOR + 2 :].view("float64")[0] = given["gauss"]
    return words


def _state(words: np.ndarray) -> np.random.RandomState:
    following, left = words[_GENERATOR : _GENERATOR + 2].tolist()
    return state_from(
        {
            "bit_generator": "MT19937",
            "state": {"key": words[:_GENERATOR], "pos": following},
            "has_gauss": left,
            "gauss": np.ascontiguousarray(words[_GENERATOR + 2 :]).view("float64")[0],
        }
    )


class StateConversion(Op):
    """The same state in another form, through which no derivative goes."""

    __props__: tuple[str, ...] = ()
    why_no_native_code = "a generator, a Python object; it draws from the words"

    def connection_pattern(self, node):
        return [[False] for _ in node.inputs]

    def pullback(self, inputs, outputs, cotangents):
        return [disconnected_type() for _ in inputs]

    def pushforward(self, inputs, outputs, tangents):
        return [disconnected_type()]


class WordsOfRandomState(StateConversion):
    """The words of a generator's state."""

    def make_node(self, state):
        return Apply(self, [state], [words_type()])

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [[pt.constant(WORDS)]]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = _words(inputs[0])


class RandomStateOfWords(StateConversion):
    """A generator whose state has these words."""

    def make_node(self, words):
        return Apply(self, [words], [random_state_type()])

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [None]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = _state(inputs[0])


words_of_random_state = WordsOfRandomState()
random_state_of_words = RandomStateOfWords()


class SampleFromWords(Op):
    """Draw as `sampler` does, from a generator's words.

    Parameters
    ----------
    sampler : RandomFunction
    """

    __props__ = ("sampler",)

    def __init__(self, sampler: RandomFunction):
        # the generator that is made from the words is nobody else's
        self.sampler = RandomFunction(sampler.fn, sampler.outtype, True, sampler.ndim_added)

    def __str__(self):
        return f"DrawFromWords{{{self.sampler.exec_fn.__name__}}}"

    def make_node(self, words, shape, *args):
        _, *given = self.sampler.make_node(random_state_type(), shape, *args).inputs
        return Apply(self, [words, *given], [words_type(), self.sampler.outtype()])

    def connection_pattern(self, node):
        return self.sampler.connection_pattern(node)

    def pullback(self, inputs, outputs, cotangents):
        return self.sampler.pullback(inputs, outputs, cotangents)

    def pushforward(self, inputs, outputs, tangents):
        return self.sampler.pushforward(inputs, outputs, tangents)

    @shape_rule
    def infer_shape(self, node, input_shapes):
        _, sampled = shapes_by(self.sampler, node, input_shapes)
        return [[pt.constant(WORDS)], sampled]

    def perform(self, node, inputs, output_storage):
        words, *given = inputs
        self.sampler.perform(node, [_state(words), *given], output_storage)
        output_storage[0][0] = _words(output_storage[0][0])
