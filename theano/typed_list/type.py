"""The type of a list of values of one type."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.typed_list.type import TypedListType
