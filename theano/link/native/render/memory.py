"""The work memory of a C function: its slots, the pointers into them, and what is packed there.

The slots are a table that `tn_plan` of the runtime reads when a function is called. A long program
has hundreds of sizes: as expressions they took a C compiler an eighth of its time for 16 LSTM layers.
"""

from __future__ import annotations

from theano.link.native.ir.layout import Product, place_of
from theano.link.native.ir.memory_plan import MemoryPlan, Slot
from theano.link.native.ir.partitions import Sharing
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.sizes import BYTES
from theano.link.native.ir.symbolic import Call, Size
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import Step
from theano.link.native.render.c_text import Row, comment
from theano.link.native.render.numbers_in_c import C_TYPES, in_c

# the first and last moment of what has no slot, and still has to fit into memory
_NO_SLOT = (-1, -1)


def plan_lines(plan: MemoryPlan) -> list[str]:
    """C that finds where slots begin and how many `bytes` there are, and refuses too large sizes."""
    refuse = f"if (bytes < 0) return {plan.check};"
    slots = [*plan.slots, *(Slot(size, *_NO_SLOT) for size in plan.others)]
    if not slots:
        return ["const int64_t bytes = 0;", refuse]
    places: dict[Size, int] = {}
    rows = []
    for slot in slots:
        factors = _factors(slot.size)
        which = [places.setdefault(factor, len(places)) for factor in factors]
        numbers = ", ".join(map(str, [slot.first, slot.last, len(which), *which]))
        rows.append(Row(f"{numbers},", " * ".join(map(in_c, factors))))
    count = len(plan.slots)
    return [
        f"const int64_t factors[] = {{{', '.join(map(in_c, places))}}};",
        comment("when it is first and last needed, how many factors its size has, and which"),
        "static const int plan[] = {",
        *rows,
        "};",
        f"int64_t slots[{max(count, 1)}];",
        f"const int64_t bytes = runtime->plan(factors, plan, {len(rows)}, slots, {count});",
        refuse,
    ]


def _factors(size: Size) -> tuple[Size, ...]:
    """Return what a size is the product of."""
    if isinstance(size, Call) and size.function == BYTES:
        return size.operands
    return (size,)


def pointers(lowered: Loop | Segment) -> list[str]:
    """Return the declarations of what lies in work memory."""
    plan, dtypes = lowered.memory, {one.name: one.dtype for one in lowered.rings}
    assert plan is not None
    placed = [(buffer.name, buffer.dtype, slot) for buffer, slot in plan.buffers.items()]
    packed = zip(lowered.step.packed, plan.packed, strict=True)
    placed += [(f"packed{k}", view.dtype, slot) for k, (view, slot) in enumerate(packed)]
    placed += [(f"{name}_ring", dtypes[name], slot) for name, slot in plan.rings.items()]
    return [_pointer(*one) for one in placed]


def _pointer(name: str, dtype: str, slot: int) -> str:
    kind = C_TYPES[dtype]
    return f"{kind} *const {name} = ({kind} *)(work + slots[{slot}]);"


def packing(step: Step) -> list[str]:
    """Statements that pack invariant operands: each thread its part of the panels."""
    lines = []
    for k, view in enumerate(step.packed):
        place, suffix = place_of(view, step.sizes), SUFFIX[view.dtype]
        row, column = (stride.text for stride in place.strides)
        columns, width = step.sizes.find(view.shape[1]), f"panel_{suffix}"
        first, end = (
            f"tn_share({columns}, {width}, {t}, threads)" for t in ("thread", "thread + 1")
        )
        lines.append(
            f"runtime->pack_panels_{suffix}({place.pointer}, {row}, {column}, {view.shape[0]}, "
            f"{view.shape[1]}, packed{k}, {first} / {width}, {panels(end, width)});"
        )
    return lines


def panels(columns: str, width: str) -> str:
    """Return how many panels of a width so many columns are."""
    return f"({columns} + {width} - 1) / {width}"


def packed_ranges(step: Step, sharing: Sharing) -> dict[int, str]:
    """Return the numbers of those ranges of a thread that are columns of packed operands, with their dtypes."""
    found = {}
    for view in step.packed:
        suffix = SUFFIX[view.dtype]
        number = sharing.ranges.get(
            (step.sizes.find(view.shape[1]), suffix, sharing.rows is not None)
        )
        if number is not None:
            found[number] = suffix
    return found


def elements(step: Step, shape: tuple[Size, ...], times: int = 1) -> str:
    """Return the number of elements of a shape, a number of times."""
    product = Product(times)
    for size in shape:
        product = product.times(step.sizes.find(size))
    return product.text
