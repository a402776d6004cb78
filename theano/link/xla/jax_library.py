"""JAX, which is optional: imported when the engine is first used, never with ``theano``."""

from __future__ import annotations

import contextlib
import importlib
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


@contextlib.contextmanager
def settings_kept() -> Iterator[None]:
    """Undo what importing a module changes in JAX's global settings."""
    jax = require_jax()
    before = jax.config.jax_enable_x64
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)
