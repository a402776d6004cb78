"""Calls of small functions that sample from shared generators, prepared once.

The words of the generators are inputs and results of the function's segment. So a call is one of the
segment, which `prepared_call.py` prepares, between reading the generators' words and writing them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.link.native.run.calls import NativeSegment
from theano.link.native.run.prepared_call import PreparedCalls
from theano.support.data_classes import dataclass
from theano.tensor.numpy_samplers.generator_samples import GeneratorOfWords, WordsOfGenerator
from theano.tensor.numpy_samplers.generator_words import with_words, words_of


@dataclass(frozen=True)
class _Sampled:
    """A generator that a function advances.

    Attributes
    ----------
    generator
        The input.
    advanced
        The output that is its new value.
    before, after
        Its words, which the segment is given, and those that it returns.
    """

    generator: Variable
    advanced: Variable
    before: Variable
    after: Variable


class PreparedSamples:
    """The preparation of calls of a function that is one segment, but for its generators.

    Parameters
    ----------
    calls
        The preparation of those of the segment: words come last among inputs and outputs.
    generators, words
        The cells of the generators, and of their words.
    given
        The positions of the generators among the inputs of the function.
    """

    def __init__(
        self,
        calls: PreparedCalls,
        generators: Sequence[list],
        words: Sequence[list],
        given: frozenset[int],
    ):
        self._calls, self._generators, self._words, self._given = calls, generators, words, given
        self._takes_arguments = False

    @classmethod
    def of(
        cls, fgraph: FunctionGraph, native: NativeSegment, others: Sequence[Apply], storage_map: Any
    ) -> PreparedSamples | None:
        """Return them; None where a call does what is not prepared.

        Parameters
        ----------
        native
            The segment.
        others
            The nodes that Python runs.
        storage_map
            Where values lie.
        """
        # PyTensor's annotation says variables: it has the positions of outputs and of inputs
        updates: Any = fgraph.update_mapping or {}
        sampled = _sampled(fgraph, others, updates)
        if sampled is None:
            return None
        generators = {each.generator for each in sampled}
        advanced = {each.advanced for each in sampled}
        kept = [k for k, v in enumerate(fgraph.outputs) if v not in advanced]
        inputs = [v for v in fgraph.inputs if v not in generators]
        inputs += [each.before for each in sampled]
        place = {v: k for k, v in enumerate(inputs)}
        calls = PreparedCalls.of(
            native,
            inputs,
            [storage_map[v] for v in inputs],
            [*(fgraph.outputs[k] for k in kept), *(each.after for each in sampled)],
            {n: place[fgraph.inputs[updates[k]]] for n, k in enumerate(kept) if k in updates},
        )
        if calls is None:
            return None
        return cls(
            calls,
            [storage_map[each.generator] for each in sampled],
            [storage_map[each.before] for each in sampled],
            frozenset(fgraph.inputs.index(generator) for generator in generators),
        )

    def with_arguments(self, arguments: Mapping[int, bool]) -> PreparedSamples | None:
        """Return the same for calls that are given some inputs, as `PreparedCalls.with_arguments` has it."""
        if self._given.intersection(arguments):
            # a generator that the caller passes
            return None
        made = PreparedSamples(
            self._calls.with_arguments(arguments), self._generators, self._words, self._given
        )
        made._takes_arguments = True
        return made

    def next_call(self) -> Callable[..., Any] | None:
        """Return what makes the next calls, as `PreparedCalls.next_call` has it."""
        # without arguments, generators would be among the results
        prepared = self._calls.next_call() if self._takes_arguments else None
        if prepared is None:
            return None
        pairs = [*zip(self._generators, self._words, strict=True)]
        count = len(pairs)

        def call(*args: object) -> Any:
            for generator, words in pairs:
                words[0] = words_of(generator[0])
            outputs = prepared(*args)
            for _, words in pairs:
                words[0] = None
            if outputs is NotImplemented:
                return outputs
            for (generator, _), after in zip(pairs, outputs[-count:], strict=True):
                generator[0] = with_words(generator[0], after)
            return outputs[:-count]

        return call


def _sampled(
    fgraph: FunctionGraph, others: Sequence[Apply], updates: Mapping[int, int]
) -> list[_Sampled] | None:
    """Return the generators, if Python runs no more than to read and to write their words."""
    read = {node.outputs[0]: node.inputs[0] for node in others if node.op == WordsOfGenerator()}
    written = [node for node in others if isinstance(node.op, GeneratorOfWords)]
    if len(read) + len(written) < len(others) or len(read) != len(written):
        return None
    words = {generator: before for before, generator in read.items()}
    found = []
    for node in written:
        after, generator = node.inputs
        output = fgraph.outputs.index(node.outputs[0]) if node.outputs[0] in fgraph.outputs else -1
        own = output in updates and fgraph.inputs[updates[output]] is generator
        if not (own and node.op.inplace and generator in words):
            return None
        found.append(_Sampled(generator, node.outputs[0], words[generator], after))
    return found if len({each.generator for each in found}) == len(read) else None
