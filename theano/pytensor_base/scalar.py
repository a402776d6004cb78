"""Insides of PyTensor's numbers."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.scalar.basic import (
    _scalar_py_operators as ScalarOperators,  # the methods and operators of numbers
)
