"""Slices and None as types, by Theano 1.0's names."""
# ruff: noqa: F401, F403 -- this file re-exports

from pytensor.tensor.type_other import *
from pytensor.tensor.type_other import MakeSlice, NoneTypeT, SliceConstant, SliceType
