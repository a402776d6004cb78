"""Connections between the inputs of a loop, and of its step, and its results.

The inputs that a value is connected with are the bits of one number, so that what follows from many
values is found by as many operations as there are values, and not as many as there are pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count

from pytensor.graph.basic import Variable
from pytensor.graph.traversal import io_toposort

from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.loop.roles import Roles

Pattern = list[list[bool]]


def connection_pattern(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Pattern:
    """For each input of a graph, whether each output is connected with it."""
    return _as_pattern(_connected(inputs, outputs), len(inputs))


def connection_pattern_of_loop(op: Scan) -> Pattern:
    """Return the same of a loop, whose states carry what they are connected with to the next step."""
    roles = Roles.of(op)
    connected = _connected(op.inner_inputs, op.inner_outputs)
    outer_of = _outer_bits(roles)
    computed = roles.inner_outputs([_translated(bits, outer_of) for bits in connected])
    given = roles.outer_inputs(count())
    found = [*map(_any_of, computed.states), *computed.traces, *computed.untraced]
    # the position of the input that each output goes on from; None where it is read by no step
    begun = [*given.states, *[None] * roles.traces, *given.untraced]
    carried = [(1 << place, k) for k, place in enumerate(begun) if place is not None]
    for bit, state in carried:
        # the buffer begins with what was given, whether or not a step reads it
        found[state] |= bit
    changes = True
    while changes:
        changes = False
        for k, bits in enumerate(found):
            for bit, state in carried:
                if found[k] & bit:
                    found[k] |= found[state]
            changes |= found[k] != bits
    return _as_pattern(found, len(given.in_order()))


def _connected(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> list[int]:
    """For each output of a graph, the inputs that it is connected with, as bits."""
    known = {variable: 1 << k for k, variable in enumerate(inputs)}
    for node in io_toposort(inputs, outputs):
        of_node = getattr(node.op, "connection_pattern", None)
        pattern = None if of_node is None else of_node(node)
        for k, output in enumerate(node.outputs):
            known[output] = _any_of(
                known.get(variable, 0)
                for position, variable in enumerate(node.inputs)
                if pattern is None or pattern[position][k]
            )
    return [known.get(output, 0) for output in outputs]


def _outer_bits(roles: Roles) -> list[int]:
    """For each input of the step, the input of the loop that it is read of, as a bit."""
    given = roles.outer_inputs(1 << k for k in count())
    read = [
        *given.sequences,
        *(bit for bit, taps in zip(given.states, roles.states, strict=True) for _ in taps.reads),
    ]
    return [*read, *given.untraced, *given.invariants]


def _translated(bits: int, meaning: Sequence[int]) -> int:
    return _any_of(other for k, other in enumerate(meaning) if bits >> k & 1)


def _any_of(numbers: Iterable[int]) -> int:
    found = 0
    for bits in numbers:
        found |= bits
    return found


def _as_pattern(found: Sequence[int], inputs: int) -> Pattern:
    return [[bool(bits >> k & 1) for bits in found] for k in range(inputs)]
