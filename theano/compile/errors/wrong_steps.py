"""In which step of a loop a value first is wrong, found by running the loop once more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph

from theano.compile.errors.failed_operations import FailedOperation, failed_operations
from theano.compile.errors.wrong_values import WrongValueError
from theano.compile.nanguardmode import NanGuardMode


def where_it_began(
    node: Apply, values: Mapping[Variable, Any]
) -> tuple[WrongValueError, Sequence[FailedOperation]] | None:
    """Return the error of NanGuardMode, and the operations that it names, the last of the innermost loop.

    Parameters
    ----------
    node
        A loop that gave a NaN or an infinity.
    values
        Those of its inputs.

    Returns
    -------
    The error and the operations, or None if it gives neither a second time.
    """
    given = [v for v in dict.fromkeys(node.inputs) if not isinstance(v, Constant)]
    own = {old: old.clone() for old in given}
    made = node.clone_with_new_inputs([own.get(v, v) for v in node.inputs])
    graph = FunctionGraph(list(own.values()), made.outputs, clone=False)
    mode = NanGuardMode(nan_is_error=True, inf_is_error=True, big_is_error=False)
    mode.steps().rewrite(graph)
    run, inputs, _ = mode.of_steps().linker.accept(graph).make_thunk()
    for box, old in zip(inputs, given, strict=True):
        box.storage[0] = copy(values[old])
    try:
        run()
    except WrongValueError as error:
        return error, failed_operations(error, graph)
    return None
