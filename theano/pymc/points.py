"""A model's free variables as one vector: where each lies in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import numpy as np
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.replace import graph_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.basic import as_tensor, concatenate
from pytensor.tensor.sharedvar import TensorSharedVariable
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Points:
    """The points of a model, in the space in which samplers move.

    Attributes
    ----------
    names : tuple of str
        Of the value variables, in the order of ``model.free_RVs``.
    variables : tuple of Variable
        The value variables of the model.
    shapes : tuple of tuple of int
        Their shapes.
    vector : Variable
        Stands for a point as one vector of float64.
    """

    names: tuple[str, ...]
    variables: tuple[Variable, ...]
    shapes: tuple[tuple[int, ...], ...]
    vector: Variable

    @classmethod
    def of(cls, model: Any, initial: dict[str, np.ndarray]) -> Points:
        """Those of a model, of which one point is known."""
        refuse_discrete(model)
        variables = [model.rvs_to_values[free] for free in model.free_RVs]
        shapes = tuple(np.shape(initial[v.name]) for v in variables)
        vector = TensorType("float64", shape=(sum(map(prod, shapes)),))("point")
        return cls(tuple(v.name for v in variables), tuple(variables), shapes, vector)

    @property
    def count(self) -> int:
        """Return how many numbers a point has."""
        return sum(map(prod, self.shapes))

    @property
    def slices(self) -> list[slice]:
        """Return where each variable lies."""
        return slices_of(self.shapes)

    @cached_property
    def parts(self) -> list[Variable]:
        """The variables, read from the vector."""
        return [
            variable.type.filter_variable(
                known_tensor(self.vector)[part].reshape(shape).astype(variable.type.dtype)
            )
            for part, shape, variable in zip(self.slices, self.shapes, self.variables, strict=True)
        ]

    @cached_property
    def arrays_of_data(self) -> dict[SharedVariable, TensorSharedVariable]:
        """For data with named axes, shared arrays of the same values; filled as they come."""
        return {}

    def of_vector(self, values: Sequence[Variable]) -> list[Variable]:
        """Values of the model, computed from the vector; of variables with named axes, arrays."""
        found = [array_of(value) for value in values]
        pairs: dict[Variable, Variable] = dict(zip(self.variables, self.parts, strict=True))
        for variable in ancestors(found):
            if isinstance(variable, SharedVariable) and hasattr(variable.type, "dims"):
                array = self.arrays_of_data.setdefault(variable, _array_of_data(variable))
                pairs[variable] = variable.type.filter_variable(array)
        return graph_replace(found, pairs, strict=False)

    def flat(self, point: Mapping[str, Any]) -> np.ndarray:
        """Return a point by names, as a vector.

        Raises
        ------
        KeyError
            If it lacks a variable, or has one that the model has not.
        ValueError
            If a value has another shape.
        """
        wrong = set(point).symmetric_difference(self.names)
        if wrong:
            name = min(wrong)
            has = "the model has no variable" if name in point else "the point has no value for"
            raise KeyError(f"{has} {name!r}: the variables are {', '.join(self.names)}")
        values = [np.asarray(point[name], "float64") for name in self.names]
        for name, value, shape in zip(self.names, values, self.shapes, strict=True):
            if value.shape != shape:
                raise ValueError(f"{name}: expected the shape {shape}, got {value.shape}")
        return np.concatenate([value.ravel() for value in values] or [np.empty(0)])

    def by_name(self, vector: np.ndarray) -> dict[str, np.ndarray]:
        """Return a vector as a point by names."""
        return {
            name: np.asarray(vector[part]).reshape(shape)
            for name, part, shape in zip(self.names, self.slices, self.shapes, strict=True)
        }


def discrete_variables(model: Any) -> list[str]:
    """Return the names of the free variables that have no gradient."""
    values = [model.rvs_to_values[free] for free in model.free_RVs]
    return [value.name for value in values if not value.type.dtype.startswith("float")]


def refuse_discrete(model: object) -> None:
    """Raise a ValueError for a model with discrete free variables, with their names."""
    discrete = discrete_variables(model)
    if discrete:
        raise ValueError(
            "Can only compute the gradient of continuous types, and these free variables are"
            f" discrete: {', '.join(discrete)}. theano.pymc.sample samples the model"
        )


def slices_of(shapes: Iterable[tuple[int, ...]]) -> list[slice]:
    """Return where arrays of these shapes lie in one vector, one after the other."""
    ends = [0, *accumulate(map(prod, shapes))]
    return [slice(begin, end) for begin, end in pairwise(ends)]


def joined(values: Sequence[Variable]) -> TensorVariable:
    """Return the elements of all values in one vector of float64."""
    flat = [array_of(value).ravel().astype("float64") for value in values]
    return concatenate(flat) if flat else as_tensor(np.empty(0))


def array_of(value: Variable) -> TensorVariable:
    """Return a value without the names that `pymc.dims` gives its axes."""
    return as_tensor(value, allow_xtensor_conversion=True)


def _array_of_data(data: Any) -> TensorSharedVariable:
    """Return a shared array that is changed with the data: both have one container."""
    kind = TensorType(data.type.dtype, shape=data.type.shape)
    return TensorSharedVariable(
        kind,
        value=None,
        strict=None,  # type: ignore[arg-type]  # as PyTensor's code asks for where a container is given
        container=data.container,
        name=data.name,
    )
