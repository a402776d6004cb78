"""Insides of how PyTensor prints graphs."""
# ruff: noqa: F401 -- this file re-exports

from pytensor import printing
from pytensor.printing import (
    hex_digest,  # the hash of a text, in sixteens
    var_descriptor,  # a text that is equal for equal graphs of variables
)


def import_pydot() -> None:
    """Raise ImportError unless graphs can be drawn."""
    printing._try_pydot_import()
