"""The devices of JAX by the names that programs give them."""

from __future__ import annotations

import re
from typing import Any

from theano.link.xla.jax_library import INSTALL, require_jax

# The start of a name -> the platforms of JAX that it may mean
_PLATFORMS = {
    "cuda": ("cuda",),
    "gpu": ("cuda", "rocm"),
    "xla:gpu": ("cuda", "rocm"),
    "xla:cpu": ("cpu",),
}
_NAME = re.compile(r"(cuda|gpu|xla:gpu|xla:cpu)(\d*)")

# How the CPU becomes several devices, for tests
SEVERAL_OF_THE_CPU = (
    "for two of the CPU, set the environment variable "
    "XLA_FLAGS=--xla_force_host_platform_device_count=2 before JAX is first used"
)


def find_device(name: str) -> Any:
    """Return the device of JAX that a name stands for; without a number the first one.

    Parameters
    ----------
    name : str
        ``cuda``, ``gpu``, ``xla:gpu`` or ``xla:cpu``, with a number where there are several.

    Returns
    -------
    jax.Device

    Raises
    ------
    ValueError
        When there is no device of such a name.
    RuntimeError
        When this machine has no such device.
    ImportError
        When JAX is not installed.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(
            f"device {name!r}: the devices are cuda, gpu, xla:gpu and xla:cpu (the CPU, through the "
            "engine of the GPU), with a number where there are several, such as cuda1"
        )
    kind, number = match.group(1), int(match.group(2) or 0)
    devices = _devices_of(_PLATFORMS[kind])
    if not devices:
        raise RuntimeError(
            f"device {name!r}: JAX sees no GPU here. Install the GPU's JAX ({INSTALL}), or use "
            "xla:cpu, the same engine on the CPU"
        )
    if number >= len(devices):
        there = f"{kind}0 to {kind}{len(devices) - 1}" if len(devices) > 1 else f"{kind}0"
        hint = f"; {SEVERAL_OF_THE_CPU}" if kind == "xla:cpu" else ""
        raise RuntimeError(f"device {name!r}: this machine has {there} only{hint}")
    return devices[number]


def _devices_of(platforms: tuple[str, ...]) -> list[Any]:
    jax = require_jax()
    for platform in platforms:
        try:
            return jax.local_devices(backend=platform)
        except RuntimeError:
            # JAX's way to say that it has no such platform
            continue
    return []
