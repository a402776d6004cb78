"""The linkers that run C code, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.link.c.basic import CLinker, DualLinker, OpWiseCLinker
from pytensor.link.c.interface import CLinkerObject
