"""A model as nutpie samples it: its density and its draws as functions of C."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
from nutpie.compile_pymc import (
    CompiledPyMCModel,
    _prepare_dims_and_coords,
    _rv_dict_to_flat_array_wrapper,
    _wrap_with_lock,
)
from pymc.initial_point import make_initial_point_fn

from theano.link.native import c_function
from theano.link.native.runtime.load import symbol
from theano.pymc.density import compiled, density_and_gradient, of_sampler
from theano.pymc.models import model_of
from theano.pymc.points import Points, joined, slices_of
from theano.pymc.starts import check_starts, starting_points
from theano.scan_module.adopt import adopt


@dataclass(frozen=True)
class CompiledModel(CompiledPyMCModel):
    """A model that nutpie samples through pointers; see `compile_model`.

    Attributes
    ----------
    points
        Where each variable lies in the vector of a point.
    starts
        Points at which chains may start.
    """

    points: Points | None = None
    starts: tuple[dict[str, Any], ...] = ()

    def with_data(self, **updates: Any) -> CompiledModel:
        """The same with other values of the model's data, by name; nothing is compiled.

        Raises
        ------
        KeyError
            If the model has no such data.
        ValueError
            If two have the name, or a value has a shape that does not fit the model.
        pymc.exceptions.SamplingError
            If the density is finite at no starting point.
        """
        values = {variable: self.shared_data[key] for variable, key in self.shared_var_keys.items()}
        for name, value in updates.items():
            named = [variable for variable in values if variable.name == name]
            if not named:
                known = ", ".join(sorted(str(variable.name) for variable in values)) or "none"
                raise KeyError(f"no data {name!r} in the model, which has {known}")
            if len(named) > 1:
                raise ValueError(f"{len(named)} data of the model are named {name!r}")
            values[named[0]] = _of_rank(value, values[named[0]], name)
        density, draw = (f.with_values(values) for f in (self.logp_func, self.expand_func))
        try:
            check_starts(density, self.points, self.starts)
        except ValueError as error:
            given = ", ".join(f"{name} of shape {np.shape(v)}" for name, v in updates.items())
            raise ValueError(f"the model cannot take {given}: {error}") from error
        return replace(
            self,
            shared_data={self.shared_var_keys[v]: value for v, value in values.items()},
            logp_func=density,
            expand_func=draw,
            user_data=of_sampler(density.function, draw.function, self.n_dim, self.n_expanded),
        )


def _of_rank(value: Any, before: np.ndarray, name: str) -> np.ndarray:
    value = np.array(value, before.dtype, order="C", copy=True)
    if value.ndim != before.ndim:
        raise ValueError(f"data {name!r}: expected {before.ndim} dimensions, got {value.ndim}")
    return value


def compile_model(
    model: Any = None,
    *,
    initial_points: dict[Any, Any] | None = None,
    jitter_rvs: Iterable[Any] | None = None,
    default_initialization_strategy: str = "support_point",
    var_names: Iterable[str] | None = None,
) -> CompiledModel:
    """Compile a model for ``nutpie.sample``: no Python runs, and no lock is held, while it samples.

    Parameters
    ----------
    model : pymc.Model, optional
        All its free variables are continuous. Inside of a model's ``with`` block it is that one.
    initial_points, jitter_rvs, default_initialization_strategy, var_names
        As for ``nutpie.compile_pymc_model``.

    Returns
    -------
    CompiledModel
        With coordinates, dimensions and deterministic values as ``nutpie.compile_pymc_model`` has
        them, and its ``with_data``.

    Raises
    ------
    NotNativeError
        If Python runs a part of the model; the message says which. `theano.pymc.sample` samples it.
    ValueError
        If a free variable is discrete.
    pymc.exceptions.SamplingError
        If the density is finite at none of ten starting points; the message says of which variable.
    """
    model = model_of(model, "compile_model")
    if default_initialization_strategy == "support_point" and jitter_rvs is None:
        jitter_rvs = model.free_RVs
    first_point = make_initial_point_fn(
        model=model,
        overrides=initial_points,
        default_strategy=default_initialization_strategy,
        jitter_rvs=set(jitter_rvs or ()),
        return_transformed=True,
    )
    starts = starting_points(first_point)
    initial = starts[0]
    points = Points.of(model, initial)
    density = compiled(model, points, density_and_gradient(model, points))
    kept = None if var_names is None else set(var_names)
    others = [
        v
        for v in model.unobserved_value_vars
        if v.name not in points.names and (kept is None or v.name in kept)
    ]
    of_draw = points.of_vector(adopt([*points.variables, *others]))
    draw = compiled(model, points, [joined(of_draw)])
    shapes = compiled(model, points, [v.shape for v in of_draw])(points.flat(initial))
    names = [*points.names, *(v.name for v in others)]
    sizes = [tuple(map(int, shape)) for shape in shapes]
    shape_info = (names, slices_of(sizes), sizes)
    expanded = sum(map(prod, sizes))
    functions = c_function(density), c_function(draw)
    check_starts(functions[0], points, starts, model)
    data = dict.fromkeys(v for f in (density, draw) for v in f.get_shared())
    keys = {variable: f"data{k}" for k, variable in enumerate(data)}
    transformed = [
        model.rvs_to_values[free].name
        for free in model.free_RVs
        if model.rvs_to_transforms.get(free) is not None
    ]
    dims, coords = _prepare_dims_and_coords(model, shape_info, transformed)
    return CompiledModel(
        _n_dim=points.count,
        dims=dims,
        _coords=coords,
        _shapes=dict(zip(names, sizes, strict=True)),
        compiled_logp_func=_at("tn_sampler_density"),
        compiled_expand_func=_at("tn_sampler_draw"),
        initial_point_func=_rv_dict_to_flat_array_wrapper(
            _wrap_with_lock(first_point), names=list(points.names), shapes=list(points.shapes)
        ),
        shared_data={key: variable.get_value() for variable, key in keys.items()},
        shared_var_keys=keys,
        user_data=of_sampler(*(f.function for f in functions), points.count, expanded),
        n_expanded=expanded,
        shape_info=shape_info,
        logp_func=functions[0],
        expand_func=functions[1],
        reparameterized_names=transformed,
        points=points,
        starts=tuple(starts),
    )


def _at(name: str) -> Any:
    """A function of the runtime, as nutpie is told of functions."""
    return SimpleNamespace(address=symbol(name))
