"""Mapping devices to contexts, as the flags `device`, `contexts` and `init_gpu_device` ask."""

import logging
import os
import sys
from collections.abc import Hashable

import numpy as np

from theano.configdefaults import OLD_LINKERS, config
from theano.gpuarray.contexts import Context, reg_context
from theano.link.xla.device.names import find_device

__all__ = ["init_dev", "start_from_flags", "use"]

_MIB = 1024 * 1024
_logger = logging.getLogger("theano.gpuarray")

# The part of a device's memory that is not given out in one piece
_KEPT_FREE = 0.05

devices: dict[str, Context] = {}


def init_dev(dev: str, name: Hashable = None, preallocate: float | None = None) -> None:
    """Map a device to a context.

    Parameters
    ----------
    dev : str
        The device: 'cuda', 'cuda1', 'xla:cpu'.
    name : str, optional
        The context's name; None is the default context.
    preallocate : float, optional
        Memory to take from a GPU at once: up to 1 a part of it, above 1 MiB, below 0 no memory
        is kept for later use; by default the flag `gpuarray.preallocate`.

    Raises
    ------
    ValueError
        When there is no device of such a name, or the context's name is taken.
    RuntimeError
        When this machine has no such device, or not that much memory.
    ImportError
        When JAX is not installed.
    """
    if preallocate is None:
        preallocate = config.gpuarray.preallocate
    if dev not in devices:
        _choose_allocator(preallocate)
        devices[dev] = Context(dev, find_device(dev))
        if preallocate > 0:
            _preallocate(devices[dev], preallocate)
    context = devices[dev]
    reg_context(name, context)
    _report(f"Mapped name {name} to device {dev}: {context.devname} ({context.unique_id})")


# Theano kept the devices in use there.
init_dev.devmap = devices  # type: ignore[attr-defined]


def _choose_allocator(preallocate: float) -> None:
    """Have JAX take memory when it is needed, as Theano did; it reads this once, at its start."""
    if preallocate < 0:
        os.environ.setdefault("XLA_PYTHON_CLIENT_ALLOCATOR", "platform")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def _preallocate(context: Context, amount: float) -> None:
    """Have JAX take memory and keep it: an array of that size, which is let go at once."""
    if context.device.memory_stats() is None:
        _report(f"Memory of {context.dev} is the host's: nothing is preallocated")
        return
    wanted = min(amount, 1 - _KEPT_FREE) * context.total_gmem if amount <= 1 else amount * _MIB
    if wanted > context.free_gmem:
        raise RuntimeError(
            f"Trying to preallocate {wanted / _MIB:.0f} MiB of memory of {context.dev} while only "
            f"{context.free_gmem / _MIB:.0f} MiB are available"
        )
    # Imported here: `theano` can be used without it.
    import jax.numpy as jnp

    jnp.zeros(int(wanted), np.int8, device=context.device).block_until_ready().delete()
    _report(f"Preallocating {wanted / _MIB:.0f} MiB on {context.dev}")


def _report(message: str) -> None:
    if config.print_active_device:
        print(message, file=sys.stderr)


def use(
    device: str,
    force: bool = False,
    default_to_move_computation_to_gpu: bool = True,
    move_shared_to_gpu: bool = True,
    preallocate: float | None = None,
) -> None:
    """Compute on a device from now on.

    Parameters
    ----------
    device : str
        The device of the default context; empty where it is mapped already or not needed.
    force : bool
        Whether to insist on a device: another name, or one in use already, is an error.
    default_to_move_computation_to_gpu : bool
        Whether functions are compiled by the engine of devices unless they are given another.
    move_shared_to_gpu : bool
        Accepted: that engine keeps the values of shared variables on the device in any case.
    preallocate : float, optional
        As for `init_dev`.

    Raises
    ------
    ValueError, RuntimeError, ImportError
        As for `init_dev`; also when `force` is set and the device is in use already.
    """
    if force and device in devices:
        raise RuntimeError(f"use: the device {device} is in use already")
    if device:
        init_dev(device, preallocate=preallocate)
    if default_to_move_computation_to_gpu and config.linker in ("native", *OLD_LINKERS):
        config.linker = "xla"


def start_from_flags() -> bool:
    """Map the devices that the flags name; returns whether there is one.

    What fails is written to the log, and is an error where the flag `force_device` is set.
    """
    try:
        if config.device != "cpu":
            use(config.device)
        elif config.init_gpu_device:
            init_dev(config.init_gpu_device)
        for part in filter(str.strip, config.contexts.split(";")):
            name, _, device = part.partition("->")
            init_dev(device.strip(), name.strip())
        if config.contexts:
            use("")
    except (ImportError, RuntimeError, ValueError) as error:
        if config.force_device:
            raise
        _logger.error("Could not use the device: %s", error)
    return bool(devices)
