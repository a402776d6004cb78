"""Python's copy of `shared.inc`, which the runtime and generated C share."""

from __future__ import annotations

import re
from pathlib import Path

_TEXT = (Path(__file__).parent / "shared.inc").read_text(encoding="utf-8")


def _names(group: str) -> list[str]:
    """Return the names in a list ``F(type, name, arguments)`` that is a macro."""
    functions = _TEXT.partition(f"{group}(F")[2].partition("\n\n")[0]
    return re.findall(r"F\([^,()]+, (\w+)", functions)


_IN_BOTH_PRECISIONS = _names("FUNCTIONS_OF_REALS")
# the runtime's functions, in the order of the table that generated C is given
RUNTIME_FUNCTIONS = tuple(
    f"tn_{name}"
    for name in (
        *(f"{name}f32" for name in _IN_BOTH_PRECISIONS),
        *(f"{name}f64" for name in _IN_BOTH_PRECISIONS),
        *_names("FUNCTIONS"),
    )
)

_ANSWERS = {
    name: int(number) for name, number in re.findall(r" TN_(\w+) (-\d+)$", _TEXT, re.MULTILINE)
}
# what a C function returns besides 0 and the numbers of conditions and errors
CONVERT, REFUSED, INTERRUPTED, OTHER_ROOM, COMMITTED = (
    _ANSWERS[name] for name in ("CONVERT", "REFUSED", "INTERRUPTED", "OTHER_ROOM", "COMMITTED")
)
