"""Linkers, which turn a graph into something that runs, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.link.basic import (
    Container,
    Linker,
    LocalLinker,
    PerformLinker,
    WrapLinker,
    WrapLinkerMany,
)
from pytensor.link.c.basic import CLinker, DualLinker, OpWiseCLinker
from pytensor.link.utils import gc_helper, map_storage, raise_with_op, streamline
