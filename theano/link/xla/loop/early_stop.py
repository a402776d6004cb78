"""Loops that stop early: how many rows their results have is known when they have run.

Such a loop runs on the device in buffers of as many rows as it may make. A program of XLA cannot
have arrays of other lengths for other values, so that the program ends with the loop: its results
are cut to their lengths, and what reads them is a separate program.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.scalar.basic import ScalarMinimum
from pytensor.tensor.basic import Alloc, AllocEmpty
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.subtensor import IncSubtensor

from theano.link.xla.context import Ragged
from theano.link.xla.loop.states import Rows
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.loop.roles import Roles, given_by, given_to


def outputs_of_unknown_length(node: Apply) -> list[Variable]:
    """Return the outputs of a node of which compiling does not report how many rows they have."""
    if not isinstance(node.op, Scan) or not Roles.of(node.op).may_stop:
        return []
    roles, given, results = Roles.of(node.op), given_to(node), given_by(node)
    first = roles.mit_mots
    states = zip(given.states[first:], roles.states[first:], strict=True)
    known = [_at_most(_rows_of(buffer), 1 + taps.history) for buffer, taps in states]
    known += [_at_most(length, 1) for length in given.trace_lengths]
    outputs = [*results.states[first:], *results.traces]
    return [output for output, is_known in zip(outputs, known, strict=True) if not is_known]


def _rows_of(buffer: Variable) -> Variable | None:
    """Return the number of rows of a buffer, as PyTensor allocates it."""
    node = buffer.owner
    while node is not None and isinstance(node.op, IncSubtensor):
        node = node.inputs[0].owner
    if node is None or not isinstance(node.op, Alloc | AllocEmpty):
        return None
    return node.inputs[0 if isinstance(node.op, AllocEmpty) else 1]


def _at_most(length: Variable | None, bound: int) -> bool:
    """Return whether a number is known to be no larger, being constant or a minimum with a constant."""
    if length is None:
        return False
    if isinstance(length, Constant):
        return int(length.data) <= bound
    node = length.owner
    if node is None or not isinstance(node.op, Elemwise):
        return False
    return isinstance(node.op.scalar_op, ScalarMinimum) and any(
        _at_most(x, bound) for x in node.inputs
    )


def stopped(storage: object, output: Any, steps: Any) -> Any:
    """Return an output of a loop that stopped after some steps, with the number of its rows."""
    import jax.numpy as jnp

    if not isinstance(storage, Rows) or len(output) <= storage.history + 1:
        return output
    if not storage.is_circular and not storage.has_spare:
        return Ragged(output, steps + storage.history)
    rows = len(output)
    left_out = jnp.where(rows > steps + storage.history, storage.steps - steps, 0)
    return Ragged(output, jnp.maximum(rows - left_out, 0))
