"""The peak of memory of calls of a network's training step, in its own process."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import numpy as np

from tests_scan_grad.fresh_process import run_module
from tests_scan_grad.memory.nets import rows, training
from tests_scan_grad.timing.measuring.own_process import peak_of
from theano.scan_module import scan_report

MEBIBYTE = 2**20
# of so many steps the runtime has all that it keeps for products
SOME_STEPS = 400
FEW_STEPS = 2
# what is freed goes back to the system, so that it is not counted again
ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "100000"}


def growth(name: str, steps: int, **options: Any) -> dict[str, Any]:
    """Return what calls with many steps take more than those with few, and what is predicted."""
    return _in_a_process(name=name, steps=steps, options=options)


def _in_a_process(**asked: Any) -> Any:
    done = run_module(__name__, json.dumps(asked), **ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def _found(name: str, steps: int, options: dict[str, Any]) -> dict[str, Any]:
    train, _ = training(name, **options)
    few, many = rows(FEW_STEPS), rows(steps)
    predicted = [scan_report(train, [x]).memory for x in (few, many)]
    training(name)[0](rows(SOME_STEPS))
    train(few)
    costs: list[float] = []
    peak, _ = peak_of(lambda: costs.append(float(train(many))))
    return {
        "measured": peak,
        "predicted": predicted[1].peak - predicted[0].peak,
        "before": predicted[0].peak,
        "cost": costs[0],
    }


def within_budgets(name: str, steps: int, budgets: int) -> list[dict[str, float]]:
    """Return what calls take within several budgets, from all that they need down to the least."""
    return _in_a_process(name=name, steps=steps, budgets=budgets)


def _within(name: str, steps: int, budgets: int) -> list[dict[str, float]]:
    few, many = rows(FEW_STEPS), rows(steps)
    plain, _ = training(name)
    plain(rows(SOME_STEPS))
    most = scan_report(plain, [many]).memory.peak
    least = least_of(training(name, memory_budget=1e-3)[0], many)
    # what this process allocates once, such as what products need of each thread
    training(name, memory_budget=1.02 * least / MEBIBYTE)[0](many)
    found = []
    for budget in np.geomspace(0.9 * most, 1.01 * least, budgets):
        train, _ = training(name, memory_budget=budget / MEBIBYTE)
        train(few)
        before = scan_report(train, [few]).memory.peak
        peak, _ = peak_of(lambda train=train: train(many))
        found.append({"budget": budget, "measured": before + peak, "most": most})
        del train
    return found


def least_of(train: Any, *arguments: Any) -> float:
    """Return the bytes that a function says it takes at least."""
    try:
        train(*arguments)
    except MemoryError as error:
        return float(re.search(r"at least ([\d.]+) MiB", str(error)).group(1)) * MEBIBYTE
    raise AssertionError("the budget was enough")


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(_within(**asked) if "budgets" in asked else _found(**asked)))
