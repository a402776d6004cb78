"""What Python knows of `shared.inc`, which the runtime and generated C share."""

from __future__ import annotations

import re
from pathlib import Path

_TEXT = (Path(__file__).parent / "shared.inc").read_text()

# the runtime's functions, in the order of the table that generated C is given
RUNTIME_FUNCTIONS = tuple(
    f"tn_{name}" for name in re.findall(r"^    \w+ \(\*(\w+)\)\(", _TEXT, re.MULTILINE)
)

_DEFINITIONS = (line.split() for line in _TEXT.splitlines())
_ANSWERS = {
    words[1].removeprefix("TN_"): int(words[2])
    for words in _DEFINITIONS
    if len(words) == 3 and words[0].endswith("define")
}
# what a C function returns besides 0 and the numbers of conditions and errors
CONVERT, REFUSED, INTERRUPTED, OTHER_ROOM, COMMITTED = (
    int(_ANSWERS[name]) for name in ("CONVERT", "REFUSED", "INTERRUPTED", "OTHER_ROOM", "COMMITTED")
)
