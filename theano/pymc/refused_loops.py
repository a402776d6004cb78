"""Loops of a model whose density would be wrong without a word: they are refused."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors, apply_ancestors

from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.tensor import RandomType
from theano.scan_module.loop.roles import Roles, given_by
from theano.source_locations.lines import users_line


def refuse_loops(model: Any) -> None:
    """Raise an error for a loop of a model that PyMC takes for another one.

    Raises
    ------
    ValueError
        With the loop's line and what to write.
    """
    _refuse_captured(model)
    for variable in model.basic_RVs:
        _refuse_skipped_taps(variable)


def _refuse_skipped_taps(variable: Variable) -> None:
    """Raise an error for a variable that is the trace of a loop of which PyMC pairs the wrong rows.

    It takes for the i-th tap, in rising order with 0, the rows from ``-taps[i]`` on; these are its
    rows only where taps lie as far from their first as from their last
    (``pymc/logprob/scan.py``, ``convert_outer_out_to_in``).
    """
    graph = getattr(variable.owner.op, "fgraph", None) if variable.owner else None
    if graph is None:
        return
    for trace in graph.outputs:
        while trace.owner and not isinstance(trace.owner.op, Scan) and trace.owner.inputs:
            trace = trace.owner.inputs[0]
        if trace.owner is None or not isinstance(trace.owner.op, Scan):
            continue
        loop = trace.owner
        read = dict(zip(given_by(loop).states, Roles.of(loop.op).states, strict=True)).get(trace)
        taps = (*sorted(read.reads), 0) if read is not None else ()
        if any(a + b != taps[0] for a, b in zip(taps, reversed(taps), strict=True)):
            raise ValueError(_of_taps(variable, loop, taps[:-1]))


def _of_taps(variable: Variable, loop: Apply, taps: tuple[int, ...]) -> str:
    return (
        f"PyMC derives a wrong density for {variable.name}, the trace of a scan{_at(loop)} with the"
        f" taps {[*taps]}. Read all rows between, and leave out what is not needed: taps="
        f"{[*range(taps[0], 0)]}"
    )


def _at(loop: Apply) -> str:
    line = users_line(loop)
    return f" ({line})" if line else ""


def _refuse_captured(model: Any) -> None:
    """Raise an error for a loop whose step draws a variable of the model again, in each iteration.

    PyMC puts values in place of random variables in the model's graph, not in graphs of steps.
    There, a variable is known by its generator, which the loop then reads.

    Raises
    ------
    ValueError
        With the names of the variables and the loop's line.
    """
    variables: dict[Variable, Variable] = {
        generator: variable
        for variable in model.basic_RVs
        if variable.owner is not None and not isinstance(variable.owner.op, Scan)
        for generator in variable.owner.inputs
        if isinstance(generator.type, RandomType)
    }
    values = [*model.basic_RVs, *model.potentials, *model.deterministics]
    for loop in apply_ancestors(values):
        if isinstance(loop.op, Scan):
            captured = [variables[v] for v in loop.inputs if v in variables]
            if captured:
                raise ValueError(_message(loop, captured))


def _message(loop: Apply, captured: list[Variable]) -> str:
    # a variable that another one is drawn from comes with it
    used = [
        one
        for one in captured
        if not any(one in ancestors([other]) for other in captured if other is not one)
    ]
    names = ", ".join(str(variable.name) for variable in used)
    return (
        f"the step of a scan{_at(loop)} uses {names} of the model without being"
        " given it, and would draw it again. Pass it to the step: scan(step, ...,"
        f" non_sequences=[{names}])"
    )
