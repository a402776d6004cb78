"""Fourier transforms of real numbers along all dimensions but the first, and back."""

from __future__ import annotations

from pytensor.tensor.fft import IRFFTOp, RFFTOp

from theano.link.xla.lowering.table import lowers


@lowers(RFFTOp, concrete=(1,))
def transform(op, node, inputs, context):
    """Real and imaginary parts, for frequencies that are not negative."""
    import jax.numpy as jnp

    x, lengths = inputs[0], tuple(map(int, inputs[1]))
    found = jnp.fft.rfftn(x, lengths, _last_axes(lengths))
    return jnp.stack([found.real, found.imag], axis=-1)


@lowers(IRFFTOp, concrete=(1,))
def transform_back(op, node, inputs, context):
    """Real numbers, which nothing has scaled."""
    import jax.numpy as jnp
    from jax import lax

    x, lengths = inputs[0], tuple(map(int, inputs[1]))
    # norm "forward" leaves the way back as it is
    pairs = lax.complex(x[..., 0], x[..., 1])
    return jnp.fft.irfftn(pairs, lengths, _last_axes(lengths), norm="forward")


def _last_axes(lengths: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(range(-len(lengths), 0))
