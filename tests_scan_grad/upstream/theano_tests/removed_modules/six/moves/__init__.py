"""Modules and functions that moved between Python 2 and 3."""

from functools import reduce
from io import StringIO

xrange = range

__all__ = ["StringIO", "reduce", "xrange"]
