"""Bytes that a loop writes to memory in each step, from the shapes of what it stores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

import numpy as np
from pytensor.graph.basic import Constant, NominalVariable, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.basic import constant, stack
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.type import TensorType, integer_dtypes

from theano.pytensor_internals.graphs.annotations import only_result
from theano.rewriting.lazy_shapes import LazyShapeFeature
from theano.scan_module.loop.arguments import Loop, Trace
from theano.scan_module.report.describe import describe
from theano.scan_module.report.lengths import Length, as_number, of_inputs_alone, without_checks
from theano.support.data_classes import dataclass

Lengths = tuple[Length, ...]


class Shapes:
    """Shapes of values of a graph, in terms of the arguments of the compiled function.

    Parameters
    ----------
    variables
        The values asked for.
    known
        Shapes of the graph's inputs, if they are not arguments of the function themselves.
    numbers
        What those of its inputs that are numbers or shapes are, in terms of arguments, where known.
    """

    def __init__(
        self,
        variables: Iterable[Variable],
        known: Mapping[Variable, Lengths] | None,
        numbers: Mapping[Variable, Variable] | None = None,
    ):
        self._known = known
        self._numbers = numbers or {}
        self._feature = LazyShapeFeature()
        outputs = list(dict.fromkeys(v for v in variables if isinstance(v.type, TensorType)))
        FunctionGraph(outputs=outputs, clone=False).attach_feature(self._feature)

    @property
    def is_of_function(self) -> bool:
        """Return whether the graph's inputs are the arguments of the function."""
        return self._known is None

    def of(self, variable: Variable) -> Lengths:
        """Return the shape of one of the values."""
        static = variable.type.shape
        if self._known is not None and variable in self._known:
            known = self._known[variable]
            return tuple(k if s is None else s for s, k in zip(static, known, strict=True))
        symbolic = self._feature.lengths_of(variable) or (None,) * len(static)
        return tuple(
            self._length(variable, axis, symbolic[axis]) if length is None else length
            for axis, length in enumerate(static)
        )

    def _length(self, variable: Variable, axis: int, length: Variable | None) -> Length:
        if length is None:
            # an input of the graph: the arguments of the function have their own shapes
            is_argument = self._known is None and variable.owner is None
            return only_result(Shape_i(axis)(variable)) if is_argument else None
        length = without_checks(length)
        if self._known is None or isinstance(length, Constant):
            return None if _has_nominal(length) else as_number(length)
        return self._in_terms_of_arguments(length, self._known)

    def _in_terms_of_arguments(
        self, length: Variable, shapes: Mapping[Variable, Lengths]
    ) -> Length:
        length = of_inputs_alone(length)
        replacements: dict[Variable, Variable] = {}
        for variable in ancestors([length]):
            if variable.owner is None or not isinstance(variable.owner.op, Shape | Shape_i):
                continue
            known = shapes.get(variable.owner.inputs[0])
            if known is None:
                continue
            lengths = (
                known if isinstance(variable.owner.op, Shape) else [known[variable.owner.op.i]]
            )
            whole = [n for n in lengths if n is not None]
            if len(whole) < len(lengths):
                continue
            if variable is length:
                return whole[0]
            made = [constant(n, dtype="int64") if isinstance(n, int) else n for n in whole]
            new = stack(made) if isinstance(variable.owner.op, Shape) else made[0]
            replacements[variable] = variable.type.filter_variable(new)
        leaves = [v for v in ancestors([length], blockers=list(replacements)) if v.owner is None]
        replacements |= {v: self._numbers[v] for v in leaves if v in self._numbers}
        if any(leaf in shapes and leaf not in replacements for leaf in leaves):
            return None
        return clone_replace(length, replace=replacements)


def _has_nominal(length: Variable) -> bool:
    return any(isinstance(variable, NominalVariable) for variable in ancestors([length]))


@dataclass(frozen=True)
class Written:
    """A value that each step writes to memory."""

    dtype: str
    shape: Lengths

    @property
    def itemsize(self) -> int:
        return np.dtype(self.dtype).itemsize


def input_shapes(loop: Loop, outside: Shapes) -> dict[Variable, Lengths]:
    """Shapes of the inputs of a loop's step, from those of what the loop is given."""
    shapes: dict[Variable, Lengths] = {}
    for entry in loop.sequences:
        shapes[entry.inner] = outside.of(entry.outer)[1:]
    for state in loop.states:
        row = outside.of(state.outer)[1:]
        shapes.update((tap.inner, row) for tap in state.reads)
    for untraced in loop.untraced:
        if isinstance(untraced.inner_input.type, TensorType):
            shapes[untraced.inner_input] = outside.of(untraced.outer)
    for invariant in loop.invariants:
        if isinstance(invariant.inner.type, TensorType):
            shapes[invariant.inner] = outside.of(invariant.outer)
    return shapes


def written_by(loop: Loop, outside: Shapes) -> tuple[Written, ...]:
    """Return what each step of a loop writes: its states and its traces."""
    rows = {state: outside.of(state.outer)[1:] for state in loop.ordered_states()}
    states = [
        Written(tap.inner.type.dtype, row) for state, row in rows.items() for tap in state.writes
    ]
    return (*states, *traces_of(loop, outside).values())


def traces_of(loop: Loop, outside: Shapes) -> dict[Trace, Written]:
    """Return what each step of a loop writes to each trace."""
    numbers = {
        invariant.inner: invariant.outer
        for invariant in loop.invariants
        if outside.is_of_function and _may_hold_lengths(invariant.inner)
    }
    inside = (trace.inner for trace in loop.traces)
    shapes = Shapes(inside, input_shapes(loop, outside), numbers)
    return {trace: Written(trace.inner.type.dtype, shapes.of(trace.inner)) for trace in loop.traces}


def _may_hold_lengths(variable: Variable) -> bool:
    """Return whether it is a number, or a vector of whole ones such as a shape."""
    ndim, dtype = (getattr(variable.type, name, None) for name in ("ndim", "dtype"))
    return ndim == 0 or (ndim == 1 and dtype in integer_dtypes)


def total_bytes(values: Sequence[Written], lengths: Mapping[Variable, Length]) -> int | str:
    """Return the bytes of values: a number where all lengths are known, else an expression.

    Parameters
    ----------
    values
        The values.
    lengths
        What to say instead of an expression of a length.
    """
    exact = 0
    symbolic: dict[str, int] = {}
    for value in values:
        known, unknown = [value.itemsize], []
        for length in value.shape:
            if isinstance(length, Variable):
                length = lengths.get(length, length)
            if isinstance(length, int):
                known.append(length)
            else:
                unknown.append(_factor(length))
        if unknown:
            term = "*".join(sorted(unknown))
            symbolic[term] = symbolic.get(term, 0) + prod(known)
        else:
            exact += prod(known)
    if not symbolic:
        return exact
    terms = [f"{coefficient}*{term}" for term, coefficient in symbolic.items()]
    return " + ".join(terms + ([str(exact)] if exact else []))


def _factor(length: Variable | None) -> str:
    if length is None:
        return "?"
    text = describe(length)
    bare = isinstance(length.owner.op, Shape_i) if length.owner is not None else True
    return text if bare or (text.endswith(")") and text[0].isalpha()) else f"({text})"
