"""A model as nutpie samples it: its density and its draws as functions of C."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from nutpie.compile_pymc import CompiledPyMCModel, _prepare_dims_and_coords
from pymc.exceptions import SamplingError

from theano.link.native import NotNativeError, c_function
from theano.link.native.run.c_function import CFunction, python_parts
from theano.link.native.runtime.load import symbol
from theano.pymc.data import not_finite, value_of_data
from theano.pymc.density import compiled, density_and_gradient, is_random, of_sampler
from theano.pymc.freezing import frozen
from theano.pymc.kept_values import KeptValues, check_lengths, coordinates, function_of_posterior
from theano.pymc.models import model_of
from theano.pymc.points import Points, refuse_discrete
from theano.pymc.refused_loops import refuse_loops
from theano.pymc.starts import (
    FlatInitialPoint,
    InitialPoint,
    finite_start,
    is_finite,
    starting_points,
)

# PyMC's own, whose messages are shown where its samplers' are
_log = logging.getLogger("pymc")


@dataclass(frozen=True)
class CompiledModel(CompiledPyMCModel):
    """A model that nutpie samples through pointers; see `compile_model`.

    It is pickled as its graphs, which are compiled again where they are loaded.

    Attributes
    ----------
    points
        Where each variable lies in the vector of a point.
    starts
        Points at which chains may start.
    frozen
        Whether data and lengths are constants.
    constant_data
        The names of data that are constants for that reason.
    """

    points: Points | None = None
    starts: tuple[dict[str, Any], ...] = ()
    frozen: bool = False
    constant_data: tuple[str, ...] = ()

    def with_data(
        self, *, coords: Mapping[str, Any] | None = None, **updates: Any
    ) -> CompiledModel:
        """Return the same with other values of the model's data, by name; nothing is compiled.

        Parameters
        ----------
        coords : optional
            New coordinates of dimensions, where data has another length along them.
        **updates
            The values by the names of the data.

        Raises
        ------
        KeyError
            If the model has no such data, or no such dimension.
        ValueError
            If two have the name, a value has a shape or an entry that does not fit the model, or
            a dimension has another number of coordinates than values that have it.
        pymc.exceptions.SamplingError
            If the density and its gradient are finite at no starting point.
        """
        values = {variable: self.shared_data[key] for variable, key in self.shared_var_keys.items()}
        for name, value in updates.items():
            variable = self._data(name)
            values[variable] = value_of_data(value, values[variable], name)
        density, draw = (f.with_values(values) for f in (self.logp_func, self.expand_func))
        assert self.points is not None
        try:
            start = finite_start(density, self.points, self.starts)
            kept = KeptValues.of(self.shape_info[0], draw, start)
        except ValueError as error:
            given = ", ".join(f"{name} of shape {np.shape(v)}" for name, v in updates.items())
            raise ValueError(f"the model cannot take {given}: {error}") from error
        except SamplingError as error:
            odd = [entry for name, v in updates.items() if (entry := not_finite(v, name))]
            if not odd:
                raise
            raise SamplingError(f"{error} Of the data given, {' and '.join(odd)}.") from None
        changed = _called(density, draw, self.n_dim, kept) | {
            "shared_data": {self.shared_var_keys[v]: value for v, value in values.items()},
            "_coords": coordinates(kept, self.dims or {}, self.coords or {}, coords or {}),
        }
        return replace(self, **changed)

    def _data(self, name: str) -> Any:
        """Return the variable of the data of a name."""
        named = [variable for variable in self.shared_var_keys if variable.name == name]
        if len(named) > 1:
            raise ValueError(f"{len(named)} data of the model are named {name!r}")
        if named:
            return named[0]
        if name in self.constant_data:
            raise KeyError(
                f"no data {name!r}: the model's data are constants of what was compiled;"
                " compile_model(..., freeze_model=False) leaves them to be changed"
            )
        known = ", ".join(sorted(str(variable.name) for variable in self.shared_var_keys))
        has = known or f"none: pm.Data({name!r}, ...) makes values that can be changed"
        raise KeyError(f"no data {name!r} in the model, which has {has}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled without what is an address in this process."""
        here = ("compiled_logp_func", "compiled_expand_func", "user_data")
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in here}
        return _loaded, (given,)


def _called(density: CFunction, draw: CFunction, count: int, kept: KeptValues) -> dict[str, Any]:
    """Fields of a compiled model: its functions, and what of them depends on shapes."""
    return {
        "logp_func": density,
        "expand_func": draw,
        "n_expanded": kept.expanded,
        "shape_info": kept.shape_info,
        "_shapes": kept.by_name,
        "compiled_logp_func": _at("tn_sampler_density"),
        "compiled_expand_func": _at("tn_sampler_draw"),
        "user_data": of_sampler(density.function, draw.function, count, kept.shapes),
    }


def _report_python(*functions: object) -> None:
    """Log which operations Python runs."""
    parts = dict.fromkeys(str(node.op) for f in functions for node in python_parts(f))
    if parts:
        names = ", ".join(parts)
        _log.info("theano.pymc.compile_model: Python runs %s, one call at a time", names)


def _at(name: str) -> Any:
    """Return a function of the runtime, as nutpie takes functions."""
    return SimpleNamespace(address=symbol(name))


def _loaded(given: dict[str, Any]) -> CompiledModel:
    """Return a compiled model of what was pickled of one."""
    density, draw, (names, _, shapes) = (
        given[name] for name in ("logp_func", "expand_func", "shape_info")
    )
    kept = KeptValues(names, shapes)
    return CompiledModel(**(given | _called(density, draw, given["_n_dim"], kept)))


def compile_model(
    model: Any = None,
    *,
    initial_points: dict[Any, Any] | None = None,
    jitter_rvs: Iterable[Any] | None = None,
    default_initialization_strategy: str = "support_point",
    var_names: Iterable[str] | None = None,
    freeze_model: bool | None = None,
    allow_python: bool = True,
) -> CompiledModel:
    """Compile a model for ``nutpie.sample``, which calls functions of C from its own threads.

    No Python runs, and no lock is held, while a model samples that is native.

    Parameters
    ----------
    model : pymc.Model, optional
        All its free variables are continuous. Inside of a model's ``with`` block it is that one.
    initial_points, jitter_rvs, default_initialization_strategy, var_names
        As for ``nutpie.compile_pymc_model``. Where the density is finite at none of ten points
        with jitter, chains start at the one without.
    freeze_model
        Whether data and lengths of dimensions become constants, so that what follows from them is
        computed once; ``with_data`` cannot change them then. By default models without
        ``pm.Data`` are frozen.
    allow_python
        Whether operations without native code, such as a user's or those of ``pm.ode``, are called
        back in Python, one call at a time, which a message says; else they are an error.

    Returns
    -------
    CompiledModel
        With coordinates, dimensions and deterministic values as ``nutpie.compile_pymc_model`` has
        them, and its ``with_data``.

    Raises
    ------
    NotNativeError
        If Python runs a part of the model and may not; the message says which. If the density is
        another in each call, or a kept value is drawn at random.
    KeyError
        If the model keeps no value of a name in ``var_names``; the message has those that it keeps.
    ValueError
        If a free variable is discrete (`theano.pymc.sample` samples it), the shape of a value
        that is kept of a draw depends on the free variables, or a kept value has another length
        than the coordinates of its dimension.
    pymc.exceptions.SamplingError
        If the density and its gradient are finite at none of ten starting points; the message
        names the variable.
    """
    given = model_of(model, "compile_model")
    refuse_discrete(given)
    refuse_loops(given)
    model = frozen(given, freeze_model)
    if default_initialization_strategy == "support_point" and jitter_rvs is None:
        jitter_rvs = model.free_RVs
    overrides = {getattr(free, "name", free): v for free, v in (initial_points or {}).items()}
    jittered = [model[getattr(free, "name", free)] for free in jitter_rvs or ()]
    first_point = InitialPoint.of(model, overrides, default_initialization_strategy, jittered)
    starts = starting_points(first_point)
    points = Points.of(model, starts[0])
    values = density_and_gradient(model, points)
    if is_random(values, points):
        raise NotNativeError(
            "the log density is another in each call, as of a pm.Minibatch, and nutpie samples one"
            " that a point decides. theano.pymc.logp_dlogp computes it, and pm.fit takes batches"
        )
    density = compiled(model, points, values)
    names, draws = function_of_posterior(model, points, var_names)
    _report_python(density, draws)
    computed, drawn = (c_function(f, allow_python=allow_python) for f in (density, draws))
    if jittered and not any(is_finite(computed, points.flat(start)) for start in starts):
        first_point = InitialPoint.of(model, overrides, default_initialization_strategy)
        starts = [first_point.by_name(0), *starts]
    start = finite_start(computed, points, starts, model, density)
    kept = KeptValues.of(names, drawn, start)
    data = dict.fromkeys(v for f in (density, draws) for v in f.get_shared())
    keys = {variable: f"data{k}" for k, variable in enumerate(data)}
    transformed = [
        model.rvs_to_values[free].name
        for free in model.free_RVs
        if model.rvs_to_transforms.get(free) is not None
    ]
    dims, coords = _prepare_dims_and_coords(model, kept.shape_info, transformed)
    check_lengths(kept, dims, coords)
    return CompiledModel(
        _n_dim=points.count,
        dims=dims,
        _coords=coords,
        initial_point_func=FlatInitialPoint(first_point, points),
        shared_data={key: variable.get_value() for variable, key in keys.items()},
        shared_var_keys=keys,
        reparameterized_names=transformed,
        points=points,
        starts=tuple(starts),
        frozen=model is not given,
        constant_data=() if model is given else tuple(data.name for data in given.data_vars),
        **_called(computed, drawn, points.count, kept),
    )
