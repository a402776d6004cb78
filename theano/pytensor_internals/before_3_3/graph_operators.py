"""Operators of graphs, to which PyTensor 3.0 adds the shared variables that they read."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.compile.builders import OpFromGraph
