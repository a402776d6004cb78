"""How work memory is divided, as a table that `tn_plan` of the runtime reads when a function is called.

A long program has hundreds of sizes: as expressions they took a C compiler an eighth of its time for
16 LSTM layers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from theano.data_classes import dataclass
from theano.link.native.ir.sizes import BYTES
from theano.link.native.ir.symbolic import Call, Size
from theano.link.native.render.c_text import Row, comment
from theano.link.native.render.numbers_in_c import in_c

# the row of a size that no slot has to be large enough for, and that still has to fit into memory
_NO_SLOT = -1


@dataclass
class MemoryPlan:
    """The slots of a C function's work memory, and sizes that are checked with theirs.

    Attributes
    ----------
    slots
        How many there are.
    """

    slots: int = 0
    _rows: dict[tuple[int, tuple[Size, ...]], None] = field(default_factory=dict)

    def slot(self, sizes: Iterable[Size]) -> str:
        """A slot for the largest of some sizes in bytes, and where it begins, in C."""
        slot, self.slots = self.slots, self.slots + 1
        self._rows |= {(slot, _factors(size)): None for size in sizes}
        return f"slots[{slot}]"

    def must_fit(self, size: Size) -> None:
        """Refuse calls for which so many bytes are more than memory can have."""
        self._rows[_NO_SLOT, _factors(size)] = None

    def lines(self) -> list[str]:
        """C that finds where slots begin, and how many `bytes` there are: -1 where one cannot be."""
        if not self._rows:
            return ["const int64_t bytes = 0;"]
        places: dict[Size, int] = {}
        rows = []
        for slot, factors in self._rows:
            which = [places.setdefault(factor, len(places)) for factor in factors]
            numbers = ", ".join(map(str, [slot, len(which), *which]))
            rows.append(Row(f"{numbers},", " * ".join(map(in_c, factors))))
        return [
            f"const int64_t factors[] = {{{', '.join(map(in_c, places))}}};",
            comment("the slot, how many factors its size has, and which"),
            "static const int plan[] = {",
            *rows,
            "};",
            f"int64_t slots[{max(self.slots, 1)}];",
            f"const int64_t bytes = runtime->plan(factors, plan, {len(rows)}, slots, {self.slots});",
        ]


def _factors(size: Size) -> tuple[Size, ...]:
    """What a size is the product of."""
    if isinstance(size, Call) and size.function == BYTES:
        return size.operands
    return (size,)
