"""PyTensor's table of functions in JAX; loaded when it is first used, as it needs JAX."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.link.jax.dispatch import (
    jax_funcify,  # (operator, node=...) -> a function of JAX's arrays
)
