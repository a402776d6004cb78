"""The shapes of what a loop without steps stores.

PyTensor's machine gives an output of no rows no columns either: the shape (0, 0) instead of
(0, 3), so that what reads it sees other shapes than the graph was rewritten for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from pytensor import function
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.traversal import ancestors
from pytensor.tensor.basic import constant
from pytensor.tensor.shape import Shape_i
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.functions.compiling import unrewritten
from theano.pytensor_internals.graphs.annotations import only_result
from theano.scan_module.loop.roles import Roles, given_by, steps_given_to
from theano.scan_module.step.loop_shapes import output_shapes


def with_rows_of_no_steps(thunk: Callable, node: Apply, storage_map: dict) -> Any:
    """Return what runs a loop, giving the outputs of a loop without steps their shapes.

    Parameters
    ----------
    thunk
        PyTensor's.
    node
        The loop.
    storage_map
        Where the values of variables are.
    """
    traces = given_by(node).traces
    if all(output.type.ndim < 2 for output in traces):
        return thunk
    # PyTensor lets other variables have these places later on, in the map and not in the thunks
    steps = storage_map[steps_given_to(node)]
    given = [storage_map[v] for v in _inputs(node)]
    put_out = [(output.type, storage_map[output]) for output in traces]
    lengths: list[Callable] = []

    @wraps(thunk)
    def run() -> Any:
        done = thunk()
        if steps[0] == 0:
            if not lengths:
                lengths.append(_lengths_of(node))
            found = iter(lengths[0](*(place[0] for place in given)))
            for kind, place in put_out:
                rows = [int(next(found)) for _ in kind.shape[1:]]
                place[0] = np.empty((0, *rows), dtype=kind.dtype)
        return done

    return run


def _inputs(node: Apply) -> list:
    return [v for v in dict.fromkeys(node.inputs) if not isinstance(v, Constant)]


def _lengths_of(node: Apply) -> Callable:
    """Return a function of the loop's inputs: the lengths of the rows of its traces."""
    # their own variables, since shared ones cannot be given
    fresh = {variable: variable.type() for variable in _inputs(node)}
    node = node.clone_with_new_inputs([fresh.get(v, v) for v in node.inputs])
    shapes = [
        tuple(only_result(Shape_i(axis)(v)) for axis in range(v.type.ndim))
        if isinstance(v.type, TensorType)
        else None
        for v in node.inputs
    ]
    found = Roles.of(node.op).outer_outputs(output_shapes(node, shapes)).traces
    lengths = [length for shape in found for length in shape[1:]]  # type: ignore[index]
    # a length that only a step gives is 0, where there is none
    needs_steps = [any(v.owner is node for v in ancestors([length])) for length in lengths]
    lengths = [
        constant(0) if never else length for never, length in zip(needs_steps, lengths, strict=True)
    ]
    return function([*fresh.values()], lengths, mode=unrewritten("py"), on_unused_input="ignore")
