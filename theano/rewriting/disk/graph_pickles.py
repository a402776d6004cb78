"""Graphs as pickles: what a graph holds is written, and its inputs are those of who reads it.

What a graph holds may come from this package, PyTensor, PyMC and NumPy only: code of the user's may
change while its name stays.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import ScalarConstant, ScalarType
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorConstant

from theano.pytensor_internals.graphs.graph import HISTORY, Scratchpad, read_tag
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.scan import step_of
from theano.rewriting.disk import admitted
from theano.rewriting.disk.admitted import PACKAGES

KNOWN_CODE = {
    *PACKAGES,
    "numpy",
    "builtins",
    "collections",
    "copyreg",
    "functools",
    "pathlib",
}

# what most of a graph consists of, which is neither an input nor code
_AS_THEY_ARE = frozenset(
    {Apply, TensorType, ScalarType, TensorConstant, ScalarConstant, np.ndarray}
)


class NotCached(Exception):
    """A graph holds what is not known to stay the same under its name."""


NOT_STORABLE = (NotCached, pickle.PicklingError, RecursionError, TypeError, AttributeError)


class GraphPickler(admitted.Pickler):
    """Writes inputs as their positions, and refuses code that is not known."""

    def __init__(self, file: io.BytesIO, inputs: Sequence[Variable]):
        super().__init__(file)
        self._positions = {id(variable): k for k, variable in enumerate(inputs)}

    def reducer_override(self, value: Any) -> Any:
        """Return what is written of a value, where that is not what it says itself."""
        kind = type(value)
        if kind is Scratchpad:
            return _tag, (lasting(value),)
        if kind in _AS_THEY_ARE:
            return NotImplemented
        position = self._positions.get(id(value))
        if position is not None:
            return given_input, (position,)
        # of each value: to ask an abstract class whether it is an instance takes three times as long
        bases = kind.__mro__
        if FunctionGraph in bases:
            return _inner_graph, self.inner_graph(value)
        if type in bases or kind is FunctionType:
            check_known(value)
        return self.refuse(value)

    def inner_graph(self, graph: FunctionGraph) -> tuple[Any, ...]:
        """Return what is written of a loop's step."""
        return list(graph.inputs), in_order(graph), list(graph.outputs)

    def refuse(self, value: object) -> Any:
        """Refuse what could not be read."""
        return super().reducer_override(value)


class GraphUnpickler(admitted.Unpickler):
    """Reads a graph whose inputs are there."""

    def __init__(self, file: io.BytesIO, inputs: Sequence[Variable]):
        super().__init__(file)
        self._inputs = inputs

    def find_class(self, module: str, name: str) -> Any:
        """Return the class or function of that name; inputs are taken from those that are there."""
        if name == given_input.__name__ and module == __name__:
            return self._inputs.__getitem__
        return super().find_class(module, name)


def check_known(code: Any) -> None:
    """Check that a class or function keeps what it does as long as its name; `NotCached` if not."""
    if (code.__module__ or "builtins").partition(".")[0] not in KNOWN_CODE:
        raise NotCached(f"{code.__module__}.{code.__qualname__} may change")


def lasting(tag: Scratchpad) -> dict[str, Any]:
    """Return what a tag says for longer than a process."""
    return {name: value for name, value in read_tag(tag, "__dict__").items() if name != HISTORY}


def given_input(position: int) -> Variable:
    """Stands in a file for an input; readers put the graph's own in its place."""
    raise RuntimeError(f"input {position} of a stored graph is read without its graph")


def _tag(attributes: dict) -> Scratchpad:
    tag = Scratchpad()
    read_tag(tag, "__dict__").update(attributes)
    return tag


def _inner_graph(inputs: list, order: list, outputs: list) -> FunctionGraph:
    # of a loop: those of other operators are frozen in 3.3
    return step_of(inputs, outputs)
