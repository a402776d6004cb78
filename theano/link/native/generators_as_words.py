"""generators_as_words: what draws from NumPy's generators draws from their words instead.

It is legal because the samples from the words are those of the generator, and a copy of the words is
a copy of the generator.

Loops get the words of `RandomState` and of `Generator`; a random variable outside of loops, those of
its `Generator`.
"""

from __future__ import annotations

from pytensor.graph.fg import FunctionGraph

from theano.link.generators_as_arrays import (
    Form,
    Forms,
    is_generator,
    on_arrays,
    samples_from_arrays,
)
from theano.link.native.build.compile_ahead import TAG
from theano.link.native.lowering.operations.sampling.generator_samples import why_no_code
from theano.link.native.lowering.operations.sampling.samples_in_steps import why_not_words
from theano.pytensor_internals.graphs.rewriting import GraphRewriter
from theano.pytensor_internals.operations.tensor import RandomType
from theano.rewriting.database import optdb
from theano.scan_module.scan_opt.loop_rewriter import loops_of, replace_values
from theano.tensor.numpy_samplers.generator_samples import (
    GeneratorOfWords,
    SampleFromGenerator,
    generator_words_type,
    words_of_generator,
)
from theano.tensor.numpy_samplers.random_function import RandomStateType
from theano.tensor.numpy_samplers.random_state_words import (
    SampleFromWords,
    random_state_of_words,
    words_of_random_state,
    words_type,
)

WORDS = Forms(
    {
        RandomStateType: Form(
            words_type,
            lambda generator: words_of_random_state.make_node(generator).outputs[0],
            lambda words, _: random_state_of_words.make_node(words).outputs[0],
            type(random_state_of_words),
            lambda op, inputs: SampleFromWords(op).make_node(*inputs).outputs,
        ),
        RandomType: Form(
            generator_words_type,
            lambda generator: words_of_generator.make_node(generator).outputs[0],
            lambda words, before: GeneratorOfWords().make_node(words, before).outputs[0],
            GeneratorOfWords,
            lambda op, inputs: SampleFromGenerator(op).make_node(*inputs).outputs,
        ),
    }
)


class GeneratorsAsWords(GraphRewriter):
    """Gives random variables, and loops that draw, the words of their generators."""

    def apply(self, fgraph: FunctionGraph) -> None:
        """Visit each loop, then what draws outside of loops."""
        if not any(map(is_generator, fgraph.variables)):
            return
        for node in list(loops_of(fgraph)):
            if node in fgraph.apply_nodes and why_not_words(node) == "":
                replace_values(fgraph, on_arrays(node, WORDS), "generators_as_words")
        samples = samples_from_arrays(fgraph, WORDS, why_no_code)
        replace_values(fgraph, samples, "generators_as_words")


# before the compiler is started ahead for loops
optdb.register("generators_as_words", GeneratorsAsWords(), TAG, position=0.0805)
