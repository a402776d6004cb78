"""Calls of small functions of several segments, prepared once: each part as `prepared_call.py` has it.

What one part makes is an argument of those after it, so that nothing is shared by calls of several
threads at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph

from theano.link.native.run.calls import NativeSegment
from theano.link.native.run.prepared_call import PreparedCalls
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class _PreparedPart:
    """A segment: what prepares its calls, what it reads that may be an argument, and what it makes."""

    calls: PreparedCalls
    inputs: Sequence[Variable]
    made: Sequence[Variable]


class PreparedParts:
    """The preparation of calls of a function that is several segments, one after the other.

    Parameters
    ----------
    parts
        The segments in order.
    inputs, outputs
        The function's variables.
    arguments
        As in `PreparedCalls.with_arguments`.
    """

    def __init__(
        self,
        parts: Sequence[_PreparedPart],
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        arguments: Mapping[int, bool],
    ):
        self._parts, self._inputs, self._outputs = parts, inputs, outputs
        self._count = len(arguments)
        numbers = {inputs[k]: takes_numbers for k, takes_numbers in arguments.items()}
        # where values lie: those of arguments, and then what each part makes
        places = {variable: k for k, variable in enumerate(numbers)}
        self._steps: list[tuple[PreparedCalls, list[int]]] = []
        for part in parts:
            given = {
                k: numbers.get(variable, False)
                for k, variable in enumerate(part.inputs)
                if variable in places
            }
            read = [places[part.inputs[k]] for k in given]
            self._steps.append((part.calls.with_arguments(given), read))
            for variable in part.made:
                places[variable] = len(places)
        self._results = [places[variable] for variable in outputs]

    @classmethod
    def of(
        cls, fgraph: FunctionGraph, natives: Sequence[NativeSegment], storage_map: Any
    ) -> PreparedParts | None:
        """Return them; None where a call does what is not prepared."""
        if fgraph.update_mapping:
            return None
        parts: list[_PreparedPart] = []
        made: set[Variable] = set()
        for native in natives:
            # the first one looks at all arguments, whether it reads them or not
            read = [v for p in native.segment.inputs if (v := p.variable) is not None]
            inputs = read if parts else list(dict.fromkeys([*fgraph.inputs, *read]))
            own = [v for p in native.segment.outputs if (v := p.variable) is not None]
            cells = [storage_map[variable] for variable in inputs]
            calls = PreparedCalls.of(native, inputs, cells, own, {}, overwritten=made)
            if calls is None:
                return None
            parts.append(_PreparedPart(calls, inputs, own))
            made.update(own)
        if not made.issuperset(fgraph.outputs):
            return None
        return cls(parts, fgraph.inputs, fgraph.outputs, {})

    def with_arguments(self, arguments: Mapping[int, bool]) -> PreparedParts:
        """Return the same for calls that are given some inputs, as `PreparedCalls.with_arguments` has it."""
        return PreparedParts(self._parts, self._inputs, self._outputs, arguments)

    def next_call(self) -> Callable[..., Any] | None:
        """Return what makes the next calls, as `PreparedCalls.next_call` has it."""
        if not all(calls.is_settled for calls, _ in self._steps):
            return None
        steps = [(calls.next_call(), read) for calls, read in self._steps]
        count, results = self._count, self._results

        def call(*args: object) -> Any:
            if len(args) != count:
                return NotImplemented
            values = list(args)
            for prepared, read in steps:
                assert prepared is not None
                made = prepared(*[values[k] for k in read])
                if made is NotImplemented:
                    return made
                values += made
            return [values[k] for k in results]

        return call
