"""Where temporaries, packed operands and rings of states lie in a program's work memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Buffer
from theano.link.native.ir.symbolic import Size


@dataclass
class MemoryPlan:
    """Slots of work memory, one after the other, and who has which.

    All that is computed of sizes afterwards, such as strides and offsets, stays below the sizes of
    the arrays that are checked here, and needs no check.

    Attributes
    ----------
    slots
        Of each slot the sizes in bytes that it must be large enough for.
    buffers
        The slots of temporaries; those that are never needed at the same time may have one slot.
    packed
        The slots of the operands that are packed before the loop, in their order.
    rings
        The slots of states of which fewer rows are kept than a step needs, by the argument's name.
    others
        Sizes in bytes of arrays that lie elsewhere, and have to fit into memory as well.
    check
        The number of the condition that all of them fit.
    """

    slots: list[dict[Size, None]] = field(default_factory=list)
    buffers: dict[Buffer, int] = field(default_factory=dict)
    packed: list[int] = field(default_factory=list)
    rings: dict[str, int] = field(default_factory=dict)
    others: dict[Size, None] = field(default_factory=dict)
    check: int = 0

    def add_slot(self, sizes: Iterable[Size]) -> int:
        """Add a slot for the largest of some sizes in bytes; return its number."""
        self.slots.append(dict.fromkeys(sizes))
        return len(self.slots) - 1
