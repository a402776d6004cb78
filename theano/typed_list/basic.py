"""Operators on lists of values of one type, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.typed_list.basic import (
    Append,
    Count,
    Extend,
    GetItem,
    Index,
    Insert,
    Length,
    MakeList,
    Remove,
    Reverse,
    TypedListConstant,
    TypedListVariable,
    append,
    count,
    extend,
    getitem,
    index_,
    insert,
    length,
    make_list,
    remove,
    reverse,
)
