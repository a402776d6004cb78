"""Internals of how PyTensor prints graphs."""

from pytensor import printing


def import_pydot() -> None:
    """Raise ImportError unless graphs can be drawn."""
    printing._try_pydot_import()
