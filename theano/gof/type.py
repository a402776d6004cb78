"""Types of variables, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.graph.type import Type as PureType
from pytensor.link.c.interface import CLinkerType
from pytensor.link.c.type import (
    CDataType,
    CDataTypeConstant,
    CEnumType,
    EnumList,
    EnumType,
    Generic,
    generic,
)
from pytensor.link.c.type import CType as Type
