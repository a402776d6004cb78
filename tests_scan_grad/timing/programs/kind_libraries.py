"""Operations of `kinds_of_steps.py` in each library, and its way to run and differentiate loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests_scan_grad.timing.programs.kinds_of_steps import Kind, Shape, cost

# Takes a kind, a loop's arguments, a state's shape, and whether the gradient is wanted; returns what runs it once.
Engine = Callable[[Kind, dict[str, np.ndarray], Shape, bool], Callable[[], Any]]

_SAME = "exp log log1p sin tanh arctan sqrt abs floor maximum dot stack concatenate cumsum roll"


def _alike(module: Any, shape: Shape) -> dict[str, Any]:
    """Return what JAX and Theano call, and are given, alike, and the lengths of a state's axes."""
    return {
        **{name: getattr(module, name) for name in _SAME.split()},
        "clip": lambda x: module.clip(x, -1, 1),
        "sort": lambda x: module.sort(x, -1),
        "total": lambda x: x.sum(),
        "sum": lambda x, axis: x.sum(axis, keepdims=True),
        "max": lambda x, axis: x.max(axis, keepdims=True),
        "mean": lambda x, axis: x.mean(axis, keepdims=True),
        "n": shape[-1],
        "leading": shape[:-1],
        "order": np.arange(shape[-1]) * 7 % shape[-1],
        "arange": np.arange(shape[-1]),
    }


def differentiated_by(kind: Kind) -> tuple[int, ...]:
    """Return the places, among the arguments, of what the gradient is by."""
    return (1, 3) if kind.places else (0, 1, 3)


def native(
    kind: Kind, arrays: dict[str, np.ndarray], shape: Shape, gradient: bool
) -> Callable[[], Any]:
    """Compile with Theano as this project gives it."""
    import pytensor.tensor.special

    import theano
    import theano.tensor as T
    import theano.tensor.nnet

    def last_of_loop(step, x, a, states):
        found, _ = theano.scan(
            lambda x, *rest: list(step(x, rest[-1], *rest[:-1])),
            sequences=[x],
            outputs_info=list(states),
            non_sequences=[a],
        )
        return [all_of[-1] for all_of in (found if isinstance(found, list) else [found])]

    library = SimpleNamespace(
        **_alike(T, shape),
        erf=T.erf,
        where=T.switch,
        equal=T.eq,
        sigmoid=T.nnet.sigmoid,
        softplus=T.nnet.softplus,
        softmax=lambda x, axis: pytensor.tensor.special.softmax(x, axis=axis),
        logsumexp=pytensor.tensor.special.logsumexp,
        set_to=lambda x, place, value: T.set_subtensor(x[place], value),
        add_to=lambda x, place, value: T.inc_subtensor(x[place], value),
        last_of_loop=last_of_loop,
    )
    # numbers of Python are of the arrays' type, as in JAX
    with theano.config.change_flags(floatX=arrays["a"].dtype.name, **{"native.quick": False}):
        variables = [
            T.TensorType(one.dtype.name, (None,) * one.ndim)(name) for name, one in arrays.items()
        ]
        found = cost(kind, library, *variables)
        if gradient:
            found = theano.grad(found, [variables[place] for place in differentiated_by(kind)])
        function = theano.function(variables, found)
    given = tuple(arrays.values())
    return lambda: function(*given)


def in_jax(
    kind: Kind,
    arrays: dict[str, np.ndarray],
    shape: Shape,
    gradient: bool,
    from_numpy: bool = False,
) -> Callable[[], Any]:
    """Compile with JAX, whose calls are given its own arrays, or NumPy's."""
    import jax
    import jax.numpy as jnp

    def last_of_loop(step, x, a, states):
        return jax.lax.scan(lambda states, x: (step(x, a, *states), None), states, x)[0]

    library = SimpleNamespace(
        **_alike(jnp, shape),
        erf=jax.scipy.special.erf,
        where=jnp.where,
        equal=jnp.equal,
        sigmoid=jax.nn.sigmoid,
        softplus=jax.nn.softplus,
        softmax=jax.nn.softmax,
        logsumexp=jax.scipy.special.logsumexp,
        set_to=lambda x, place, value: x.at[place].set(value),
        add_to=lambda x, place, value: x.at[place].add(value),
        last_of_loop=last_of_loop,
    )
    value = partial(cost, kind, library)
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        own = [jax.device_put(one) for one in arrays.values()]
        wanted = jax.grad(value, differentiated_by(kind)) if gradient else value
        # its calls need no setting any more
        function = jax.jit(wanted).lower(*own).compile()
        # NumPy's float64 are taken as they are only where this is set
        jax.config.update("jax_enable_x64", from_numpy)
    given = tuple(arrays.values()) if from_numpy else own
    return lambda: jax.block_until_ready(function(*given))


ENGINES: dict[str, Engine] = {
    "native": native,
    "jax": in_jax,
    "jax_from_numpy": partial(in_jax, from_numpy=True),
}


def summary(found: Any) -> list[float]:
    """Return, of each array of a result, the mean size and a mean with its own weights for each place."""
    arrays = found if isinstance(found, (list, tuple)) else [found]
    summed = []
    for one in arrays:
        flat = np.asarray(one, "float64").ravel()
        summed += [np.abs(flat).mean(), (flat * np.cos(np.arange(flat.size))).mean()]
    return [float(number) for number in summed]
