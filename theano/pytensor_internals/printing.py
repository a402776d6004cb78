"""Internals of how PyTensor prints graphs."""
# ruff: noqa: F401 -- this file re-exports

from pytensor import printing


def import_pydot() -> None:
    """Raise ImportError unless graphs can be drawn."""
    printing._try_pydot_import()
