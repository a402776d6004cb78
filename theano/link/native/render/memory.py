"""The work memory of a C function: where its temporaries and packed operands lie.

All that is computed of sizes afterwards, such as strides and offsets, stays below the sizes of
arrays that were checked here, and needs no check.

Temporaries that are never needed at the same time share a slot, whose size is that of the
largest; the sizes are known when the function is called.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Buffer, View
from theano.link.native.ir.layout import Product, place_of
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.sharing import Sharing
from theano.link.native.ir.sizes import bytes_of
from theano.link.native.ir.symbolic import Call, Size
from theano.link.native.lowering.step import Step
from theano.link.native.render.memory_plan import MemoryPlan
from theano.link.native.render.numbers_in_c import C_TYPES


@dataclass
class _Slot:
    """Memory for buffers whose lives do not overlap."""

    end: int
    sizes: dict[Size, None] = field(default_factory=dict)


class Memory:
    """Plans work memory: ``plan`` says where slots begin, ``pointers`` are what lies there.

    Where threads share the work, a slot is for one buffer: else a thread would have to wait for
    those that still read the buffer before it.
    """

    def __init__(self, step: Step, sharing: Sharing | None = None):
        self.step, self.sharing = step, sharing
        self.plan = MemoryPlan()
        self.pointers: list[str] = []
        self._planned: set[Size] = set()
        self._share_slots()
        self._check_others()
        for k, view in enumerate(step.packed):
            rows, columns = view.shape
            suffix = SUFFIX[view.dtype]
            self.take(f"packed{k}", view.dtype, Call(f"packed_size_{suffix}", (rows, columns)))

    def take(self, name: str, dtype: str, size: Size) -> None:
        """Memory of its own, of so many bytes."""
        self._point(name, dtype, self.plan.slot([size]))

    def _point(self, name: str, dtype: str, offset: str) -> None:
        kind = C_TYPES[dtype]
        self.pointers.append(f"{kind} *const {name} = ({kind} *)(work + {offset});")

    def bytes_of(self, dtype: str, shape: tuple[Size, ...]) -> Size:
        """The bytes of an array; where it is no number, it may be -1."""
        return bytes_of(map(self.step.sizes.find, shape), np.dtype(dtype).itemsize)

    def _share_slots(self) -> None:
        lives = _lives(self.step)
        slots: list[_Slot] = []
        buffers = [b for b in self.step.temporaries if needs_memory(b) and b in lives]
        places: dict[Buffer, _Slot] = {}
        for buffer in sorted(buffers, key=lambda b: lives[b][0]):
            begin, end = lives[buffer]
            size = self.bytes_of(buffer.dtype, buffer.shape)
            free = [slot for slot in slots if slot.end < begin and self.sharing is None]
            fitting = [slot for slot in free if size in slot.sizes]
            if fitting or free:
                slot = (fitting or free)[0]
            else:
                slot = _Slot(0)
                slots.append(slot)
            slot.end = end
            slot.sizes[size] = None
            places[buffer] = slot
        offsets = {id(slot): self.plan.slot(slot.sizes) for slot in slots}
        for buffer, slot in places.items():
            self._point(buffer.name, buffer.dtype, offsets[id(slot)])
        self._planned.update(size for slot in slots for size in slot.sizes)

    def _check_others(self) -> None:
        """Check the shapes of what has no memory of its own: offsets are computed of them, too."""
        for buffer in self.step.temporaries:
            self.must_fit(buffer.dtype, buffer.shape)

    def must_fit(self, dtype: str, shape: tuple[Size, ...]) -> None:
        """Refuse calls for which an array is larger than memory."""
        size = self.bytes_of(dtype, shape)
        if not isinstance(size, int) and size not in self._planned:
            self._planned.add(size)
            self.plan.must_fit(size)

    def refuse(self) -> str:
        """The line that refuses a call with too large sizes."""
        self.step.sizes.checks.append("arrays that memory is large enough for")
        return f"if (bytes < 0) return {len(self.step.sizes.checks)};"

    def packing(self) -> list[str]:
        """Statements that pack invariant operands: each thread its part of the panels."""
        lines = []
        for k, view in enumerate(self.step.packed):
            place, suffix = place_of(view, self.step.sizes), SUFFIX[view.dtype]
            row, column = (stride.text for stride in place.strides)
            first, end = self._panels(view)
            size = self.step.sizes.find(view.shape[1])
            mine = (
                f"{first}, {end}" if self.sharing is None else self._panels_of_thread(size, suffix)
            )
            lines += [
                f"int64_t packed{k}_first = {first};",
                f"int64_t packed{k}_end = {end};",
                f"runtime->pack_panels_{suffix}({place.pointer}, {row}, {column}, "
                f"{view.shape[0]}, {view.shape[1]}, packed{k}, {mine});",
            ]
        return lines

    def panels_anew(self) -> list[str]:
        """Which panels a thread multiplies by, where what it works on has changed."""
        lines = []
        for k, view in enumerate(self.step.packed):
            first, end = self._panels(view)
            lines.append(f"packed{k}_first = {first}, packed{k}_end = {end};")
        return lines

    def _panels(self, view: View) -> tuple[str, str]:
        """Where the panels of a packed operand begin and end that a thread multiplies by."""
        suffix = SUFFIX[view.dtype]
        first, end = "0", str(view.shape[1])
        if self.sharing is not None:
            share = self.sharing.packed_columns(self.step.sizes.find(view.shape[1]), suffix)
            first, end = share.first, share.end
        width = f"panel_{suffix}"
        return f"{first} / {width}", f"({end} + {width} - 1) / {width}"

    @staticmethod
    def _panels_of_thread(columns: Size, suffix: str) -> str:
        """The panels that a thread packs, whatever it multiplies by."""
        width = f"panel_{suffix}"
        first, end = (
            f"tn_share({columns}, {width}, {k}, threads)" for k in ("thread", "thread + 1")
        )
        return f"{first} / {width}, ({end} + {width} - 1) / {width}"


def elements(step: Step, shape: tuple[Size, ...]) -> str:
    """The number of elements of a shape."""
    product = Product(1)
    for size in shape:
        product = product.times(step.sizes.find(size))
    return product.text


def needs_memory(buffer: Buffer) -> bool:
    if buffer.place is not None or buffer.source is not None:
        return False
    return buffer.compute is None or buffer.compute.stored


def _lives(step: Step) -> dict[Buffer, tuple[int, int]]:
    """The first and the last statement that writes or reads each temporary."""
    lives: dict[Buffer, tuple[int, int]] = {}

    def touch(buffer: Buffer, position: int) -> None:
        root = buffer.root()
        begin, end = lives.get(root, (position, position))
        lives[root] = (min(begin, position), max(end, position))

    for position, statement in enumerate(step.statements):
        for view in statement.views():
            touch(view.buffer, position)
        for buffer in statement.results():
            touch(buffer, position)
    return lives
