"""Values of shared variables that an engine keeps on its device, and how others get them.

The engine leaves an array of its device in the variable's storage. Engines that compute with
NumPy's arrays call `bring_home` before they run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from theano.link.background import (
    fetched,
    refuse_without_threads,
    wait_for_background,
    wait_for_value,
)

# Whether any value was left on a device: programs that use none need not look.
_in_use = False


def keep(cell: list[Any], value: object) -> None:
    """Put an array of a device into storage."""
    global _in_use
    _in_use = True
    cell[0] = value


def is_on_device(value: object) -> bool:
    """Return whether a value is an array of a device, which JAX made."""
    return hasattr(value, "addressable_shards")


def on_host(value: object) -> Any:
    """Return a NumPy array with the elements of one of a device; other values as they are."""
    return np.array(fetched(value)) if is_on_device(value) else value


def copy_on_device(value: Any) -> Any:
    """Another array of the same device: programs may use the memory of the first again."""
    import jax

    refuse_without_threads()
    wait_for_value(value)
    with jax.enable_x64(True):
        return value.copy()


def bring_home(cells: Iterable[list[Any]]) -> None:
    """Replace the arrays of devices in storage by NumPy's."""
    if _in_use:
        wait_for_background()
        for cell in cells:
            cell[0] = on_host(cell[0])


def wait_for(cells: Iterable[list[Any]]) -> None:
    """Wait until the arrays in storage are computed."""
    if _in_use:
        wait_for_background()
        for cell in cells:
            if is_on_device(cell[0]):
                wait_for_value(cell[0])
