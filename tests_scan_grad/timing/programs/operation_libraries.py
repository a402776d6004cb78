"""Operations of `operations.py` in each library, and its way to compile and differentiate them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests_scan_grad.timing.programs.operations import Operation, cost

# Takes an operation, its arguments, and whether its gradient is wanted; returns what computes it once.
Engine = Callable[[Operation, list[np.ndarray], bool], Callable[[], Any]]

_SAME = (
    "exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan sinh cosh tanh floor sign abs maximum minimum"
).split()
_INVERSE = "arcsin arccos arctan arcsinh arccosh arctanh arctan2".split()


def _of(module: Any, names: list[str]) -> dict[str, Any]:
    return {name: getattr(module, name) for name in names}


# what arrays of NumPy, of JAX and Theano's variables do alike
_OF_ARRAYS: dict[str, Any] = {
    "sum": lambda x, axis: x.sum(axis, keepdims=True),
    "max": lambda x, axis: x.max(axis, keepdims=True),
    "mean": lambda x, axis: x.mean(axis, keepdims=True),
    "flip": lambda x: x[:, ::-1],
}


def _like_numpy(module: Any) -> dict[str, Any]:
    """Return what NumPy's functions are called, and are given, in Theano and JAX, too."""
    return {
        "clip": lambda x: module.clip(x, -1, 1),
        "argmax": lambda x: module.argmax(x, 1),
        "tile": lambda x: module.tile(x, (2, 2)),
        "repeat": lambda x: module.repeat(x, 2, axis=1),
        "roll": lambda x: module.roll(x, 3, axis=1),
        "take": lambda x: x[module.arange(x.shape[0]) * 7 % x.shape[0]],
        "sort": lambda x: module.sort(x, 1),
        "concatenate": lambda parts, axis: module.concatenate(parts, axis=axis),
        "stack": lambda parts, axis: module.stack(parts, axis=axis),
        **_of(module, ["cumsum", "tril"]),
        **_OF_ARRAYS,
    }


def native(operation: Operation, given: list[np.ndarray], gradient: bool) -> Callable[[], Any]:
    """Compile with Theano as this project gives it."""
    import pytensor.tensor.special

    import theano
    import theano.tensor as T
    import theano.tensor.nnet

    library = SimpleNamespace(
        **_like_numpy(T),
        **_of(T, [*_SAME, *_INVERSE]),
        **_of(T, "erf erfc erfinv gammaln psi i0".split()),
        sigmoid=T.nnet.sigmoid,
        softplus=T.nnet.softplus,
        rint=lambda x: T.round(x, mode="half_to_even"),
        power=T.pow,
        remainder=lambda x, y: x % y,
        floor_divide=lambda x, y: x // y,
        where=T.switch,
        total=lambda x: x.sum(),
        softmax=lambda x, axis: pytensor.tensor.special.softmax(x, axis=axis),
        log_softmax=lambda x, axis: pytensor.tensor.special.log_softmax(x, axis=axis),
        argsort=lambda x: T.argsort(x, 1),
    )
    theano.config.native.quick = False
    x, y = (
        T.TensorType(one.dtype.name, (None, None))(name)
        for one, name in zip(given, "xy", strict=True)
    )
    # numbers of Python are of the arrays' type, as in the other libraries
    with theano.config.change_flags(floatX=given[0].dtype.name):
        if gradient:
            result = theano.grad(cost(library, operation, x, y), x)
        else:
            result = operation.build(library, x, y)
        function = theano.function([x, y], result, on_unused_input="ignore")
    return lambda: function(*given)


def in_jax(operation: Operation, given: list[np.ndarray], gradient: bool) -> Callable[[], Any]:
    """Compile with JAX."""
    import jax
    import jax.numpy as jnp
    from jax.scipy import special

    library = SimpleNamespace(
        **_like_numpy(jnp),
        **_of(jnp, [*_SAME, *_INVERSE, "power", "remainder", "floor_divide", "where"]),
        **_of(jnp, ["rint"]),
        **_of(special, ["erf", "erfc", "erfinv", "gammaln", "i0"]),
        psi=special.digamma,
        sigmoid=jax.nn.sigmoid,
        softplus=jax.nn.softplus,
        total=jnp.sum,
        softmax=jax.nn.softmax,
        log_softmax=jax.nn.log_softmax,
        argsort=lambda x: jnp.argsort(x, 1),
    )

    def value(x, y):
        return operation.build(library, x, y)

    wanted = jax.grad(lambda x, y: cost(library, operation, x, y)) if gradient else value
    with jax.enable_x64(True):
        own = [jax.device_put(one) for one in given]
        # its calls need no setting any more
        function = jax.jit(wanted).lower(*own).compile()
    return lambda: jax.block_until_ready(function(*own))


def in_torch(operation: Operation, given: list[np.ndarray], gradient: bool) -> Callable[[], Any]:
    """Run with PyTorch, eagerly."""
    import torch

    library = SimpleNamespace(
        **_of(torch, [*_SAME, *_INVERSE, "remainder", "floor_divide", "where", "tril", "sigmoid"]),
        **_of(torch, ["stack", "i0", "softmax", "log_softmax", "erf", "erfc", "erfinv"]),
        power=torch.pow,
        gammaln=torch.lgamma,
        psi=torch.digamma,
        rint=torch.round,
        softplus=torch.nn.functional.softplus,
        clip=lambda x: torch.clip(x, -1, 1),
        total=torch.sum,
        sum=lambda x, axis: x.sum(axis, keepdim=True),
        max=lambda x, axis: x.amax(axis, keepdim=True),
        mean=lambda x, axis: x.mean(axis, keepdim=True),
        argmax=lambda x: torch.argmax(x, 1),
        concatenate=torch.cat,
        tile=lambda x: torch.tile(x, (2, 2)),
        repeat=lambda x: torch.repeat_interleave(x, 2, dim=1),
        roll=lambda x: torch.roll(x, 3, 1),
        flip=lambda x: torch.flip(x, [1]),
        take=lambda x: x[torch.arange(x.shape[0]) * 7 % x.shape[0]],
        sort=lambda x: torch.sort(x, 1)[0],
        argsort=lambda x: torch.argsort(x, 1),
        cumsum=torch.cumsum,
    )
    x, y = map(torch.from_numpy, given)
    if not gradient:
        return lambda: operation.build(library, x, y)
    x.requires_grad_()
    return lambda: torch.autograd.grad(cost(library, operation, x, y), x)[0]


def in_numpy(operation: Operation, given: list[np.ndarray], gradient: bool) -> Callable[[], Any]:
    """Compute with NumPy and SciPy, which have no gradients."""
    from scipy import special

    def softmax(x, axis):
        raised = np.exp(x - x.max(axis, keepdims=True))
        return raised / raised.sum(axis, keepdims=True)

    library = SimpleNamespace(
        **_like_numpy(np),
        **_of(np, [*_SAME, *_INVERSE, "power", "remainder", "floor_divide", "where"]),
        **_of(np, ["rint"]),
        **_of(special, ["erf", "erfc", "erfinv", "gammaln", "psi", "i0"]),
        sigmoid=special.expit,
        softplus=lambda x: np.logaddexp(x, 0),
        total=np.sum,
        softmax=softmax,
        log_softmax=special.log_softmax,
        argsort=lambda x: np.argsort(x, 1, kind="stable"),
    )
    if gradient:
        raise ValueError("NumPy has no gradients")
    x, y = given
    return lambda: operation.build(library, x, y)


ENGINES: dict[str, Engine] = {"native": native, "torch": in_torch, "jax": in_jax, "numpy": in_numpy}
