"""Functions whose calls stay below a budget of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.compile.io import In

from theano.compile.sharedvalue import shared
from theano.scan_module.budget.chosen_steps import (
    ALL_STEPS,
    KEPT,
    LENGTH,
    ChosenSteps,
    mark_chosen,
    with_few_steps,
)

MEBIBYTE = 2**20


def within_budget(specs: list, outputs: Any, mebibytes: float) -> tuple[list, Any]:
    """Return a function's inputs and outputs whose loops keep as many steps as a budget allows.

    Parameters
    ----------
    specs, outputs
        What ``FunctionMaker`` takes: of inputs, updates are results, too.
    mebibytes
        The budget.
    """
    several = isinstance(outputs, list)
    given = outputs if several else [outputs]
    variables = [getattr(output, "variable", output) for output in given]
    kept = shared(np.int64(ALL_STEPS), "steps_kept")
    length = shared(np.int64(1), "steps_of_a_segment")
    updates = [spec.update for spec in specs]
    results, loops = with_few_steps([*variables, *updates], kept, length)
    for output, result in zip(given, results, strict=False):
        if output is not result and hasattr(output, "variable"):
            output.variable = result
    made = [o if hasattr(o, "variable") else r for o, r in zip(given, results, strict=False)]
    for spec, update in zip(specs, results[len(given) :], strict=True):
        spec.update = update
    chosen = [(kept, KEPT), (length, LENGTH)] if loops else [(kept, KEPT)]
    hidden = []
    for variable, what in chosen:
        mark_chosen(variable, ChosenSteps(what, int(mebibytes * MEBIBYTE), loops))
        hidden.append(In(variable=variable, value=variable.container, borrow=True, shared=True))
    return [*specs, *hidden], made if several else made[0]
