"""LSTM layers on the engine of devices: by cuDNN on a GPU, by loops elsewhere.

JAX's functions for cuDNN take arrays whose first dimension is the batch, and the parameters in the
layout of `theano.gpuarray.dnn.layout`, which is cuDNN's. They do not tell XLA in which order the
kernels read dimensions, so it is declared here.
"""

from __future__ import annotations

from typing import Any

from pytensor.tensor import TensorLike

from theano.gpuarray.dnn.lstm_layers import LSTMGradient, LSTMLayers, Stack
from theano.link.xla.data_parallel.parts import ALL, SUMMAND, CannotSplit, Rows, summed
from theano.link.xla.data_parallel.rules import splits
from theano.link.xla.interpret import interpret
from theano.link.xla.lowering.table import lowers

_BATCH = Rows(1)


@lowers(LSTMLayers)
def forward(op, node, inputs, context):
    if not _steps(inputs):
        return _without_steps(op.stack, *_arrays(inputs))
    if not _has_kernel(inputs, context):
        return interpret(op.fgraph, inputs, context)
    from jax.experimental import rnn

    w, x, h, c = _arrays(inputs)
    settings = _settings(op.stack, x.shape[2], context)
    given = _in_rows(_batch_first(x), h, c)
    results, kept = rnn.lstm_fwd(*given, w, _lengths(x), **settings)
    y, *last = _in_rows(*results)
    return [_batch_first(y), *last, kept[-1]]


@lowers(LSTMGradient)
def backward(op, node, inputs, context):
    if not _steps(inputs):
        return _gradient_without_steps(*_arrays(inputs))
    if not _has_kernel(inputs, context):
        return interpret(op.fgraph, inputs, context)
    from jax.experimental import rnn

    w, x, h, c, y, reserve, dy, *d_last = _arrays(inputs)
    given = _in_rows(_batch_first(x), h, c)
    (y,) = _in_rows(_batch_first(y))
    directions = _in_rows(_batch_first(dy), *d_last)
    settings = _settings(op.stack, x.shape[2], context)
    kept = (*given, w, _lengths(x), y, reserve)
    *found, dw, _ = rnn.lstm_bwd(*settings.values(), residuals=kept, gradients=tuple(directions))
    dx, dh, dc = _in_rows(*found)
    return [dw, _batch_first(dx), dh, dc]


def _steps(inputs: list[Any]) -> int:
    return inputs[1].shape[0]


def _without_steps(stack: Stack, w: Any, x: Any, h: TensorLike, c: Any) -> list[Any]:
    """No outputs, and the first states as the last: loops read these from traces, of no rows."""
    import jax.numpy as jnp

    width = stack.hidden_size * (2 if stack.bidirectional else 1)
    return [jnp.zeros((0, x.shape[1], width), x.dtype), h, c, w[:0]]


def _gradient_without_steps(w: Any, x: TensorLike, *others: object) -> list[Any]:
    import jax.numpy as jnp

    *_, dh, dc = others
    return [jnp.zeros_like(w), x, dh, dc]


def _has_kernel(inputs: list[Any], context: Any) -> bool:
    # cuDNN refuses batches without rows
    return context.platform == "gpu" and 0 not in inputs[1].shape


def _arrays(inputs: list[Any]) -> list[Any]:
    import jax.numpy as jnp

    return [jnp.asarray(value) for value in inputs]


def _settings(stack: Stack, width: int, context: Any) -> dict[str, Any]:
    """Return the arguments of JAX's functions after the arrays, in their order."""
    from jax.lax import Precision

    full = context.precision is Precision.HIGHEST
    return {
        "input_size": width,
        "hidden_size": stack.hidden_size,
        "num_layers": stack.num_layers,
        "dropout": 0.0,
        "bidirectional": stack.bidirectional,
        # cuDNN has products with TF32 or without; JAX refuses its default for them
        "precision": Precision.HIGHEST if full else Precision.HIGH,
    }


def _batch_first(array: Any) -> Any:
    """Exchange steps and batch; twice is nothing."""
    return array.swapaxes(0, 1)


def _in_rows(*arrays: Any) -> list[Any]:
    """Return the arrays as the kernels take and give them: the last dimension side by side in memory.

    A call that says nothing of it gets what XLA finds cheapest, a transposed one as it lies.
    """
    from jax.experimental.layout import Layout, with_layout_constraint

    return [with_layout_constraint(a, Layout(tuple(range(a.ndim)))) for a in arrays]


def _lengths(x: Any) -> Any:
    """Return the length of each sequence of a batch: all steps."""
    import jax.numpy as jnp

    return jnp.full(x.shape[1], x.shape[0], "int32")


@splits(LSTMLayers)
def parts_of_layers(op, node, parts, sizes):
    _check_parts(parts)
    # each device's own, for its own gradient
    reserve = ALL
    return [_BATCH, _BATCH, _BATCH, reserve]


@splits(LSTMGradient)
def parts_of_gradient(op, node, parts, sizes):
    _check_parts([*parts[:5], *parts[6:]])
    return [SUMMAND, _BATCH, _BATCH, _BATCH]


def _check_parts(parts: list[Any]) -> None:
    if SUMMAND in parts:
        raise summed(parts)
    w, *arrays = parts
    if w is not ALL or any(part != _BATCH for part in arrays):
        raise CannotSplit("its input and states do not all have the batch in dimension 1")
