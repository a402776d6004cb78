"""Places of temporaries, packed operands and rings of states in a program's work memory."""

from __future__ import annotations

from dataclasses import field

from theano.link.native.ir.ir import Buffer
from theano.link.native.ir.symbolic import Size
from theano.support.data_classes import dataclass

# a moment that no program has
ALWAYS = 2**31 - 1


@dataclass(frozen=True)
class Slot:
    """Bytes of work memory, and the first and the last moment at which they are needed.

    Moments are those of `moments`: the statements in order, with the parts of blocks of steps.
    """

    size: Size
    first: int
    last: int


@dataclass
class MemoryPlan:
    """Slots of work memory, and who has which.

    Where they begin is found when the function is called, as sizes are known then: slots that are
    not needed at the same time may share memory.

    All that is computed of sizes afterwards, such as strides and offsets, stays below the sizes of
    the arrays that are checked here, and needs no check.

    Attributes
    ----------
    slots
        Their sizes, and when they are needed.
    buffers
        The slots of temporaries.
    packed
        The slots of the operands that are packed before the loop, in their order.
    rings
        The slots of states of which fewer rows are kept than a step needs, by the argument's name.
    others
        Sizes in bytes of arrays that lie elsewhere, and have to fit into memory as well.
    check
        The number of the condition that all of them fit.
    """

    slots: list[Slot] = field(default_factory=list)
    buffers: dict[Buffer, int] = field(default_factory=dict)
    packed: list[int] = field(default_factory=list)
    rings: dict[str, int] = field(default_factory=dict)
    others: dict[Size, None] = field(default_factory=dict)
    check: int = 0

    def add_slot(self, size: Size, first: int = 0, last: int = ALWAYS) -> int:
        """Add a slot of so many bytes for some of the statements; return its number."""
        self.slots.append(Slot(size, first, last))
        return len(self.slots) - 1
