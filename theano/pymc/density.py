"""The log density of a model and its gradient, compiled by the native engine."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from pymc.logprob.basic import logp
from pymc.pytensorf import collect_default_updates, rewrite_pregrad
from pytensor.graph.basic import Variable
from pytensor.tensor import as_tensor
from pytensor.tensor.math import variadic_add

from theano.compile.function import function
from theano.compile.mode import Mode
from theano.configparser import change_flags
from theano.gradient import grad
from theano.pymc.eigenvectors import warn_of_eigenvectors
from theano.pymc.freezing import frozen
from theano.pymc.models import model_of
from theano.pymc.modes import with_conditions
from theano.pymc.points import Points, joined, refuse_discrete
from theano.pymc.refused_loops import refuse_loops
from theano.pytensor_internals.graphs.annotations import only_result
from theano.pytensor_internals.graphs.untraced import untraced
from theano.scan_module.adopt import adopt
from theano.scan_module.gradient.rules.symbolic_gradients import OF_GRAPHS, with_rules
from theano.source_locations.lines import copy_lines

_NUMBERS = np.dtype("float64")


class LogDensity:
    """A compiled log density and its gradient at a point; see `logp_dlogp`.

    Attributes
    ----------
    function
        What `theano.function` made: of a vector, the density and the gradient.
    points : Points
        Where each variable of the model lies in the vector.
    """

    def __init__(self, compiled: Any, points: Points):
        self.function, self.points = compiled, points
        self._shape = (points.count,)

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled as the function's graph, which is compiled again where it is loaded."""
        return LogDensity, (self.function, self.points)

    def __call__(self, point: Any) -> tuple[float, np.ndarray]:
        """Return the log density at a point, and its gradient.

        Parameters
        ----------
        point : array of float64, or dict
            A flat vector, or values by the names of the model's value variables, as
            ``model.initial_point()`` gives them.

        Raises
        ------
        ValueError
            If the vector has another length.
        """
        if isinstance(point, dict):
            point = self.points.flat(point)
        point = np.asarray(point, _NUMBERS)
        if point.shape != self._shape:
            raise ValueError(
                f"expected a vector of {self.points.count} numbers for"
                f" {', '.join(self.points.names)}, got an array of shape {point.shape}"
            )
        density, gradient = self.function(point)
        return float(density), gradient


def of_sampler(
    density: int, draw: int, count: int, shapes: Sequence[tuple[int, ...]] = ()
) -> np.ndarray:
    """Return what the functions of a sampler are given; see ``runtime/sampler.h``.

    Parameters
    ----------
    density, draw
        The addresses of the model's functions.
    count
        How many numbers a point has.
    shapes
        Of the values that are kept of a draw.
    """
    expanded = sum(map(prod, shapes))
    lengths = [number for shape in shapes for number in (len(shape), *shape)]
    return np.array([density, draw, count, expanded, len(shapes), *lengths], np.uint64)


def logp_dlogp(
    model: Any = None, mode: object = None, freeze_model: bool | None = None
) -> LogDensity:
    """Compile the log density of a model and its gradient; loops get this package's gradient.

    Parameters
    ----------
    model : pymc.Model, optional
        All its free variables are continuous. Inside of a model's ``with`` block it is that one.
    mode : optional
        Of `theano.function`; by default the native engine's.
    freeze_model : bool, optional
        Whether data and lengths of dimensions become constants, so that what follows from them is
        computed once, and ``pm.set_data`` has no effect. By default models without ``pm.Data``
        are frozen.

    Returns
    -------
    LogDensity
        Called with one flat vector of the unconstrained values, in the order of
        ``model.free_RVs``, it returns the log density, with the terms of the transformations,
        and its gradient.

    Raises
    ------
    ValueError
        If a free variable is discrete.
    NotImplementedError
        If the model is to be frozen, and PyMC cannot copy it.

    Examples
    --------
    >>> import pymc as pm, theano.pymc  # doctest: +SKIP
    >>> with pm.Model() as model:  # doctest: +SKIP
    ...     x = pm.Normal("x", shape=2)
    >>> density = theano.pymc.logp_dlogp(model)  # doctest: +SKIP
    >>> density([0.0, 1.0])  # doctest: +SKIP
    (-2.3378770664093453, array([-0., -1.]))
    """
    model = model_of(model, "logp_dlogp")
    refuse_discrete(model)
    refuse_loops(model)
    model = frozen(model, freeze_model)
    points = Points.of(model, model.initial_point(0))
    return LogDensity(compiled(model, points, density_and_gradient(model, points), mode), points)


def density_and_gradient(model: Any, points: Points) -> list[Variable]:
    """Return the log density and its gradient, computed from the vector of a point.

    The caller has refused loops whose density is wrong, by the model that the user made.
    """
    # PyMC simplifies a density before it takes the gradient, too, which keeps the numbers finite
    density = only_result(adopt(rewrite_pregrad(_log_density(model))))
    # mixtures are sums of exponentials, whose gradient PyTensor takes through their maximum
    (density,), _ = with_rules([density], OF_GRAPHS)
    warn_of_eigenvectors(model, points, density)
    gradients = grad(density, list(points.variables), disconnected_inputs="ignore")
    return points.of_vector([density, joined(gradients)])


def _log_density(model: Any) -> Variable:
    """Return the log density of a model, each term of which has the line of its variable.

    Where PyMC cannot make it, the error names the variable.
    """
    variables = [*model.basic_RVs, *model.potentials]
    try:
        # PyMC's own lines are none of the program's
        with untraced:
            terms = model.logp(variables, sum=False)
    except Exception as error:
        for variable, value in model.rvs_to_values.items():
            try:
                logp(variable, value)
            except type(error) as cause:
                lengths = ("?" if length is None else str(length) for length in value.type.shape)
                raise type(error)(
                    f"the log density of {variable.name} at values of shape"
                    f" [{', '.join(lengths)}]: {cause}"
                ) from error
        raise
    seen: set[Variable] = set()
    for variable, term in zip(variables, terms, strict=True):
        copy_lines(variable, term, (), seen)
    return variadic_add(*(as_tensor(term, allow_xtensor_conversion=True).sum() for term in terms))


def is_random(values: list[Variable], points: Points) -> bool:
    """Return whether values of a model differ from call to call, at the same point."""
    return bool(collect_default_updates(values, inputs=[points.vector]))


def compiled(model: Any, points: Points, values: list[Variable], mode: object = None) -> Any:
    """Compile a function of the vector of a point, with PyMC's own rewrites of a model's conditions.

    Its random samples, a minibatch's indices among them, are others in each call, as PyMC's are.
    """
    base = Mode("native", "fast_run") if mode is None else mode
    conditions = (
        "local_check_parameter_to_ninf_switch"
        if model.check_bounds
        else "local_remove_check_parameter"
    )
    # samplers call it through a pointer: what a function does better later does not reach them
    with change_flags({"native.quick": False}):
        return function(
            [points.vector],
            values,
            mode=with_conditions(base, conditions),
            updates=collect_default_updates(values, inputs=[points.vector]),
            on_unused_input="ignore",
        )
