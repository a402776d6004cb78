"""JAX, which is optional: imported when the engine is first used, never with ``theano``."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

INSTALL = "pip install 'theano-scan[gpu]'"


def require_jax() -> Any:
    """Return the module ``jax``.

    Raises
    ------
    ImportError
        When it is not installed; the message says what to install.
    """
    try:
        return importlib.import_module("jax")
    except ModuleNotFoundError as error:
        if error.name not in ("jax", "jaxlib"):
            raise
        raise ImportError(
            f"the XLA engine (mode='XLA', device=cuda or device=xla:cpu) needs JAX: {INSTALL}"
        ) from error


@contextlib.contextmanager
def declared_precision(tf32: bool = False) -> Iterator[None]:
    """Let JAX compute 64-bit types as such and products in full, here and now only."""
    jax = require_jax()
    precision = "tensorfloat32" if tf32 else "highest"
    with jax.enable_x64(True), jax.default_matmul_precision(precision):
        yield


def import_keeping_settings(name: str) -> Any:
    """Import a module, and undo what that changes in JAX's global settings.

    The import runs in its own thread, where the settings are the global ones whatever the
    caller has set for itself.
    """
    if name not in sys.modules:
        worker = threading.Thread(target=_import_and_restore, args=(name,))
        worker.start()
        worker.join()
    return importlib.import_module(name)


def _import_and_restore(name: str) -> None:
    jax = require_jax()
    before = jax.config.jax_enable_x64
    try:
        importlib.import_module(name)
    finally:
        jax.config.update("jax_enable_x64", before)
