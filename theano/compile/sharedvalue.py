"""Variables whose value lives between calls of the functions that use them."""

from pytensor.compile.sharedvalue import SharedVariable, shared, shared_constructor
from pytensor.link.basic import Container
from pytensor.link.c.type import generic

__all__ = ["Container", "SharedVariable", "generic", "shared", "shared_constructor"]
