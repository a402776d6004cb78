"""The work of a long segment as a C function, which is given all that was found before.

Such a segment is not optimized, and still is most of what the compiler does at the end, when every
core is free: half of it is another compiler's.
"""

from __future__ import annotations

from collections.abc import Iterable

from theano.link.native.ir.prologue import BeginCall, NameChecked, NameNumber
from theano.link.native.lowering.segment import Segment
from theano.link.native.render.c_text import Definition, listed
from theano.link.native.render.repeated_statements import types_of_names
from theano.support.data_classes import dataclass

# what every segment is given, and hands on
_GIVEN = {
    "arrays": "const void *",
    "runtime": "const tn_runtime *",
    "work": "char *",
    "result": "int64_t *",
}
# where work memory is divided
_SLOTS = {"slots": "const int64_t *"}


@dataclass(frozen=True)
class ComputingFunction:
    """A function, and how the segment calls it."""

    definition: Definition
    call: str


def computing_function(
    segment: Segment, has_slots: bool, names: Iterable[str], lines: list[str]
) -> ComputingFunction:
    """Return the function of some lines of a segment, which end with what they return in ``status``.

    Parameters
    ----------
    has_slots
        Whether there is work memory.
    names
        What the lines name, which may be more than the segment has named before, or an expression
        of that.
    lines
        Its body.
    """
    given = _GIVEN | (_SLOTS if has_slots else {})
    types = _types_before(segment)
    named = list(names)
    if not all(name.isidentifier() for name in named):
        # an expression: who knows what it names
        named += types
    needed = [name for name in dict.fromkeys(named) if name in types]
    name = f"{segment.name}_computes"
    kinds = given | {name: types[name] for name in needed}
    parameters = [f"{kind}{parameter}" for parameter, kind in kinds.items()]
    return ComputingFunction(
        Definition(
            listed(f"TN_SHARED TN_ONCE int64_t {name}(", parameters, ")"),
            ["{", *lines, "return status;", "}"],
        ),
        listed(f"{name}(", kinds, ")"),
    )


def _types_before(segment: Segment) -> dict[str, str]:
    """Return the C types of what a segment names before it computes."""
    entries = segment.step.sizes.entries
    named = {e.name for e in entries if isinstance(e, NameNumber | NameChecked)}
    for argument, _ in segment.inputs:
        strides = range(len(argument.shape) if argument.free_strides else 0)
        named |= {argument.name, *(f"{argument.name}_s{d}" for d in strides)}
    types = {name: kind for name, kind in types_of_names(segment).items() if name in named}
    for entry in entries:
        if isinstance(entry, BeginCall):
            types[f"{entry.prefix}_numbers"] = types[f"{entry.prefix}_result"] = "int64_t *"
            types[f"{entry.prefix}_arrays"] = "void **"
    return types
