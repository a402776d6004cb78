"""The kept part of a draw: which values of a model, and their shapes, which are the same in all draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import pandas as pd
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from theano.link.native.run.c_function import CFunction, NotNativeError, python_parts
from theano.pymc.density import compiled, is_random
from theano.pymc.models import refuse_unknown
from theano.pymc.points import Points, array_of, slices_of
from theano.pytensor_internals.graphs.annotations import all_results
from theano.scan_module.adopt import adopt
from theano.support.data_classes import dataclass

Shape = tuple[int, ...]


@dataclass(frozen=True)
class KeptValues:
    """Values that are kept of each draw.

    Attributes
    ----------
    names : list of str
        The model's value variables first, then what else is kept.
    shapes : list of tuple of int
        Their shapes.
    """

    names: list[str]
    shapes: list[Shape]

    @classmethod
    def of(cls, names: Sequence[str], draw: CFunction, point: object) -> KeptValues:
        """Return those that a function of a draw computes, with the data that it reads now."""
        return cls(list(names), [value.shape for value in draw(point)])

    @property
    def expanded(self) -> int:
        """Return how many numbers a draw has."""
        return sum(map(prod, self.shapes))

    @property
    def by_name(self) -> dict[str, Shape]:
        """The shapes by the names."""
        return dict(zip(self.names, self.shapes, strict=True))

    @property
    def shape_info(self) -> tuple[list[str], list[slice], list[Shape]]:
        """The names, where the values lie in a draw, and the shapes, as nutpie has them."""
        return self.names, slices_of(self.shapes), self.shapes


def function_of_posterior(
    model: Any, points: Points, var_names: Iterable[str] | None
) -> tuple[list[str], Any]:
    """Compile what computes the values that are kept of a draw, from the vector of a point.

    Parameters
    ----------
    model, points
        The model, and the variables of its points, all of which are kept.
    var_names
        What is kept besides them; by default all that the model has.

    Returns
    -------
    list of str
        The names of the function's results.
    function

    Raises
    ------
    KeyError
        If the model keeps no value of a name.
    NotNativeError
        If a value is drawn at random, for which the point is not enough.
    ValueError
        If a value's shape depends on the point.
    """
    kept = {var_names} if isinstance(var_names, str) else set(var_names or ())
    could_be = [v for v in model.unobserved_value_vars if v.name not in points.names]
    known = [*points.names, *(v.name for v in could_be)]
    refuse_unknown("var_names", sorted(kept.difference(known)), known)
    others = [v for v in could_be if var_names is None or v.name in kept]
    names = [*points.names, *(v.name for v in others)]
    of_model = all_results(adopt([*points.variables, *others]))
    values = [array_of(v) for v in points.of_vector(of_model)]
    drawn = [n for n, v in zip(names, values, strict=True) if is_random([v], points)]
    if drawn:
        raise NotNativeError(
            f"{', '.join(drawn)}: expected values that a point determines, got random samples."
            " Leave them out of var_names; pm.sample_posterior_predictive draws them"
        )
    _refuse_changing_shapes(model, points, names, values)
    return names, compiled(model, points, [v.astype("float64") for v in values])


def _refuse_changing_shapes(
    model: object, points: Points, names: Sequence[str], values: Sequence[TensorVariable]
) -> None:
    """Raise an error for a value whose shape depends on the point, by the graphs of the shapes."""
    unknown = {
        name: value
        for name, value in zip(names, values, strict=True)
        if None in value.type.shape and points.vector in ancestors([value])
    }
    if not unknown:
        return
    function = compiled(model, points, [v.shape for v in unknown.values()])
    graph = function.maker.fgraph
    point = graph.inputs[0]
    # what an operation of Python's makes has one shape, as far as anyone knows; a draw checks it
    made_by_python = [v for node in python_parts(function) for v in node.outputs]
    changing = [
        name
        for name, shape in zip(unknown, graph.outputs, strict=True)
        if point in ancestors([shape], blockers=made_by_python)
    ]
    if changing:
        raise ValueError(
            f"expected values of one shape in all draws, but the shape of {', '.join(changing)}"
            " depends on the model's free variables. Leave it out of var_names, keep a part of it"
            " that has a fixed length (of a loop that ends early its last row, or sums), or state"
            " a shape that does not change: pytensor.tensor.specify_shape"
        )


def check_lengths(
    kept: KeptValues, dims: Mapping[str, Sequence[str | None]], coords: Mapping[str, Any]
) -> None:
    """Raise a ValueError for a value with another length than the coordinates of its dimension."""
    for value, shape in kept.by_name.items():
        for axis, (dim, length) in enumerate(zip(dims.get(value, ()), shape, strict=False)):
            if dim is not None and dim in coords and len(coords[dim]) != length:
                raise ValueError(
                    f"{value} has shape {shape} at the starting point, and expected along axis"
                    f" {axis} is the length of its dimension {dim!r}, which has"
                    f" {len(coords[dim])} coordinates and not {length}"
                )


def coordinates(
    kept: KeptValues,
    dims: Mapping[str, Sequence[str | None]],
    before: Mapping[str, Any],
    given: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the coordinates of dimensions whose lengths may have changed.

    Parameters
    ----------
    kept
        The values with their new shapes.
    dims
        The names of the dimensions of the values.
    before, given
        The coordinates until now, and new ones.

    Raises
    ------
    KeyError
        If one is given of a dimension that the model has not.
    ValueError
        If a dimension has another number of coordinates than a value has rows.
    """
    for name in given:
        if name not in before:
            raise KeyError(f"no dimension {name!r} in the model, which has {', '.join(before)}")
    found = {**before, **{name: pd.Index(values) for name, values in given.items()}}
    for value, shape in kept.by_name.items():
        for dim, length in zip(dims.get(value, ()), shape, strict=False):
            if dim not in found or len(found[dim]) == length:
                continue
            if not isinstance(found[dim], pd.RangeIndex) or dim in given:
                raise ValueError(
                    f"the dimension {dim!r} has {len(found[dim])} coordinates, and {value} has"
                    f" {length} rows along it: pass coords={{{dim!r}: ...}} with the data"
                )
            found[dim] = pd.RangeIndex(length)
    return found
