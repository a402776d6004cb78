"""Theano 1.0's `theano.typed_list`: lists of variables of one type."""
# ruff: noqa: F401, F403 -- this file re-exports

from theano.typed_list import basic, opt, type
from theano.typed_list.basic import *
from theano.typed_list.basic import TypedListConstant, TypedListVariable
from theano.typed_list.type import TypedListType
