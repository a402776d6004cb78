"""One function that makes all draws in a loop, in place of a function that is called for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.graph.replace import graph_replace
from pytensor.tensor.type import TensorType

from theano.link.native.engine_report import report
from theano.pymc.modes import mode
from theano.support.data_classes import dataclass


class NotOneLoop(Exception):
    """Python is needed for each draw."""


@dataclass(frozen=True)
class LoopOverDraws:
    """A compiled loop over draws.

    Attributes
    ----------
    function
        Takes the number of draws and the rows of the inputs, and returns the outputs of all draws,
        stacked along the first dimension.
    generators
        The shared generators, in the order in which PyMC seeds those of a function that draws once.
    """

    function: Any
    generators: tuple[Any, ...]

    def __call__(
        self, draws: int, rows: Sequence[np.ndarray], random_seed: Any
    ) -> list[np.ndarray]:
        """Return draws from newly seeded generators."""
        from pymc.pytensorf import reseed_rngs

        reseed_rngs(self.generators, random_seed)
        return self.function(draws, *rows)


def loop_over_draws(outputs: Sequence[Any], inputs: Sequence[Any] = ()) -> LoopOverDraws:
    """Compile a loop over draws of outputs, which reads a row of each input in each.

    Raises
    ------
    NotOneLoop
        If Python runs a part of it.
    """
    from pymc.pytensorf import collect_default_updates, compile

    updates = collect_default_updates(inputs=inputs, outputs=outputs)
    generators = list(updates)
    draws = pt.lscalar("draws")
    stacks = [_stack_of(variable) for variable in inputs]

    def step(*given: Any) -> list[Any]:
        rows = [_row_of(row, x) for row, x in zip(given, inputs, strict=False)]
        states = given[len(inputs) :]
        inside = dict(zip([*inputs, *generators], [*rows, *states], strict=True))
        return graph_replace([*updates.values(), *outputs], inside, strict=False)

    last = pytensor.scan(
        step,
        sequences=stacks,
        outputs_info=[*generators, *(None for _ in outputs)],
        n_steps=draws,
        return_updates=False,
    )
    # a single result comes by itself
    last = list(last) if isinstance(last, list | tuple) else [last]
    after, stacked = last[: len(generators)], last[len(generators) :]
    function = compile(
        [draws, *stacks],
        stacked,
        random_seed=False,
        updates=dict(zip(generators, after, strict=True)),
        mode=mode,
        on_unused_input="ignore",
    )
    if any(loop.reason for loop in report(function).loops):
        raise NotOneLoop
    return LoopOverDraws(function, tuple(generators))


def _stack_of(variable: Variable) -> Any:
    kind: Any = variable.type
    if not isinstance(kind, TensorType):
        raise NotOneLoop
    return TensorType(kind.dtype, (None, *kind.shape))(variable.name)


def _row_of(row: object, variable: Variable) -> Any:
    return variable.type.filter_variable(row)


_compiled: WeakKeyDictionary[Any, dict[Any, LoopOverDraws | None]] = WeakKeyDictionary()


class LoopsOfModel:
    """A model as PyMC's sampling functions read it, which compiles no function that draws once.

    PyMC decides which variables are drawn and which come from a trace, and asks the model for a
    function of them. Here it gets one that returns nothing of interest, and what it asked for is kept.

    Attributes
    ----------
    names
        Of the outputs that PyMC asked for.
    """

    def __init__(self, model: Any):
        self._model = model
        self.names: list[str] = []
        self._loop: LoopOverDraws | None = None
        self._inputs: Sequence[Any] = ()
        self._random_seed: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def __getitem__(self, name: str) -> Any:
        return self._model[name]

    def __contains__(self, name: str) -> bool:
        return name in self._model

    def compile_fn(
        self, outs: Sequence[Any], *, inputs: Sequence[Any], random_seed: object = None, **_: Any
    ) -> Callable[..., Any]:
        """Return a function that stands for the draws; see the class."""
        known = _compiled.setdefault(self._model, {})
        asked = (*outs,), (*inputs,), self._model.check_bounds
        if asked not in known:
            try:
                with self._model:
                    known[asked] = loop_over_draws(outs, inputs)
            except NotOneLoop:
                known[asked] = None
        self._loop = known[asked]
        if self._loop is None:
            raise NotOneLoop
        self.names = [variable.name for variable in outs]
        self._inputs = inputs
        self._random_seed = random_seed
        return _Placeholder(inputs, len(outs))

    def drawn(self, draws: int, rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return all draws by the names of the outputs, given rows of the inputs by their names."""
        if self._loop is None:
            return {}
        given = [np.asarray(rows[x.name], x.type.dtype) for x in self._inputs]
        return dict(zip(self.names, self._loop(draws, given, self._random_seed), strict=True))


class _Placeholder:
    """A function of a point, as far as PyMC looks at one, whose results are replaced."""

    def __init__(self, inputs: Sequence[Any], count: int):
        self.maker = self.fgraph = self
        self.inputs, self._count = inputs, count

    def __call__(self, **point: Any) -> list[Any]:
        return [np.int8(0)] * self._count
