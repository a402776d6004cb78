"""The nodes that nests of a block have besides those of the native engine."""

from __future__ import annotations

from theano.link.native.ir.loop_nests import Node
from theano.link.native.ir.symbolic import Size
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class ForLanes:
    """A loop over elements that lanes of a block share: none needs what another one did."""

    index: str
    count: Size
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Sync:
    """All lanes of a block wait for one another."""


@dataclass(frozen=True)
class Scratch:
    """The memory of a block for partial results, by name."""

    name: str
    dtype: str


@dataclass(frozen=True)
class BeginChecks:
    """Lanes are about to check: none of them has failed."""


@dataclass(frozen=True)
class EndChecks:
    """All lanes of a block end the step with an exception if one of them has failed."""

    kind: type[Exception]
    text: str
