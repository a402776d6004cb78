"""Operations by one library in its own process, where no other library's threads wait."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests_scan_grad.timing.measuring.product_blocks import seconds_of
from tests_scan_grad.timing.measuring.rounds import answer_of_process
from tests_scan_grad.timing.programs.operation_libraries import ENGINES
from tests_scan_grad.timing.programs.operations import OPERATIONS, arguments


def block(
    engine: str, names: Sequence[str], elements: int, dtype: str
) -> dict[str, dict[str, Any]]:
    """Return of each operation, and of its gradient, the seconds and how large the result is in the mean."""
    if engine == "torch":
        import torch

        torch.set_num_threads(2)
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        operation = OPERATIONS[name]
        given = arguments(operation, elements, dtype)
        for gradient in (False, True):
            if gradient and (not operation.smooth or engine == "numpy"):
                continue
            call = ENGINES[engine](operation, given, gradient)
            result = np.asarray(call(), "float64")
            found[f"{name}, gradient" if gradient else name] = {
                "size": float(np.abs(result).mean()),
                "seconds": seconds_of(call),
            }
    return found


def block_in_process(
    engine: str, names: Sequence[str], elements: int, dtype: str
) -> dict[str, Any]:
    """Return what `block` finds in its own process."""
    asked = {"engine": engine, "names": list(names), "elements": elements, "dtype": dtype}
    return answer_of_process(__name__, asked, 2, f"operations by {engine}")


if __name__ == "__main__":
    print(json.dumps(block(**json.loads(sys.argv[1]))))
