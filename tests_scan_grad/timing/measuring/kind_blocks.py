"""A kind of step by one library in its own process, where no other library's threads wait."""

from __future__ import annotations

import json
import sys
from typing import Any

from tests_scan_grad.timing.measuring.product_blocks import seconds_of
from tests_scan_grad.timing.measuring.rounds import answer_of_process
from tests_scan_grad.timing.programs.kind_libraries import ENGINES, summary
from tests_scan_grad.timing.programs.kinds_of_steps import KINDS

# of each size: the numbers' type and the steps
SIZES = {"small": ("float64", 1000), "large": ("float32", 100)}
# loops of two threads vary much where other work has the processors
SAMPLES = 25
# a quick run has so many times fewer steps
QUICK = 20


def block(engine: str, name: str, quick: bool) -> dict[str, dict[str, Any]]:
    """Return of both sizes, and of value and gradient, the seconds and a summary of the result."""
    kind, found = KINDS[name], {}
    for size, (dtype, steps) in SIZES.items():
        shape = getattr(kind, size)
        arrays = kind.arrays(shape, steps // QUICK if quick else steps, dtype)
        for gradient in (False, True):
            call = ENGINES[engine](kind, arrays, shape, gradient)
            found[f"{size}, gradient" if gradient else size] = {
                "summary": summary(call()),
                "seconds": seconds_of(call, 1 if quick else SAMPLES),
            }
    return found


def block_in_process(engine: str, name: str, quick: bool) -> dict[str, Any]:
    """Return what `block` finds in its own process."""
    asked = {"engine": engine, "name": name, "quick": quick}
    return answer_of_process(__name__, asked, 2, f"{name} by {engine}")


if __name__ == "__main__":
    print(json.dumps(block(**json.loads(sys.argv[1]))))
