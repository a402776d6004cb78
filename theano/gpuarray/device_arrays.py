"""Arrays that a device of JAX holds."""

from typing import Any

from theano.link.background import refuse_without_threads


def on_device(value: object, device: object) -> Any:
    """Return an array, of its own dtype, on a device of JAX."""
    # Imported here: `theano` can be used without it.
    import jax

    with jax.enable_x64(True):
        refuse_without_threads()
        return jax.device_put(value, device)
